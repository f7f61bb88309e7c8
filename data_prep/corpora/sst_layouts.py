"""The Stanford Sentiment Treebank's official layouts: trees, their archive, the original."""

import io
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Callable, NamedTuple

from data_prep.corpora import sst_original
from data_prep.corpora.official_files import absent
from data_prep.corpora.sst_trees import RESTORE, Trees, malformed, parse_trees
from data_prep.download.unpack import ZIP_ERRORS, one_line
from disan_tf.common.errors import UserError
from disan_tf.common.files import bounded_lines, read_lines

SPLITS = ("train", "dev", "test")
TREES = "sst/trees"
ARCHIVES = ("sst/trainDevTestTrees_PTB.zip", "archives/trainDevTestTrees_PTB.zip")
ORIGINALS = ("sst/stanfordSentimentTreebank", "stanfordSentimentTreebank")


class Layout(NamedTuple):
    """The treebank in one of its layouts.

    Attributes:
      files: all files of the layout.
      read: returns the trees by split; raises UserError if a file is missing or malformed.
    """

    files: list[Path]
    read: Callable[[], Trees]


def find_layout(data_dir: Path) -> Layout:
    """Returns the first layout found below `data_dir`.

    Raises:
      UserError: there is no layout.
    """
    paths = {split: data_dir / TREES / f"{split}.txt" for split in SPLITS}
    if all(path.is_file() for path in paths.values()):
        return Layout(list(paths.values()), partial(_read_trees, paths))
    for archive in (data_dir / name for name in ARCHIVES):
        if archive.is_file():
            return Layout([archive], partial(_read_archive, archive))
    for folder in (data_dir / name for name in ORIGINALS):
        if folder.is_dir():
            files = sst_original.files(folder)
            return Layout(files, partial(sst_original.read_trees, *files))
    places = (f"{TREES}/{{train,dev,test}}.txt", *ARCHIVES, *ORIGINALS)
    raise absent(data_dir, "SST", f"looked for {', '.join(places)}")


def _read_trees(paths: dict[str, Path]) -> Trees:
    return {split: parse_trees(read_lines(path), split, path) for split, path in paths.items()}


def _read_archive(path: Path) -> Trees:
    """Reads `trees/{train,dev,test}.txt` inside `trainDevTestTrees_PTB.zip`."""
    members = {split: f"trees/{split}.txt" for split in SPLITS}
    try:
        with zipfile.ZipFile(path) as archive:
            return {
                split: parse_trees(_member_lines(archive, member, path), split, path / member)
                for split, member in members.items()
            }
    except ZIP_ERRORS as error:
        reason = one_line(error)
        raise UserError(f"{path} is not the official archive ({reason}); {RESTORE}.") from None


def _member_lines(archive: zipfile.ZipFile, member: str, path: Path) -> Iterator[tuple[int, str]]:
    with io.BufferedReader(archive.open(member)) as file:
        for number, line in enumerate(bounded_lines(file, path / member), start=1):
            try:
                yield number, line.rstrip(b"\r\n").decode("utf-8")
            except UnicodeDecodeError as error:
                byte = f"byte 0x{line[error.start]:02x} at column {error.start + 1} is not UTF-8"
                raise malformed(path / member, number, byte) from None
