"""The files of a corpus that must all be there, and what to do where they are not."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from disan_tf.errors import UserError


def find(
    data_dir: Path, title: str, files: Mapping[str, str], suffixes: Sequence[str] = ("",)
) -> dict[str, Path]:
    """The path of each split's file.

    Args:
      title: the corpus' name for people; in lower case, its name among the downloads.
      files: the path below `data_dir` of each split's file, without its suffix.
      suffixes: the possible ones; an earlier one goes before a later one.

    Raises:
      UserError: one is missing.
    """
    found = {
        split: next(filter(Path.is_file, (data_dir / (name + end) for end in suffixes)), None)
        for split, name in files.items()
    }
    missing = [f"no {files[split]}{' or '.join(suffixes)}" for split in files if not found[split]]
    if missing:
        raise absent(data_dir, title, f"there is {', '.join(missing)}")
    return found


def absent(data_dir: Path, title: str, what: str, download: str = "") -> UserError:
    """The error of a corpus that is not there.

    Args:
      what: what there is not, or what was looked for.
      download: the corpus' name among the downloads; "" = its title in lower case.
    """
    return UserError(
        f"{title} is not in {data_dir} ({what}); python -m data_prep.download "
        f"{download or title.lower()} --data_dir={data_dir} fetches it."
    )
