"""The names of the package, which a user finds without knowing its folders."""

import sys

import pytest

import disan_tf
from tests.support.processes import run_program

PROGRAM = """
import sys, time
started = time.perf_counter()
import disan_tf
print(time.perf_counter() - started, "tensorflow" in sys.modules)
"""


def test_importing_the_package_imports_no_tensorflow_and_takes_a_moment():
    result = run_program(sys.executable, "-c", PROGRAM)
    seconds, has_tensorflow = result.stdout.split()
    assert has_tensorflow == "False", result.stderr
    assert float(seconds) < 2  # 0.03 s on an idle machine


@pytest.mark.parametrize("name", disan_tf.__all__)
def test_every_public_name_is_there_and_shown(name):
    assert getattr(disan_tf, name) is not None
    assert name in dir(disan_tf)


def test_nothing_else_is_shown():
    assert {*dir(disan_tf)} == {*disan_tf.__all__, "__version__"}


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'disan_tf' has no attribute 'encodes'"):
        disan_tf.encodes  # noqa: B018


def test_presets_are_the_released_models_with_task_and_score():
    presets = {preset.name: preset for preset in disan_tf.presets()}
    assert presets["disan_sick"].task == "relatedness"
    assert presets["disan_sick"].metric == "pearson"
    assert presets["disan_snli"].classes == ("contradiction", "neutral", "entailment")
    assert all(0 < preset.score <= 1 for preset in presets.values())
    assert len(presets["disan_trec"].classes) == 6
    model = disan_tf.load("demo")
    assert presets["demo"].classes == tuple(model.classes) and len(model.fields) == 1
    assert presets["demo"].task == "classification"
