"""The files of the input and the output: shards, in the order of the input."""

import glob
import math
import os
import re
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Optional

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from disan_tf.common.errors import UserError
from disan_tf.common.files import temporary_prefix
from disan_tf.common.options import join_choices
from disan_tf.serving.beam import FORMATS
from disan_tf.text.text_files import COMPRESSED, format_of

_UNNAMEABLE = "*?[]"  # have a meaning in patterns
_NUMBERS = re.compile(r"-[0-9]+-of-[0-9]+(?=(\.(gz|bz2|zst))?$)")  # of a shard
_EXAMPLES = tuple(f".tfrecord{end}" for end in ("", *COMPRESSED))


class Source(NamedTuple):
    """A file of the input.

    Attributes:
      path: its path.
      first: the number of its first shard.
      shards: the number of its shards.
    """

    path: str
    first: int
    shards: int


def find_sources(pattern: str, shard_bytes: int) -> list[Source]:
    """Finds the files that a pattern matches, in the order of their names.

    A file has a shard for every `shard_bytes`; a compressed file has a single shard.

    Raises:
      UserError: no file matches, or the file system is not known.
    """
    sources, first = [], 0
    for path, size in sorted(_match(pattern, "--input").items()):
        is_plain = _compression(path) == CompressionTypes.UNCOMPRESSED
        shards = max(1, math.ceil(size / shard_bytes)) if is_plain else 1
        sources.append(Source(path, first, shards))
        first += shards
    if not sources:
        raise UserError(f"--input={pattern} matches no file; check the path.")
    return sources


def find_format(sources: Sequence[Source], input_format: Optional[str]) -> str:
    """Returns the format of all files: `input_format`, or else what their names end with.

    Raises:
      UserError: the names end differently, or with the format of a table.
    """
    if input_format is not None:
        return input_format
    found = {_format(source.path): source.path for source in sources}
    for table in found.keys() - set(FORMATS):
        raise UserError(
            f"{found[table]} is a table, and this command reads {join_choices(FORMATS)}; write the "
            'rows as JSON lines, as with pandas\' to_json(..., orient="records", lines=True).'
        )
    if len(found) > 1:
        names = " and ".join(found.values())
        raise UserError(f"{names} are of different formats; name one with --input_format.")
    return next(iter(found))


class Target:
    """The paths of the output.

    Args:
      output: a path such as "folder/predictions.jsonl". The first of three shards is then
        "folder/predictions-00000-of-00003.jsonl", and the file of its bad lines
        "folder/predictions.bad-lines-00000-of-00003.jsonl".
      count: the number of shards.
      endings: the endings that the output may have.

    Attributes:
      ending: the output's ending.
      folder: a temporary folder beside the output.
      shards, bad_lines: paths with `{:05d}` for a shard's number.

    Raises:
      UserError: the output exists, has another ending, or is on a file system that is not known.
    """

    def __init__(self, output: str, count: int, endings: Sequence[str]):
        path = output if FileSystems.get_scheme(output) else str(Path(output).resolve())
        self.ending = Path(path).suffix
        if self.ending not in endings:
            raise UserError(f"--output={output} must end with {join_choices(endings)}.")
        if set(path) & set(_UNNAMEABLE):
            raise UserError(f"--output={output} must have none of {_UNNAMEABLE} in its path.")
        stem, rest = path[: -len(self.ending)], f"of-{count:05d}"
        self.shards = f"{stem}-{{:05d}}-{rest}{self.ending}"
        self.bad_lines = f"{stem}.bad-lines-{{:05d}}-{rest}.jsonl"
        self.patterns = (f"{stem}-*-of-*{self.ending}", f"{stem}.bad-lines-*-of-*.jsonl")
        self.check_absent()
        parent, _ = FileSystems.split(path)
        self.folder = FileSystems.join(parent, f"{temporary_prefix(path)}{uuid.uuid4().hex}")

    def check_absent(self) -> None:
        """Raises UserError if shards with this output's name exist."""
        for pattern in self.patterns:
            for path in _match(pattern, "--output"):
                raise UserError(f"{path} exists already; name another output or delete it.")


def _match(pattern: str, flag: str) -> dict[str, int]:
    """Returns the files that match a pattern: path -> bytes."""
    if FileSystems.get_scheme(pattern) is None:  # Beam would walk through all folders below
        return {path: os.path.getsize(path) for path in glob.glob(pattern) if os.path.isfile(path)}
    try:
        (result,) = FileSystems.match([pattern])
    except ValueError as error:  # the scheme is not known
        raise UserError(f"{flag}={pattern}: {error}.") from None
    return {metadata.path: metadata.size_in_bytes for metadata in result.metadata_list}


def _compression(path: str) -> str:
    return CompressionTypes.detect_compression_type(path)


def _format(path: str) -> str:
    path = _NUMBERS.sub("", path)
    return "tfrecord" if path.lower().endswith(_EXAMPLES) else format_of(path) or "text"
