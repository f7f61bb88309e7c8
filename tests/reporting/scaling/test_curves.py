"""disan_tf/reporting/scaling/curves.py: which runs are points of one curve."""

import numpy as np
import pytest

from disan_tf.reporting.differences import Answers
from disan_tf.reporting.results import training_examples
from disan_tf.reporting.scaling.curves import find_curves
from tests.support.runs.scaling import SIZES, error, scaling_predictions, scaling_results


def test_runs_that_differ_in_the_number_of_examples_are_one_curve():
    (curve,) = find_curves(scaling_results(), {})
    assert [point.examples for point in curve.points] == list(SIZES)
    assert [point.error for point in curve.points] == pytest.approx(list(map(error, SIZES)))
    assert (curve.model, curve.corpus, curve.paper) == ("DiSAN", "SNLI", "85.62")
    assert curve.whole == 549_367


def test_a_run_without_a_draw_has_all_that_the_corpus_kept():
    results = scaling_results()
    assert training_examples(results["disan_89169"]) == 89_169
    results["disan_89169"]["config"]["train"]["examples"] = 94_108  # more than there are
    assert training_examples(results["disan_89169"]) == 89_169


def test_other_encoders_and_other_vectors_are_other_curves():
    results = {**scaling_results(), **scaling_results(encoder="source2token")}
    results["disan_6000"]["config"]["data"]["vectors"] = "glove/other.txt"
    found = {curve.model: len(curve.points) for curve in find_curves(results, {})}
    assert found == {"DiSAN": 4, "Word Embedding with s2t self-attention": 5}


def test_seeds_are_members_of_a_point_as_a_series_or_as_runs():
    series = scaling_results(SIZES[:2], seeds=(1, 2))
    single = {f"again_{name}": run for name, run in scaling_results(SIZES[:1]).items()}
    (curve,) = find_curves({**series, **single}, {})
    assert [len(point.members) for point in curve.points] == [3, 2]
    assert curve.points[0].deviation == pytest.approx(0.0)


def test_kept_predictions_tell_the_error():
    results = scaling_results(SIZES[:2])
    predictions = scaling_predictions(results)
    labels = np.zeros(4, np.uint8)
    predictions["disan_6000"] = [Answers(np.array([0, 0, 0, 1], np.uint8), labels)]
    (curve,) = find_curves(results, predictions)
    assert curve.points[0].error == 0.25


def test_one_number_of_examples_is_no_curve():
    results = scaling_results(SIZES[:1])
    results["relatedness"] = {**results["disan_6000"], "test": {"pearson": 0.8}}
    assert find_curves(results, {}) == []
