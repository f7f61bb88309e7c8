"""The steps that workers run: read records, and compute their predictions or vectors."""

import atexit
import json
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Callable, Optional, Union

import apache_beam as beam
import tensorflow as tf
from apache_beam.io.filesystems import FileSystems
from apache_beam.metrics import Metrics
from apache_beam.ml.inference.base import ModelHandler
from apache_beam.utils import shared

from disan_tf.common.errors import UserError
from disan_tf.encoders.custom import allow_modules
from disan_tf.serving.inference.model import LoadedModel, load
from disan_tf.serving.inference.output_formats import JsonLines, add_prediction
from disan_tf.serving.inference.records import Columns, make_parser
from disan_tf.text.text_files import TextLines

NAMESPACE = "disan_tf"  # of the counters
LINES, BAD = "lines", "bad"  # counters; BAD is also the tag of unreadable lines
BATCH_LINES = 2048  # are divided into batches of similar length
MAX_SHOWN = 1000  # characters of an unreadable line


class ReadLines(beam.DoFn):
    """Reads a file of texts -> its records; unreadable lines are tagged `BAD`.

    Args:
      columns: the names under which a record holds its sentences.
    """

    def __init__(self, columns: Columns):
        self._columns = columns
        self._lines, self._bad = (Metrics.counter(NAMESPACE, name) for name in (LINES, BAD))

    def process(self, file: tuple[str, str]) -> Iterator[Union[dict, beam.pvalue.TaggedOutput]]:
        """Yields the records of (path, format); an unreadable line is a JSON object."""
        path, input_format = file
        parse = make_parser(input_format, self._columns)
        with FileSystems.open(path) as opened:
            lines = TextLines(opened.read, path, input_format)
            for number, line in enumerate(chain.from_iterable(lines.chunks()), start=1):
                self._lines.inc()
                where = lines.place(number)
                try:
                    record = parse(lines.decode(line, number), where)
                except UserError as error:
                    self._bad.inc()
                    reason = str(error).removeprefix(f"{where}: ")
                    record = beam.pvalue.TaggedOutput(BAD, _bad_line(path, number, reason, line))
                yield record


class SentenceModelHandler(ModelHandler):
    """Loads a model in a worker, and computes rows of the output for batches of records.

    Args:
      checkpoint, threads, modules: see `disan_tf.serving.beam.pipeline.run`.
      compute_rows: `predictions` or `vectors`.
    """

    def __init__(self, checkpoint: str, compute_rows: Callable, threads: int, modules=()):
        super().__init__()
        self._checkpoint, self._compute_rows, self._modules = checkpoint, compute_rows, modules
        self._env_vars = thread_variables(threads)

    def load_model(self) -> LoadedModel:
        """Loads the model, which Beam releases while TensorFlow can still destroy it."""
        atexit.register(lambda: shared.Shared().acquire(lambda: None))
        allow_modules(self._modules)
        return load(self._checkpoint)

    def batch_elements_kwargs(self) -> dict[str, int]:
        return {"min_batch_size": BATCH_LINES, "max_batch_size": BATCH_LINES}

    def run_inference(self, batch, model, inference_args=None) -> list[bytes]:
        return self._compute_rows(model, batch)


def predictions(model: LoadedModel, records: Sequence[dict]) -> list[bytes]:
    """Returns JSON lines, as `disan_tf.serving.inference.predict` writes them."""
    return list(map(JsonLines().line, records, model.predict(records)))


def vectors(model: LoadedModel, records: Sequence[dict]) -> list[bytes]:
    """Returns the records as `tf.train.Example`s with a feature `vector`."""
    rows = ({"vector": vector} for vector in model.encode(records).tolist())
    return list(map(to_example, map(add_prediction, records, rows)))


def thread_variables(threads: int) -> dict[str, str]:
    """Returns the environment variables that set TensorFlow's number of threads."""
    names = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
    return dict.fromkeys(names, str(threads)) if threads else {}


def _bad_line(path: str, number: int, reason: str, line: Optional[bytes]) -> str:
    content = (line or b"").decode("utf-8", "backslashreplace")[:MAX_SHOWN]
    row = {"file": path, "line": number, "reason": reason, "content": content}
    return json.dumps(row, ensure_ascii=False)


def to_example(record: dict) -> bytes:
    """Serialises a record as a `tf.train.Example`.

    A list is a feature with several values. Values other than strings and numbers are JSON.
    """
    features = tf.train.Features(feature={name: _feature(record[name]) for name in record})
    return tf.train.Example(features=features).SerializeToString(deterministic=True)


def _feature(value) -> tf.train.Feature:
    values = value if isinstance(value, list) else [value]
    types = {type(item) for item in values}
    if types == {float}:
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    if types == {int} and all(-(1 << 63) <= number < 1 << 63 for number in values):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    texts = [json.dumps(value, ensure_ascii=False)] if types - {str} else values
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[t.encode() for t in texts]))
