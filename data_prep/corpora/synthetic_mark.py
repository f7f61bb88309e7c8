"""The mark beside a synthetic corpus, which has no official counts to compare with."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from disan_tf.common.errors import UserError
from disan_tf.common.files import read_json, sha256, write_json

MARK = "synthetic.json"  # in the folder of the corpus: name of a file -> its digest


def write_mark(paths: Iterable[Path]) -> None:
    """Marks files of one folder, which are written, as a synthetic corpus."""
    paths = list(paths)
    write_json(paths[0].parent / MARK, {path.name: sha256(path) for path in paths})


def is_synthetic(paths: Iterable[Path]) -> bool:
    """Returns whether a mark names all of a corpus' files with their present contents."""
    return all(_marks(path.parent / MARK).get(path.name) == sha256(path) for path in paths)


def _marks(path: Path) -> Mapping[str, str]:
    try:
        return read_json(path, "delete it", {}) if path.is_file() else {}
    except UserError:  # a damaged mark marks nothing
        return {}
