"""The paths that users write: `~` is their home folder, and a web address is no path."""

import os
import re
from pathlib import Path
from typing import Union

from disan_tf.common.errors import UserError

PathLike = Union[str, Path]
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def expand(name: str, flag: str) -> str:
    """Returns a path with the home folder in place of `~`.

    `flag` is the name of the option that names the path.

    Raises:
      UserError: the path is a web address, whose file must be downloaded first.
    """
    if _ADDRESS.match(name):
        raise UserError(
            f"--{flag}={name} is a web address; download the file first (curl -LO {name}), and "
            "name the downloaded file."
        )
    return os.path.expanduser(name)


def below(folder: Path, name: str, flag: str) -> Path:
    """Returns the path of a file below a folder, or of an absolute path; see `expand`."""
    return Path(folder) / expand(name, flag)


def home_path(text: str) -> Path:
    """Returns the path of an argument of `argparse`, with the home folder in place of `~`."""
    return Path(text).expanduser()
