"""The report of a language model against numbers computed by hand."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from disan_tf.metrics.perplexity import headline, summarise, tables
from disan_tf.training.evaluation import render

# Three sentences of 2, 1 and 4 words, each with an end: -ln p forward and backward, and how many.
ANSWERS = np.array([[2.0, 3.0, 3.0], [1.0, 1.5, 2.0], [4.0, 1.5, 5.0]], np.float32)
IDS = np.array([5, 1, 2, 1, 1, 7, 3], np.int32)
REPORT = {
    "perplexity": 61.7,
    "forward_perplexity": 60.254,
    "backward_perplexity": 63.1,
    "predictions": 12_345,
    "unknown_words": 0.0234,
}


@pytest.fixture
def summary():
    return summarise(SimpleNamespace(ids={"sentence": IDS}), ANSWERS, ["text"])


def test_perplexities_of_a_hand_computed_case(summary):
    assert summary == pytest.approx({
        "log_likelihood": -13 / 20,
        "perplexity": np.exp(13 / 20),
        "forward_perplexity": np.exp(7 / 10),
        "backward_perplexity": np.exp(6 / 10),
        "predictions": 10,
        "unknown_words": 3 / 7,
    })  # fmt: skip


def test_json_holds_the_summary(summary):
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_the_headline_has_the_perplexities():
    assert headline(REPORT) == (
        "perplexity 61.70 (forward 60.25, backward 63.10) over 12,345 words, 2.34% unknown"
    )


def test_there_are_no_tables():
    assert tables(REPORT) == []


def test_a_rendered_report_is_its_headline():
    about = {"config": "demo", "step": 1500, "split": "test", "examples": 3, "loss": 0.5}
    text = render({**about, "criterion": "log_likelihood", **REPORT})
    assert text == f"demo, step 1,500, on test: 3 examples\n{headline(REPORT)}, loss 0.5000"
