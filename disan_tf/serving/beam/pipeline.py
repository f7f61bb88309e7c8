"""Files of sentences -> shards of predictions or vectors, on any runner of Apache Beam."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Optional

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.metrics import MetricsFilter
from apache_beam.ml.inference.base import KeyedModelHandler, RunInference
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.runner import PipelineState

from disan_tf.common.errors import UserError
from disan_tf.encoders.own import allow_modules
from disan_tf.serving.beam import SHARD_BYTES, steps
from disan_tf.serving.beam.example_files import ExampleFiles
from disan_tf.serving.beam.kinds import KINDS, write_lines
from disan_tf.serving.beam.line_files import LineFiles
from disan_tf.serving.beam.shards import Target, find_format, find_sources
from disan_tf.serving.inference.model import load_reader


class Summary(NamedTuple):
    """The outcome of a run.

    Attributes:
      shards, bad_lines: patterns of the files that were written.
      counts: "lines" of the input, and "bad" ones among them; empty where the runner has none.
    """

    shards: str
    bad_lines: str
    counts: dict[str, int]

    def __str__(self) -> str:
        if not self.counts:
            return f"the answers are in {self.shards}"
        lines, bad = self.counts["lines"], self.counts.get(steps.BAD, 0)
        text = f"{lines - bad:,} of {lines:,} lines are answered in {self.shards}"
        return f"{text}; {bad:,} cannot be read, see {self.bad_lines}" if bad else text


def run(
    checkpoint: str,
    input: str,
    output: str,
    options: PipelineOptions,
    input_format: Optional[str] = None,
    vector_dtype: str = "float32",
    shard_bytes: int = SHARD_BYTES,
    threads: int = 0,
    allow_module: Sequence[str] = (),
) -> Summary:
    """Writes predictions or vectors for every line of the input that can be read.

    A shard's rows are in the order of its lines; shards are in the order of the files' names, then
    of their lines. A line that cannot be read does not end the job: it is written to a separate
    file, as {"file": ..., "line": ..., "reason": ..., "content": ...}.

    Args:
      checkpoint: see `disan_tf.load`; the workers must have it too.
      input: a path or a pattern.
      output: a path whose ending selects the kind, see `KINDS`; see `Target` for the names.
      options: Beam's options.
      input_format: "text", "jsonl" or "tfrecord"; None = by the files' names.
      vector_dtype: the dtype of vectors in .npy files.
      shard_bytes: the input's bytes for an output shard.
      threads: TensorFlow's threads in a worker; 0 = one for each core.
      allow_module: modules with the model's encoder, which workers need too.

    Raises:
      UserError: see `allow_modules`, `find_sources`, `find_format`, `Target` and `load_reader`;
        the model has no such output; or the job has failed.
    """
    sources = find_sources(input, shard_bytes)
    count = sources[-1].first + sources[-1].shards
    target = Target(output, count, list(KINDS))
    input_format = find_format(sources, input_format)
    allow_modules(allow_module)
    kind = KINDS[target.ending](load_reader(checkpoint), vector_dtype)
    is_examples = input_format == "tfrecord"
    texts = kind.fields, kind.columns
    files = ExampleFiles(*texts) if is_examples else LineFiles(input_format, *texts)
    handler = steps.AnswerHandler(checkpoint, kind.make_answer, threads, allow_module)
    with _temporary(target.folder):
        pipeline = beam.Pipeline(options=options)
        chunks = (
            pipeline
            | "Files" >> beam.Create(sources, reshuffle=True)
            | "Read" >> beam.ParDo(steps.ReadChunks(files, shard_bytes))
            | "Spread" >> beam.Reshuffle()
        )
        _connect(pipeline, chunks, files, handler, kind, target, count)
        counts = _wait(pipeline.run())
    return Summary(*target.patterns, counts)


def _connect(pipeline, chunks, files, handler, kind, target, count) -> None:
    """Adds the steps from chunks to files of rows, and of lines that cannot be read."""
    parsed = chunks | "Parse" >> beam.ParDo(steps.ParseRecords(files)).with_outputs(
        steps.BAD, main="records"
    )
    bad = parsed[steps.BAD]
    results = (
        parsed.records
        | "Predict" >> RunInference(KeyedModelHandler(handler).with_no_batching())
        | "ByShard" >> beam.MapTuple(_by_shard).with_output_types(steps.Row)
    )
    rows = [results, pipeline | "Shards" >> beam.Create([(n, (0, b"")) for n in range(count)])]
    if kind.blank is not None:
        rows.append(bad | "Blanks" >> beam.Map(_blank, kind.blank).with_output_types(steps.Row))
    written = [
        rows
        | "AllRows" >> beam.Flatten()
        | "Group" >> beam.GroupByKey()
        | "Write" >> beam.ParDo(steps.WriteShards(target.folder, target.shards, kind.write)),
        bad
        | "GroupBad" >> beam.GroupByKey()
        | "WriteBad" >> beam.ParDo(steps.WriteShards(target.folder, target.bad_lines, write_lines)),
    ]
    (
        written
        | "AllFiles" >> beam.Flatten()
        | "Together" >> beam.GroupBy(lambda file: None)
        | "Name" >> beam.ParDo(steps.NameFiles(target))
    )


def _by_shard(place: tuple[int, int], row: bytes) -> steps.Row:
    shard, number = place
    return shard, (number, row)


def _blank(bad: steps.Row, blank: bytes) -> steps.Row:
    shard, (number, _) = bad
    return shard, (number, blank)


@contextlib.contextmanager
def _temporary(folder: str) -> Iterator[None]:
    """Makes a folder, and removes it in the end."""
    FileSystems.mkdirs(folder)
    try:
        yield
    finally:
        FileSystems.delete([folder])


def _wait(result) -> dict[str, int]:
    """Waits for a job to end; returns its counters."""
    state = result.wait_until_finish()
    if state != PipelineState.DONE:
        raise UserError(f"the job ended as {state}; its runner's log says why.")
    counters = result.metrics().query(MetricsFilter().with_namespace(steps.NAMESPACE))["counters"]
    return {counter.key.metric.name: counter.result for counter in counters}
