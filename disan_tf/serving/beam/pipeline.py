"""Files of sentences -> shards of predictions or vectors, on any runner of Apache Beam."""

import os
import re
from collections.abc import Sequence
from typing import Optional

import apache_beam as beam
from apache_beam.coders import BytesCoder
from apache_beam.io.filesystems import FileSystems
from apache_beam.metrics import MetricsFilter
from apache_beam.ml.inference.base import RunInference
from apache_beam.options.pipeline_options import PipelineOptions

from disan_tf.common.errors import UserError
from disan_tf.encoders.custom import allow_modules
from disan_tf.models.base import SENTENCE
from disan_tf.serving.beam import steps
from disan_tf.serving.inference.encode import make_encoding_step
from disan_tf.serving.inference.model import load_reader
from disan_tf.serving.inference.records import columns_of
from disan_tf.text.text_files import format_of

PREDICTIONS, VECTORS = ".jsonl", ".tfrecord"  # endings of the output
BAD_LINES = ".bad-lines"
_SHARD = re.compile(r"-\d+-of-\d+")  # the number in a file's name
_PATTERN = "*?[]"  # characters of patterns, by which Beam's sinks find their files


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
    compute_rows = steps.vectors if ending == VECTORS else steps.predictions
    handler = steps.SentenceModelHandler(checkpoint, compute_rows, threads, allow_module)
    handler.set_environment_vars()  # before TensorFlow makes its threads in this process
    allow_modules(allow_module)
    bundle = load_reader(checkpoint)
    if ending == VECTORS:
        make_encoding_step(bundle)  # raises the error of a model without vectors
    fields = SENTENCE if ending == VECTORS else bundle.model.fields
    read = beam.ParDo(steps.ReadLines(columns_of(bundle.config, fields)))
    with beam.Pipeline(options=options) as pipeline:
        files = pipeline | beam.Create(inputs, reshuffle=True)
        records, bad_lines = files | read.with_outputs(steps.BAD, main="records")
        rows = records | beam.Reshuffle() | RunInference(handler)
        _ = rows | "Write" >> _sink(prefix, ending)
        bad_sink = beam.io.WriteToText(prefix + BAD_LINES, ".jsonl", skip_if_empty=True)
        _ = bad_lines | "WriteBadLines" >> bad_sink
    return _summary(pipeline.result, prefix, ending)


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


def _sink(prefix: str, ending: str) -> beam.PTransform:
    if ending == VECTORS:
        return beam.io.WriteToTFRecord(prefix, file_name_suffix=ending)
    return beam.io.WriteToText(prefix, ending, append_trailing_newlines=False, coder=BytesCoder())


def _summary(result, prefix: str, ending: str) -> str:
    counters = result.metrics().query(MetricsFilter().with_namespace(steps.NAMESPACE))["counters"]
    counts = {counter.key.metric.name: counter.result for counter in counters}
    shards = f"{prefix}-*-of-*{ending}"
    if not counts:  # the runner or the input has none
        return f"Wrote {shards}."
    lines, bad = counts[steps.LINES], counts.get(steps.BAD, 0)
    hint = f"; {bad:,} cannot be read, see {prefix}{BAD_LINES}-*-of-*.jsonl" if bad else ""
    return f"Wrote results for {lines - bad:,} of {lines:,} lines to {shards}{hint}."
