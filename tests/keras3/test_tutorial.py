"""The tutorial on layers runs on Keras 3 too."""

import pytest

from disan_tf.common.keras_version import CHOICE, is_keras_3
from tests.support.notebooks import ROOT, run_notebook


@pytest.mark.skipif(not is_keras_3(), reason=f"needs {CHOICE}=3 (make test-keras3)")
def test_the_layers_train_and_save(tmp_path):
    notebook = ROOT / "docs" / "tutorials" / "keras_layers.ipynb"
    result = run_notebook(notebook, tmp_path, **{CHOICE: "3"})
    assert result.returncode == 0, result.stdout + result.stderr
