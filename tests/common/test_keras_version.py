"""disan_tf/common/keras_version.py: the Keras that was asked for, or one sentence why not."""

import importlib.machinery
import importlib.metadata
import os
import sys
import types

import pytest
import tensorflow as tf

from disan_tf.common import keras_version
from disan_tf.common.errors import UserError
from tests.support.processes import run_program
from tests.support.runs.training import ROOT

COMES_WITH_KERAS_3 = int(importlib.metadata.version("keras").split(".")[0]) >= 3


@pytest.fixture
def keras(monkeypatch):
    """Sets the version of the installed `keras`, and the variable."""

    def pretend(version, variable=None):
        monkeypatch.setattr(importlib.metadata, "version", lambda package: version)
        monkeypatch.delenv(keras_version.VARIABLE, raising=False)
        monkeypatch.delenv(keras_version.CHOICE, raising=False)
        if variable is not None:
            monkeypatch.setenv(keras_version.VARIABLE, variable)

    return pretend


def test_keras_is_keras_2_here():
    assert keras_version.problem() == ""
    assert tf.keras.optimizers.legacy.Adadelta.__module__.split(".")[0] == (
        "tf_keras" if COMES_WITH_KERAS_3 else "keras"
    )


@pytest.mark.parametrize(
    "version, set_before, set_after",
    [("2.15.0", None, None), ("3.9.0", None, "1"), ("3.9.0", "0", "0"), ("3.9.0", "true", "true")],
)
def test_keras_2_is_asked_for_where_keras_3_would_come(version, set_before, set_after, keras):
    keras(version, set_before)
    keras_version.choose()
    assert os.environ.get(keras_version.VARIABLE) == set_after


@pytest.fixture
def tf_keras(monkeypatch):
    """An installed tf_keras, which is not imported: beside another Keras 2 it would disturb it."""
    package = types.ModuleType("tf_keras")
    package.__spec__ = importlib.machinery.ModuleSpec("tf_keras", None)
    monkeypatch.setitem(sys.modules, "tf_keras", package)


@pytest.mark.parametrize("version, variable", [("2.15.0", "1"), ("3.9.0", "1")])
def test_a_missing_tf_keras_is_named_with_its_remedy(version, variable, keras, monkeypatch):
    keras(version, variable)
    monkeypatch.setitem(sys.modules, "tf_keras", None)
    release = ".".join(tf.__version__.split(".")[:2])
    assert f'python -m pip install "tf_keras~={release}.0"' in keras_version.problem()


@pytest.mark.parametrize(
    "choice, variable, set_after",
    [("3", None, "0"), ("2", None, "1"), ("3", "1", "1"), ("2", "0", "0")],
)
def test_our_variable_chooses_unless_tensorflows_is_set(
    choice, variable, set_after, keras, monkeypatch
):
    keras("3.9.0", variable)
    monkeypatch.setenv(keras_version.CHOICE, choice)
    keras_version.choose()
    assert os.environ[keras_version.VARIABLE] == set_after


def test_a_program_that_uses_keras_3_already_keeps_it(keras, monkeypatch):
    keras("3.9.0")
    tensorflow, used = types.ModuleType("tensorflow"), types.ModuleType("keras")
    tensorflow.keras, used.__version__ = used, "3.9.0"
    monkeypatch.setitem(sys.modules, "tensorflow", tensorflow)
    keras_version.choose()
    assert keras_version.VARIABLE not in os.environ


@pytest.mark.parametrize(
    "version, choice, variable, sentence",
    [
        ("3.9.0", "4", None, "DISAN_TF_KERAS=4 must be 2 or 3."),
        ("3.9.0", "3", "1", "DISAN_TF_KERAS=3 asks for Keras 3, and TF_USE_LEGACY_KERAS=1 for "),
        ("3.9.0", "2", "0", "DISAN_TF_KERAS=2 asks for Keras 2, and TF_USE_LEGACY_KERAS=0 has "),
        ("2.15.0", "3", None, "DISAN_TF_KERAS=3 asks for Keras 3, and Keras 2.15.0 is installed"),
    ],
)
def test_wishes_that_cannot_be_granted_are_named(
    version, choice, variable, sentence, keras, tf_keras, monkeypatch
):
    keras(version, variable)
    monkeypatch.setenv(keras_version.CHOICE, choice)
    assert keras_version.problem().startswith(sentence)


