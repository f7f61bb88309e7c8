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

Row = tuple[int, tuple[int, bytes]]  # shard, (number of the line, what is written of it)


class ReadChunks(beam.DoFn):
    """Source -> chunks (path, shard, number of the first line, lines).

    Args:
      files: reads the input's format.
      shard_bytes: see `disan_tf.serving.beam.shards.find_sources`.
    """

    def __init__(self, files, shard_bytes: int):
        self._files, self._shard_bytes = files, shard_bytes

    def process(self, source: Source) -> Iterator[tuple[str, int, int, list[Optional[bytes]]]]:
        """A chunk belongs to the shard in which it begins."""
        number, offset = 1, 0
        for lines in self._files.chunks(source.path):
            if lines:
                shard = min(offset // self._shard_bytes, source.shards - 1)
                yield source.path, source.first + shard, number, lines
                number += len(lines)
                offset += sum(len(line) + 1 for line in lines if line is not None)


class ParseRecords(beam.DoFn):
    """Chunk -> [((shard, number of the line), record), ...]; what cannot be read is tagged `BAD`.

    Args:
      files: reads the input's format.
    """

    def __init__(self, files):
        self._files = files
        self._lines = Metrics.counter(NAMESPACE, "lines")
        self._bad = Metrics.counter(NAMESPACE, BAD)

    def process(self, chunk):
        """Every line is in the list or in the other output, as a JSON object with the reason."""
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
    """Loads a model in a worker, and gives the rows of records.

    Args:
      checkpoint: see `disan_tf.load`.
      make_answer: the method of `disan_tf.serving.beam.kinds`.
      threads: of TensorFlow in a worker; 0 = as many as there are cores.
      modules: which a worker imports first, see `allow_modules`.
    """

    def __init__(
        self, checkpoint: str, make_answer: Callable, threads: int, modules: Sequence[str] = ()
    ):
        super().__init__()
        self._checkpoint, self._make_answer, self._modules = checkpoint, make_answer, modules
        self._env_vars = thread_variables(threads)

    def load_model(self):
        """The function that gives the rows of records."""
        atexit.register(_release)
        allow_modules(self._modules)
        return self._make_answer(load_reader(self._checkpoint))

    def run_inference(self, batch, model, inference_args=None) -> Iterable[bytes]:
        """The rows of the records of a chunk, which are put into batches by length."""
        return model(batch)


def thread_variables(threads: int) -> dict[str, str]:
    """The variables of the environment that TensorFlow takes its number of threads from."""
    names = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
    return dict.fromkeys(names, str(threads)) if threads else {}


class WriteShards(beam.DoFn):
    """(shard, rows) -> (path of a temporary file, its name when all are written).

    Args:
      folder: of the temporary files.
      name: of shards, with `{:05d}` in the place of the number.
      write: is called with a file and the rows, in the order of the lines.
    """

    def __init__(self, folder: str, name: str, write: Callable):
        self._folder, self._name, self._write = folder, name, write

    def process(
        self, element: tuple[int, Iterable[tuple[int, bytes]]]
    ) -> Iterator[tuple[str, str]]:
        """Lines are numbered from 1: number 0 says that there is the shard."""
        shard, rows = element
        path = FileSystems.join(self._folder, uuid.uuid4().hex)  # of this attempt
        file = FileSystems.create(path, compression_type=CompressionTypes.UNCOMPRESSED)
        with file:
            self._write(file, [row for number, row in sorted(rows) if number])
        yield path, self._name.format(shard)


class NameFiles(beam.DoFn):
    """Gives all temporary files their names, once all are written.

    Args:
      target: of the pipeline.
    """

    def __init__(self, target: Target):
        self._target = target

    def process(self, element: tuple[None, Iterable[tuple[str, str]]]) -> Iterable[None]:
        """What has its name already, in an attempt that failed later, is left as it is.

        Raises:
          UserError: another run was faster.
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
    """Makes Beam let go of the model while TensorFlow can still take it apart."""
    shared.Shared().acquire(lambda: None)


def _bad_line(path: str, number: int, reason: str, line: bytes) -> bytes:
    content = line.decode("utf-8", "backslashreplace")[:SHOWN]
    row = {"file": path, "line": number, "reason": reason, "content": content}
    return json.dumps(row, ensure_ascii=False).encode("utf-8") + b"\n"
