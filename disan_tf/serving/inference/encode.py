"""Encodes sentences as vectors of a model's encoder, in the order of the input."""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, Callable, NamedTuple, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.models.base import SENTENCE
from disan_tf.runs.bundle import Bundle
from disan_tf.serving.inference.batches import BATCH_SIZE, Sentences, compute, is_blank, tokenise
from disan_tf.serving.inference.lines import JsonLines, lines_bar, open_new, read_chunks
from disan_tf.serving.inference.reading import Reading
from disan_tf.serving.inference.records import columns_of

DTYPES = ("float32", "float16")  # of .npy files
FORMATS = ("npy", "jsonl")


class Encoded(NamedTuple):
    """The numbers of encoded lines and of lines without a word, and the time in seconds.

    `remarks`: see `Reading`.
    """

    lines: int
    seconds: float
    blank: int
    remarks: tuple[str, ...] = ()


def encode(
    bundle: Bundle,
    input_path,
    output_path,
    input_format: Optional[str] = None,
    dtype: str = "float32",
    batch_size: int = BATCH_SIZE,
    text_column: Sequence[str] = (),
    encoding: str = "utf-8",
    max_tokens: Optional[int] = None,
) -> Encoded:
    """Writes the vector of every line of the input, in order; a line without a word has zeros.

    Args:
      bundle: the model.
      input_path, input_format, text_column, encoding: see `predict`; records have one text, also
        for pair models, whose one encoder reads both sentences.
      output_path: a file that does not exist, and appears when it is complete: `.npy`, an array
        [lines, dim] of `dtype`, or `.jsonl`, the records with a list `vector`.
      batch_size: the most lines in a batch.
      max_tokens: see `Reading`.

    Raises:
      UserError: see `read_chunks` and `make_encoding_step`; or the output has another name, exists
        or cannot be written.
    """
    kind = Path(output_path).suffix.lstrip(".")
    if kind not in FORMATS:
        raise UserError(f"--output={output_path} must end with .npy or .jsonl.")
    step, text_to_ids = make_encoding_step(bundle), bundle.traced_text_to_ids()
    columns = columns_of(bundle.config, SENTENCE, text_column)
    bar, begin = lines_bar("encode", input_path, input_format), lambda file, count: None
    if kind == "npy":
        begin = partial(write_header, vector_size(bundle), dtype)
    started, count, blank = time.monotonic(), 0, 0
    reading = Reading(bundle, max_tokens)
    with open_new(output_path) as file, bar:
        begin(file, 0)
        for records in read_chunks(input_path, input_format, columns, encoding):
            sentences, _ = reading.cut(tokenise(records, text_to_ids, columns))
            options = batch_size, bar.update, reading.count
            vectors = encode_all(step, sentences, text_to_ids, *options)
            count += len(records)
            blank += sum(map(is_blank, sentences))
            if kind == "npy":
                file.write(vectors.astype(dtype).tobytes())
                continue
            for record, vector in zip(records, vectors.tolist()):
                numbers = [float(f"{number:.7g}") for number in vector]
                file.write(JsonLines().line(record, {"vector": numbers}))
        begin(file, count)
    return Encoded(count, time.monotonic() - started, blank, tuple(reading.remarks().values()))


def make_encoding_step(bundle: Bundle) -> Callable[..., tf.Tensor]:
    """Compiles a function: ids and word features -> vectors <float32>[batch, dim].

    Raises:
      UserError: the encoder reads only pairs.
    """
    model, specs = bundle.model, bundle.model.signatures()
    if "encode" not in specs:
        raise UserError(
            f"{bundle.directory} holds a model that reads two sentences together, and has no "
            "vector of one alone; choose another --checkpoint."
        )

    @tf.function(input_signature=specs["encode"], autograph=False)
    def encode_batch(*inputs):
        return tf.cast(model.encode(*inputs, training=False), tf.float32)

    return encode_batch


def encode_all(step, sentences: Sentences, *options) -> np.ndarray:
    """Encodes sentences as <float32>[sentences, dim]; see `compute`."""
    (vectors,) = compute(step, sentences, *options)
    vectors[[*map(is_blank, sentences)]] = 0.0
    return vectors


def vector_size(bundle: Bundle) -> int:
    """Returns the size of a sentence's vector."""
    specs = bundle.model.signatures()["encode"]
    zeros = [tf.zeros([size or 1 for size in spec.shape], spec.dtype) for spec in specs]
    return int(bundle.model.encode(*zeros).shape[-1])


def write_header(size: int, dtype: str, file: BinaryIO, count: int) -> None:
    """Writes the header of a .npy file at its start; its padding holds any number of vectors."""
    file.seek(0)
    header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": (count, size)}
    np.lib.format.write_array_header_1_0(file, header)
