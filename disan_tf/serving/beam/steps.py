"""The steps of the pipeline: read, parse, predict, write, and give the files their names."""

import atexit
import json
import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Callable, Optional

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.metrics import Metrics
from apache_beam.ml.inference.base import ModelHandler
from apache_beam.utils import shared

from disan_tf.common.errors import UserError
from disan_tf.encoders.own import allow_modules
from disan_tf.serving.beam.shards import Source, Target
from disan_tf.serving.inference.model import load_reader

NAMESPACE = "disan_tf"  # of the counters
BAD = "bad"  # the tag of lines that cannot be read
SHOWN = 1000  # characters of such a line

Row = tuple[int, tuple[int, bytes]]  # shard, (number of the line, its row)


class ReadChunks(beam.DoFn):
    """Reads a source as chunks (path, shard, number of the first line, lines).

    Args:
      files: reads the input's format.
      shard_bytes: see `disan_tf.serving.beam.shards.find_sources`.
    """

    def __init__(self, files, shard_bytes: int):
        self._files, self._shard_bytes = files, shard_bytes

    def process(self, source: Source) -> Iterator[tuple[str, int, int, list[Optional[bytes]]]]:
        """Yields chunks; a chunk belongs to the shard in which it begins."""
        number, offset = 1, 0
        for lines in self._files.chunks(source.path):
            if lines:
                shard = min(offset // self._shard_bytes, source.shards - 1)
                yield source.path, source.first + shard, number, lines
                number += len(lines)
                offset += sum(len(line) + 1 for line in lines if line is not None)


class ParseRecords(beam.DoFn):
    """Parses a chunk -> [((shard, line number), record), ...]; unreadable lines are tagged `BAD`.

    Args:
      files: reads the input's format.
    """

    def __init__(self, files):
        self._files = files
        self._lines = Metrics.counter(NAMESPACE, "lines")
        self._bad = Metrics.counter(NAMESPACE, BAD)

    def process(self, chunk):
        """Yields a list of records; unreadable lines are tagged JSON objects with the reason."""
        path, shard, first, lines = chunk
        records = []
        for number, line in enumerate(lines, start=first):
            try:
                records.append(((shard, number), self._files.record(line, number, path)))
            except UserError as error:
                reason = str(error).removeprefix(f"{path}, {self._files.unit} {number}: ")
                row = _bad_line(path, number, reason, line or b"")
                yield beam.pvalue.TaggedOutput(BAD, (shard, (number, row)))
                self._bad.inc()
        self._lines.inc(len(lines))
        if records:
            yield records


class AnswerHandler(ModelHandler):
    """Loads a model in a worker, and computes the rows of records.

    Args:
      checkpoint: see `disan_tf.load`.
      make_answer: a method from `disan_tf.serving.beam.kinds`.
      threads: TensorFlow's threads in a worker; 0 = one for each core.
      modules: the modules that a worker imports first, see `allow_modules`.
    """

    def __init__(
        self, checkpoint: str, make_answer: Callable, threads: int, modules: Sequence[str] = ()
    ):
        super().__init__()
        self._checkpoint, self._make_answer, self._modules = checkpoint, make_answer, modules
        self._env_vars = thread_variables(threads)

    def load_model(self):
        """Returns the function that computes the rows of records."""
        atexit.register(_release)
        allow_modules(self._modules)
        return self._make_answer(load_reader(self._checkpoint))

    def run_inference(self, batch, model, inference_args=None) -> Iterable[bytes]:
        """Computes the rows of a chunk's records, which are put into batches by length."""
        return model(batch)


def thread_variables(threads: int) -> dict[str, str]:
    """Returns the environment variables that set TensorFlow's number of threads."""
    names = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
    return dict.fromkeys(names, str(threads)) if threads else {}


class WriteShards(beam.DoFn):
    """Writes (shard, rows) -> (path of a temporary file, its final path).

    Args:
      folder: the folder of the temporary files.
      name: a shard's path, with `{:05d}` for its number.
      write: a function of a file and the rows, in the order of the lines.
    """

    def __init__(self, folder: str, name: str, write: Callable):
        self._folder, self._name, self._write = folder, name, write

    def process(
        self, element: tuple[int, Iterable[tuple[int, bytes]]]
    ) -> Iterator[tuple[str, str]]:
        """Writes a shard; line numbers begin at 1, and number 0 only says that the shard exists."""
        shard, rows = element
        path = FileSystems.join(self._folder, uuid.uuid4().hex)  # this attempt's own
        file = FileSystems.create(path, compression_type=CompressionTypes.UNCOMPRESSED)
        with file:
            self._write(file, [row for number, row in sorted(rows) if number])
        yield path, self._name.format(shard)


class NameFiles(beam.DoFn):
    """Gives all temporary files their final paths, once all are written.

    Args:
      target: the pipeline's output.
    """

    def __init__(self, target: Target):
        self._target = target

    def process(self, element: tuple[None, Iterable[tuple[str, str]]]) -> Iterable[None]:
        """Renames the files that no earlier attempt, which failed later, has renamed already.

        Raises:
          UserError: another run wrote the same output first.
        """
        (found,) = FileSystems.match([FileSystems.join(self._target.folder, "*")])
        waiting = {os.path.basename(metadata.path) for metadata in found.metadata_list}
        _, files = element
        files = sorted(files)
        unnamed = [pair for pair in files if os.path.basename(pair[0]) in waiting]
        if len(unnamed) == len(files):
            self._target.check_absent()
        size = FileSystems.get_chunk_size(self._target.folder)
        for start in range(0, len(unnamed), size):
            FileSystems.rename(*map(list, zip(*unnamed[start : start + size])))
        return ()


def _release() -> None:
    """Makes Beam release the model while TensorFlow can still destroy it."""
    shared.Shared().acquire(lambda: None)


def _bad_line(path: str, number: int, reason: str, line: bytes) -> bytes:
    content = line.decode("utf-8", "backslashreplace")[:SHOWN]
    row = {"file": path, "line": number, "reason": reason, "content": content}
    return json.dumps(row, ensure_ascii=False).encode("utf-8") + b"\n"
