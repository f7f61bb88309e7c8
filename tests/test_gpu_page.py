"""checkpoints/FINDINGS.md, on GPUs: its arithmetic and its figures are recorded or computed."""

import pytest

from disan_tf.common.files import read_json
from disan_tf.common.installation import CHECKPOINTS
from tests.measurements import gpu_arithmetic
from tests.measurements.gpu_arithmetic import (
    PARAMETERS,
    Step,
    computed_pairs,
    core_passes,
    step_work,
    table,
)
from tests.test_parameter_counts import NLI

PAGE = CHECKPOINTS / "FINDINGS.md"


def _recorded(name: str) -> dict:
    return read_json(CHECKPOINTS / "benchmarks" / name, "restore it from the repository")


@pytest.fixture(scope="module")
def text():
    return " ".join(PAGE.read_text(encoding="utf-8").split())


def test_the_page_has_the_table(text):
    assert " ".join(table().split()) in text


def test_the_page_has_the_passes_of_the_core(text):
    forward, backward = core_passes()
    assert f"{forward} times forward, {backward} times backward" in text
    assert f"pairs x 4 bytes x {forward + backward}" in text


def test_the_page_has_the_recorded_differences(text):
    models = _recorded("measurements/device_steps_h100.json")["models"]
    keys = ("losses", "outputs", "moved")
    losses, outputs, weights = (max(found[key] for found in models.values()) for key in keys)
    assert f"at most {losses:.0e} in the losses, {outputs:.0e} in the outputs" in text
    assert f"and {weights:.0e} in the weights" in text and len(models) == 11


def test_the_page_has_the_recorded_times(text):
    steps = _recorded("disan_snli_h100.json")["step"]
    for form, sentence in [
        ("float32", "takes {:.0f} ms at lengths 15/8 and {:.0f} ms at 40/40"),
        ("products float32", "products alone take {:.1f} and {:.1f} ms"),
        ("dense", "takes {:.1f} and {:.1f} ms"),
    ]:
        times = [its["forms"][form]["median_ms"] for its in steps if its["kind"] == "train"]
        assert sentence.format(*times) in text


def test_the_parameters_are_those_of_the_model():
    assert NLI[""] == PARAMETERS


def test_one_block_holds_all_pairs_but_those_of_the_last_dependent(monkeypatch):
    monkeypatch.setattr(gpu_arithmetic, "GPU_BLOCK_NUMBERS", 6 * 5 * 5)
    assert computed_pairs(5, 6) == 5 * 4


def test_several_blocks_leave_out_later_tokens(monkeypatch):
    monkeypatch.setattr(gpu_arithmetic, "GPU_BLOCK_NUMBERS", 2 * 6 * 5)  # heads 0 1, 2 3, 4
    assert computed_pairs(5, 6) == 2 * (1 + 3 + 5)


def test_the_products_grow_with_the_tokens_and_the_pairs_with_their_square():
    short, long = step_work((10, 10)), step_work((40, 40))
    assert 3.5 < long.gflop / short.gflop < 4.1
    assert 15 < long.pairs / short.pairs < 18


def test_the_least_time_adds_arithmetic_and_memory():
    assert Step(20.0, 0, 3.0, 1.0).milliseconds(10, 1000) == pytest.approx(2 + 4)
