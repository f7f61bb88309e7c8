"""Runs the tutorials in empty folders, and stores the outputs in their notebooks.

    python docs/run_tutorials.py [NOTEBOOK...]

Without arguments it runs all notebooks. `make tutorials` installs what it needs, and calls it.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

_LOG = re.compile(r"^(\d{4}-\d\d-\d\d [\d:.]+: [A-Z] |INFO:tensorflow:).*\n?", re.MULTILINE)
ALL = sorted(Path(__file__).parent.glob("tutorials/*.ipynb"))


def run(path: Path) -> None:
    """Runs a notebook and replaces its file."""
    print(f"running {path.name}", flush=True)
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        options = {"timeout": 1800, "coalesce_streams": True, "record_timing": False}
        NotebookClient(notebook, resources={"metadata": {"path": folder}}, **options).execute()
    nbformat.write(tidy(notebook), path)


def tidy(notebook):
    """Removes execution counts, TensorFlow's log lines and the version of Python."""
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.execution_count = None
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = None
            if output.output_type == "stream":
                output.text = _LOG.sub("", output.text)
        cell.outputs = [each for each in cell.outputs if each.get("text", "-")]
    return notebook


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # The notebooks' shells find the interpreter of this program.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for notebook in map(Path, sys.argv[1:] or ALL):
        run(notebook)
