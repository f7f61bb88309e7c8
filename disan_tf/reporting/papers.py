"""Reads `checkpoints/papers/*.yaml`, the facts of the papers and of our runs of them."""

from pathlib import Path
from typing import Any

from disan_tf.common import typed_yaml
from disan_tf.common.installation import CHECKPOINTS

FOLDER = CHECKPOINTS / "papers"
PAPERS = ("disan", "resan", "dsa", "drcn", "elmo_disan")
SECTIONS = ("paper", "source", "tables", "rows", "claims", "deviations")


def read_section(paper: str, section: str, kind: Any, folder: Path = FOLDER):
    """Reads one section of a paper's file.

    Args:
      paper: one of `PAPERS`.
      section: one of `SECTIONS`.
      kind: the type of its content, see `disan_tf.common.typed_yaml.read_section`.
      folder: the folder of the files.

    Raises:
      UserError: see there.
    """
    return typed_yaml.read_section(Path(folder) / f"{paper}.yaml", section, SECTIONS, kind)
