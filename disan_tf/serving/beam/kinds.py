"""The kinds of output: predictions as JSON lines, or vectors as arrays or TFRecords."""

from collections.abc import Sequence
from typing import BinaryIO, Callable, Optional

import numpy as np

from disan_tf.models.base import SENTENCE
from disan_tf.runs.bundle import Bundle
from disan_tf.serving.beam.example_files import to_example, write_examples
from disan_tf.serving.inference.encode import encode_all, make_encoding_step, vector_size
from disan_tf.serving.inference.lines import tokenise
from disan_tf.serving.inference.output_formats import JsonLines, add_prediction
from disan_tf.serving.inference.predict import (
    BATCH_SIZE,
    describe_all,
    make_prediction_step,
    predict_all,
)
from disan_tf.serving.inference.records import columns_of

Answer = Callable[[Sequence[dict]], list[bytes]]  # records -> their rows


class Predictions:
    """JSON lines, as `disan_tf.serving.inference.predict` writes them.

    Args:
      bundle: the model.
      dtype: the dtype of vectors.

    Attributes:
      fields: the sentences that a record must have.
      columns: the names under which a record holds them.
      blank: the row of a line that cannot be read, or None if no row is written for it.

    Raises:
      UserError: the model has no such output.
    """

    blank: Optional[bytes] = None

    def __init__(self, bundle: Bundle, dtype: str):
        self.fields = bundle.model.fields
        self.columns = columns_of(bundle.config, self.fields)

    def make_answer(self, bundle: Bundle) -> Answer:
        """Returns the function that a worker calls with records."""
        step, text_to_ids = make_prediction_step(bundle.model), bundle.traced_text_to_ids()
        form = JsonLines()

        def compute_rows(records):
            sentences = tokenise(records, text_to_ids, self.fields, self.columns)
            rows = predict_all(step, sentences, text_to_ids, BATCH_SIZE)
            return list(map(form.line, records, describe_all(sentences, rows, bundle)))

        return compute_rows

    def write(self, file: BinaryIO, rows: Sequence[bytes]) -> None:
        """Writes a shard."""
        write_lines(file, rows)


class VectorExamples(Predictions):
    """TFRecords: the records of the input as `tf.train.Example`s, with a feature `vector`."""

    def __init__(self, bundle: Bundle, dtype: str):
        make_encoding_step(bundle)
        self.fields = SENTENCE
        self.columns = columns_of(bundle.config, self.fields)

    def make_answer(self, bundle: Bundle) -> Answer:
        """Returns the function that a worker calls with records."""
        step, text_to_ids = make_encoding_step(bundle), bundle.traced_text_to_ids()

        def compute_rows(records):
            sentences = tokenise(records, text_to_ids, self.fields, self.columns)
            vectors = encode_all(step, sentences, text_to_ids, BATCH_SIZE)
            return list(map(self._row, records, vectors))

        return compute_rows

    def write(self, file: BinaryIO, rows: Sequence[bytes]) -> None:
        """Writes a shard."""
        write_examples(file, rows)

    def _row(self, record: dict, vector: np.ndarray) -> bytes:
        return to_example(add_prediction(record, {"vector": vector.tolist()}))


class VectorArray(VectorExamples):
    """An array [lines, dim] in a .npy file; a line that cannot be read has a row of NaN."""

    def __init__(self, bundle: Bundle, dtype: str):
        super().__init__(bundle, dtype)
        self._dtype, self._dim = np.dtype(dtype), vector_size(bundle)
        self.blank = np.full(self._dim, np.nan, dtype).tobytes()

    def write(self, file: BinaryIO, rows: Sequence[bytes]) -> None:
        """Writes a shard."""
        shape = (len(rows), self._dim)
        header = {"descr": self._dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        file.write(b"".join(rows))

    def _row(self, record: dict, vector: np.ndarray) -> bytes:
        return vector.astype(self._dtype).tobytes()


def write_lines(file: BinaryIO, rows: Sequence[bytes]) -> None:
    """Writes rows that are lines."""
    file.write(b"".join(rows))


KINDS = {".jsonl": Predictions, ".npy": VectorArray, ".tfrecord": VectorExamples}  # by the ending