def test_what_needs_keras_2_says_so_on_keras_3(monkeypatch):
    monkeypatch.setattr(keras_version, "is_keras_3", lambda: True)
    with pytest.raises(ImportError, match="^Training needs Keras 2, and tf.keras is Keras 3 here"):
        keras_version.check_keras_2("Training")


def test_a_tensorflow_that_has_keras_3_already_is_named(keras, tf_keras, monkeypatch):
    keras("3.9.0", "1")
    monkeypatch.setattr(tf, "keras", types.SimpleNamespace(__version__="3.9.0"))
    with pytest.raises(ImportError, match="import disan_tf first") as caught:
        keras_version.check()
    assert isinstance(caught.value, UserError)  # one line on the command line


def _python(script, *arguments, **environment):
    names = (keras_version.VARIABLE, keras_version.CHOICE, "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if name not in names}
    return run_program(sys.executable, script, *arguments, env={**kept, **environment})


def _script(tmp_path, text):
    (tmp_path / "script.py").write_text(f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{text}\n")
    return tmp_path / "script.py"


def test_without_tf_keras_an_import_says_what_to_install(tmp_path):
    script = """
import importlib
sys.modules["tf_keras"] = None
for folder in ("layers", "addons", "text", "ops"):
    try:
        importlib.import_module(f"disan_tf.{folder}")
    except ImportError as error:
        print(error)"""
    outcome = _python(_script(tmp_path, script), TF_USE_LEGACY_KERAS="1")
    lines = outcome.stdout.splitlines()
    assert len(lines) == 4, outcome.stderr
    assert all(line.startswith("disan_tf needs Keras 2") for line in lines)


@pytest.mark.skipif(not COMES_WITH_KERAS_3, reason="TensorFlow comes with Keras 2")
def test_training_on_keras_3_is_refused_in_one_sentence(tmp_path):
    script = _script(
        tmp_path,
        "import tensorflow as tf\ntf.keras.Model\nfrom disan_tf import layers\n"
        "print(issubclass(layers.Linear, tf.keras.layers.Layer), tf.keras.__version__)\n"
        "import disan_tf.training",
    )
    outcome = _python(script)
    assert outcome.stdout.startswith("True 3.")
    assert "Training needs Keras 2" in outcome.stderr.splitlines()[-1]
    outcome = _python(
        "run.py",
        "--config=demo",
        f"--workdir={tmp_path / 'run'}",
        DISAN_TF_KERAS="3",
    )
    assert outcome.returncode == 2
    assert outcome.stderr.splitlines()[-1].startswith("run.py: Training needs Keras 2, and ")
    assert "Traceback" not in outcome.stderr


@pytest.mark.skipif(not COMES_WITH_KERAS_3, reason="TensorFlow comes with Keras 2")
@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_a_backend_that_is_not_installed_is_named(backend, tmp_path):
    script = f"sys.modules[{backend!r}] = None\nimport disan_tf.layers"
    outcome = _python(_script(tmp_path, script), DISAN_TF_KERAS="3", KERAS_BACKEND=backend)
    last = outcome.stderr.splitlines()[-1]
    assert "Keras 3 cannot be imported (" in last and backend in last
    assert last.endswith("set KERAS_BACKEND=tensorflow before Python starts.")
    assert "direct cause of the following exception" in outcome.stderr


def test_doctor_says_what_is_missing(tmp_path):
    script = "sys.modules['tf_keras'] = None\nfrom disan_tf.cli.command_line import run\nrun()"
    outcome = _python(
        _script(tmp_path, script),
        "--mode=doctor",
        f"--prepared_dir={tmp_path}",
        TF_USE_LEGACY_KERAS="1",
    )
    assert outcome.returncode == 0, outcome.stderr
    assert "\nKeras: disan_tf needs Keras 2" in outcome.stdout
    assert outcome.stdout.endswith("\ndata: not examined, because its readers need Keras\n")
