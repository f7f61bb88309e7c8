"""disan_tf/study/reproduce.py: tolerances and verdicts of rows, and their page."""

import copy
import math

import pytest

from disan_tf.common.installation import CHECKPOINTS
from disan_tf.study.reproduce import (
    CLOSE,
    FAIL,
    LIMITS,
    OK,
    RULE,
    find_target,
    judge,
    judge_released,
    list_rows,
    read_targets,
    render_rows,
)
from disan_tf.study.results import read_results
from tests.support.errors import user_error

TARGETS = read_targets(read_results(CHECKPOINTS / "results"))
SNLI = TARGETS["disan/snli/without_directions"]  # three seeds, as SICK
SICK = TARGETS["disan/sick"]


def _run(target, change, seeds=None, examples=None):
    """The recorded result with another test score, number of seeds and of training examples."""
    run = copy.deepcopy(target.result)
    run["mean"]["test"][target.score.key] += change
    run["members"] = run["members"][: seeds or len(run["members"])]
    run["data"]["training_examples"] = examples or run["data"]["training_examples"]
    return run


@pytest.mark.parametrize(
    "name, seeds, tolerance",
    [
        # 2 sqrt(.7601 * .2399 / 9824) sqrt(1/3 + 1/3); the seeds' .0004 is smaller
        ("disan/snli/without_directions", 3, 0.0070),
        ("disan/snli/without_directions", 1, 0.0099),
        # the seeds' .0056 is larger than sqrt(.7411 * .2589 / 9824) = .0044
        ("resan/snli", 3, 0.0091),
        # 2 (1 - .8685 ** 2) / sqrt(4927) sqrt(1/3 + 1/3); the seeds' .0010 is smaller
        ("disan/sick", 3, 0.0057),
        ("disan/sick", 1, 0.0081),
        # all 3,770 sentences of ten folds: 2 sqrt(.822 * .178 / 3770) sqrt(1 + 1)
        ("disan/cr", 1, 0.0176),
        # 2 sqrt(.4403 * .5597 / 2210) sqrt(1 + 1) = .0299 is above the limit
        ("disan/sst/multi_head", 1, 0.02),
        ("resan/sick/multi_window_cnn", 1, 0.01),
    ],
)
def test_a_tolerance_follows_from_seeds_and_examples(name, seeds, tolerance):
    assert TARGETS[name].tolerance(seeds) == pytest.approx(tolerance, abs=0.00006)


def test_no_tolerance_is_above_the_limit_or_0():
    recorded = [target for target in TARGETS.values() if target.result is not None]
    assert len(recorded) > 60
    for target in recorded:
        assert 0 < target.tolerance(1) <= LIMITS[target.score.key]
    assert LIMITS == {"accuracy": 0.02, "pearson": 0.01}


@pytest.mark.parametrize(
    "target, tolerances, word",
    [(SNLI, 0, OK), (SNLI, 0.99, OK), (SICK, -0.99, OK), (SNLI, -1.01, CLOSE), (SICK, 1.49, CLOSE)]
    + [(SNLI, 1.51, FAIL), (SICK, -1.51, FAIL)],
)
def test_a_verdict_is_that_of_the_difference(target, tolerances, word):
    change = tolerances * target.tolerance(3)
    assert judge(target, _run(target, change)).word == word
    if tolerances == -1.01:  # fewer seeds have a larger tolerance
        assert judge(target, _run(target, change, seeds=1)).word == OK


@pytest.mark.parametrize("share, word", [(0.995, OK), (0.98, FAIL), (1.02, FAIL)])
def test_a_run_on_other_training_examples_fails_whatever_its_score(share, word):
    examples = round(share * SNLI.result["data"]["training_examples"])
    verdict = judge(SNLI, _run(SNLI, 0.0, examples=examples))
    assert verdict.word == word
    assert ("recorded run on 89,169" in str(verdict)) == (word == FAIL)
    assert judge(SICK, _run(SICK, math.nan)).word == FAIL


def test_a_verdict_stands_below_the_scores_and_the_tolerance():
    assert str(judge(SNLI, _run(SNLI, -0.005))).splitlines() == [
        "disan/snli/without_directions: DiSAN without directions, accuracy in per cent on test",
        "  paper     84.66",
        "  recorded  76.01 (0.04), seeds 1, 2, 3",
        "  yours     75.51 (0.04), seeds 1, 2, 3; dev 75.83 (0.28)",
        "difference -0.50, tolerance 0.70 = 2 x 0.43 x sqrt(1/3 + 1/3), at most 2.00",
        "OK",
    ]


@pytest.mark.parametrize(
    "name, key, change, word",
    [
        ("disan/trec", "accuracy", 2 / 500, OK),
        ("disan/trec", "accuracy", -3 / 500, FAIL),
        ("disan/sick", "pearson", 0.0005, OK),
        ("disan/sick", "pearson", -0.0007, FAIL),
    ],
)
def test_a_released_model_may_differ_in_two_examples_or_little_of_r(name, key, change, word):
    verdict = judge_released(TARGETS[name], 0.9, {key: 0.9 + change, "examples": 500})
    assert verdict.word == word
    tolerance = "0.0040 (2 examples)" if key == "accuracy" else "0.0005 (0.0005 of r)"
    assert str(verdict).splitlines()[-2].endswith(f"tolerance {tolerance}")


def test_a_row_that_is_unknown_or_was_never_run_is_refused():
    text = user_error(find_target, TARGETS, "disan/sik")
    assert "--row=disan/sik names no row" in text and "did you mean disan/sick" in text
    text = user_error(find_target, TARGETS, "elmo_disan/sst")
    assert "no recorded result" in text and "python run.py --config=configs/elmo" in text
    assert find_target(TARGETS, "disan/sick") is SICK


def test_the_page_has_the_rule_and_all_rows():
    assert render_rows(TARGETS).startswith(f"{RULE}\n\n| row | paper | ours |")
    lines = {line["row"]: line for line in list_rows(TARGETS)}
    assert lines["disan/cr"] == {
        "row": "disan/cr",
        "paper": "84.8 (2.0)",
        "ours": "82.2 (1.7)",
        "tolerance": "1.8",
        "seeds": "1 x 10 folds",
        "hours": "1.6",
        "downloads": "polarity, glove.6B",
        "released model": "",
    }
    assert lines["elmo_disan/sst"]["ours"] == "not run"
    assert lines["demo"]["downloads"] == "none"
