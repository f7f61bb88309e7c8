"""The code of the tutorials runs, and their notebooks hold its outputs."""

import json
import re

import pytest

from tests.support.notebooks import run_notebook
from tests.support.runs.training import ROOT

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))


@pytest.mark.slow  # `make test-keras3` runs keras_layers, see tests/keras3
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_code_runs(path, tmp_path):
    result = run_notebook(path, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_notebooks_have_outputs_without_errors_or_paths_of_a_machine(path):
    cells = json.loads(path.read_text("utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert outputs, "run make tutorials"
    assert not any(output["output_type"] == "error" for output in outputs)
    assert not re.search(r"(?<![\w.])/(tmp|home|root|Users|work|usr|opt)/", json.dumps(outputs))


def test_a_cell_that_fails_is_noticed(tmp_path):
    for source in ("raise ValueError", "%%bash\nfalse\ntrue", "%%bash\nfalse | cat"):
        cell = {"cell_type": "code", "source": [source]}
        (tmp_path / "bad.ipynb").write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
        assert run_notebook(tmp_path / "bad.ipynb", tmp_path).returncode == 1, source
