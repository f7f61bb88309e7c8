"""Files of sentences -> shards of predictions or vectors, on any runner of Apache Beam."""

import atexit
import json
import os
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Callable, Optional, Union

import apache_beam as beam
import tensorflow as tf
from apache_beam.coders import BytesCoder
from apache_beam.io.filesystems import FileSystems
from apache_beam.metrics import Metrics, MetricsFilter
from apache_beam.ml.inference.base import ModelHandler, RunInference
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.utils import shared

from disan_tf.common.errors import UserError
from disan_tf.encoders.custom import allow_modules
from disan_tf.models.base import SENTENCE
from disan_tf.serving.inference.encode import make_encoding_step
from disan_tf.serving.inference.lines import JsonLines, add_prediction
from disan_tf.serving.inference.model import LoadedModel, load, load_reader
from disan_tf.serving.inference.records import Columns, columns_of, make_parser
from disan_tf.text.text_files import TextLines, format_of

PREDICTIONS, VECTORS = ".jsonl", ".tfrecord"  # endings of the output
BAD_LINES = ".bad-lines"
_SHARD = re.compile(r"-\d+-of-\d+")  # the number in a file's name
_PATTERN = "*?[]"  # characters of patterns, by which Beam's sinks find their files
NAMESPACE = "disan_tf"  # of the counters
LINES, BAD = "lines", "bad"  # counters; BAD is also the tag of unreadable lines
BATCH_LINES = 2048  # records in an element, divided into batches of similar length
MAX_SHOWN = 1000  # characters of an unreadable line


def run(
    checkpoint: str,
    input: str,
    output: str,
    options: PipelineOptions,
    input_format: Optional[str] = None,
    threads: int = 0,
    allow_module: Sequence[str] = (),
) -> str:
    """Writes predictions or vectors for all readable lines, and unreadable lines to other files.

    Args:
      checkpoint: see `disan_tf.load`; the workers must have it too.
      input, input_format: see `find_inputs`.
      output: see `split_output`.
      options: Beam's options.
      threads: TensorFlow's threads in a worker; 0 = one for each core.
      allow_module: modules with the model's encoder, which workers need too.

    Returns:
      A sentence with the numbers of lines.
    """
    inputs = find_inputs(input, input_format)
    prefix, ending = split_output(output)
    compute_rows = vectors if ending == VECTORS else predictions
    handler = SentenceModelHandler(checkpoint, compute_rows, threads, allow_module)
    handler.set_environment_vars()  # before TensorFlow makes its threads in this process
    allow_modules(allow_module)
    bundle = load_reader(checkpoint)
    if ending == VECTORS:
        make_encoding_step(bundle)  # raises the error of a model without vectors
    fields = SENTENCE if ending == VECTORS else bundle.model.fields
    read = beam.ParDo(ReadLines(columns_of(bundle.config, fields)))
    with beam.Pipeline(options=options) as pipeline:
        files = pipeline | beam.Create(inputs, reshuffle=True)
        records, bad_lines = files | read.with_outputs(BAD, main="records")
        rows = records | beam.Reshuffle() | RunInference(handler)
        if ending == VECTORS:
            sink = beam.io.WriteToTFRecord(prefix, file_name_suffix=ending)
        else:
            options = {"append_trailing_newlines": False, "coder": BytesCoder()}
            sink = beam.io.WriteToText(prefix, ending, **options)
        _ = rows | "Write" >> sink
        bad_sink = beam.io.WriteToText(prefix + BAD_LINES, ".jsonl", skip_if_empty=True)
        _ = bad_lines | "WriteBadLines" >> bad_sink
    query = MetricsFilter().with_namespace(NAMESPACE)
    counters = pipeline.result.metrics().query(query)["counters"]
    counts = {counter.key.metric.name: counter.result for counter in counters}
    shards = f"{prefix}-*-of-*{ending}"
    if not counts:  # the runner or the input has none
        return f"Wrote {shards}."
    lines, bad = counts[LINES], counts.get(BAD, 0)
    hint = f"; {bad:,} cannot be read, see {prefix}{BAD_LINES}-*-of-*.jsonl" if bad else ""
    return f"Wrote results for {lines - bad:,} of {lines:,} lines to {shards}{hint}."


def find_inputs(pattern: str, input_format: Optional[str] = None) -> list[tuple[str, str]]:
    """Returns the path and the format, "text" or "jsonl", of each file that a pattern matches.

    Raises:
      UserError: no file matches, one is a table or has TFRecords, or the file system is unknown.
    """
    paths = _match(_absolute(pattern), "--input")
    if not paths:
        raise UserError(f"--input={pattern} matches no file; check the path.")
    inputs = [(path, input_format or format_of(_SHARD.sub("", path)) or "text") for path in paths]
    for path, form in inputs:
        if form not in ("text", "jsonl") or ".tfrecord" in os.path.basename(path).lower():
            raise UserError(
                f"{path} is no file of text or JSON lines; write its rows as JSON lines, as with "
                'pandas\' to_json(..., orient="records", lines=True).'
            )
    return inputs


def split_output(output: str) -> tuple[str, str]:
    """Splits the output into the prefix of the shards' paths and the ending.

    Raises:
      UserError: the path has another ending or a character of patterns, shards of this output exist
        already, or the file system is unknown.
    """
    prefix, ending = os.path.splitext(_absolute(output))
    if ending not in (PREDICTIONS, VECTORS):
        raise UserError(f"--output={output} must end with {PREDICTIONS} or {VECTORS}.")
    if set(prefix) & set(_PATTERN):
        raise UserError(f"--output={output} must have none of {_PATTERN} in its path.")
    for pattern in (f"{prefix}-*-of-*{ending}", f"{prefix}{BAD_LINES}-*-of-*.jsonl"):
        for path in _match(pattern, "--output"):
            raise UserError(f"{path} exists already; name another output or delete it.")
    return prefix, ending


def _absolute(path: str) -> str:
    """Returns an absolute path, because Beam finds no file for a relative pattern."""
    return path if FileSystems.get_scheme(path) else os.path.abspath(path)


def _match(pattern: str, flag: str) -> list[str]:
    try:
        (result,) = FileSystems.match([pattern])
    except ValueError as error:  # the scheme is unknown
        raise UserError(f"{flag}={pattern}: {error}.") from None
    return sorted(file.path for file in result.metadata_list if not os.path.isdir(file.path))


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
                    content = (line or b"").decode("utf-8", "backslashreplace")[:MAX_SHOWN]
                    row = {"file": path, "line": number, "reason": reason, "content": content}
                    record = beam.pvalue.TaggedOutput(BAD, json.dumps(row, ensure_ascii=False))
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
        names = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
        self._env_vars = dict.fromkeys(names, str(threads)) if threads else {}

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
