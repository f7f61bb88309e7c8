"""checkpoints/FINDINGS.md, on GPUs: its figures are recorded."""

import pytest

from disan_tf.common.files import read_json
from disan_tf.common.installation import CHECKPOINTS

PAGE = CHECKPOINTS / "FINDINGS.md"


def _recorded(name: str) -> dict:
    return read_json(CHECKPOINTS / "benchmarks" / name, "restore it from the repository")


@pytest.fixture(scope="module")
def text():
    return " ".join(PAGE.read_text(encoding="utf-8").split())


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
