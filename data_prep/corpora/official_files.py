"""A corpus' files: which are missing, how to restore them, and the mark of synthetic ones."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from disan_tf.common.atomic import write_json
from disan_tf.common.errors import UserError
from disan_tf.common.files import read_json, sha256

MARK = "synthetic.json"  # in the folder of the corpus: name of a file -> its digest


def find(
    data_dir: Path, title: str, files: Mapping[str, str], suffixes: Sequence[str] = ("",)
) -> dict[str, Path]:
    """Finds each split's file: split -> path.

    Args:
      title: the corpus' name for people; in lower case, its name among the downloads.
      files: by split, the path of its file below `data_dir`, without suffix.
      suffixes: the possible suffixes, in order of preference.

    Raises:
      UserError: a file is missing.
    """
    paths = {
        split: next(filter(Path.is_file, (data_dir / (name + end) for end in suffixes)), None)
        for split, name in files.items()
    }
    missing = [f"no {files[split]}{' or '.join(suffixes)}" for split in files if not paths[split]]
    if missing:
        raise absent(data_dir, title, f"there is {', '.join(missing)}")
    return paths


def restore(download: str) -> str:
    """Returns the remedy for a damaged file; `download` is the corpus' name among the downloads."""
    return f"restore the official file with python -m data_prep.download {download}"


def absent(data_dir: Path, title: str, reason: str, download: str = "") -> UserError:
    """Returns the error for a missing corpus.

    Args:
      title: the corpus' name for people.
      reason: the missing files, or the files that were searched for.
      download: the corpus' name among the downloads; "" = its title in lower case.
    """
    return UserError(
        f"{title} is not in {data_dir} ({reason}); python -m data_prep.download "
        f"{download or title.lower()} --data_dir={data_dir} fetches it."
    )


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
