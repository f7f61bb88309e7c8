"""Runs the code of a notebook in a process of its own, without Jupyter."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support.processes import ROOT, run_program

_SHELL = "%%bash\n"


def program_of(notebook: Path) -> str:
    """Returns the code cells as one Python program; the shell's cells fail if a command fails."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    parts = []
    for number, cell in enumerate(cells, 1):
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            continue
        if source.startswith(_SHELL):
            commands = ["bash", "-e", "-o", "pipefail", "-c", source[len(_SHELL) :]]
            source = f"import subprocess\nsubprocess.run({commands}, check=True)"
        parts.append(f"# cell {number}\n{source}\n")
    return "\n".join(parts)


def run_notebook(notebook: Path, folder: Path, **variables: str) -> subprocess.CompletedProcess:
    """Runs the code cells in `folder`, where their files go.

    Args:
      notebook: the file, of the format of Jupyter.
      folder: an empty folder.
      **variables: variables of the environment.
    """
    script = folder / f"{notebook.stem}.py"
    script.write_text(program_of(notebook), encoding="utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": path, "MPLBACKEND": "Agg"}
    return run_program(sys.executable, script, cwd=folder, env={**environment, **variables})
