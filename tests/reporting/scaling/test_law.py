"""disan_tf/reporting/scaling/law.py: laws that are known are found, and forecast."""

import numpy as np
import pytest

from disan_tf.reporting.differences import Answers
from disan_tf.reporting.scaling.curves import find_curves
from disan_tf.reporting.scaling.law import (
    Law,
    fit_curve,
    fit_curves,
    fit_law,
    forecast,
    leave_out_parts,
)
from tests.support.runs.scaling import SIZES, A, B, C, error, scaling_predictions, scaling_results


def curve_of(sizes=SIZES, seeds=(1, 2), with_predictions=True):
    results = scaling_results(sizes, seeds)
    (curve,) = find_curves(results, scaling_predictions(results) if with_predictions else {})
    return curve


@pytest.mark.parametrize("law", [Law(A, B, C), Law(0.0, 3.0, 0.2), Law(0.3, 50.0, 0.8)])
def test_the_constants_of_exact_errors_are_found(law):
    sizes = np.array(SIZES)
    found = fit_law(sizes, law.error(sizes))
    assert found == pytest.approx(law, rel=0.02, abs=2e-3)


def test_constants_are_never_negative():
    sizes = np.array(SIZES)
    rising = fit_law(sizes, 0.2 + 1e-6 * sizes)
    assert rising.b == 0.0 and rising.a == pytest.approx(np.mean(0.2 + 1e-6 * sizes))
    falling = fit_law(sizes, 0.6 - 0.05 * np.log(sizes))  # below 0 in the end
    assert falling.a >= 0.0 and falling.b > 0.0 and falling.c >= 0.01


def test_the_largest_number_is_forecast_by_the_others():
    fit = fit_curve(curve_of(with_predictions=False))
    assert fit.held_out.error == pytest.approx(error(SIZES[-1]), abs=2e-3)
    assert fit.whole.error == pytest.approx(error(549_367), abs=5e-3)
    results = scaling_results()
    results["disan_89169"]["test"]["accuracy"] = 0.5  # is not seen by its own forecast
    (curve,) = find_curves(results, {})
    assert fit_curve(curve).held_out.error == pytest.approx(fit.held_out.error)


def test_the_interval_holds_the_truth_and_is_the_same_each_time():
    curve = curve_of()
    low, high = forecast(curve.points, 549_367).interval
    assert low < error(549_367) < high and 0.005 < high - low < 0.2
    assert forecast(curve.points, 549_367).interval == (low, high)


def test_the_interval_grows_with_the_distance():
    points = curve_of().points
    near, far = (forecast(points, examples).interval for examples in (SIZES[-1], 5_000_000))
    assert near[1] - near[0] < far[1] - far[0]


def test_there_is_no_interval_without_predictions_of_the_same_examples():
    assert forecast(curve_of(with_predictions=False).points, 549_367).interval is None
    results = scaling_results()
    predictions = scaling_predictions(results)
    other = Answers(np.ones(9, np.uint8), np.ones(9, np.uint8))
    (curve,) = find_curves(results, {**predictions, "disan_6000": [other]})
    assert forecast(curve.points, 549_367).interval is None


def test_three_numbers_of_examples_are_too_few():
    assert fit_curve(curve_of(SIZES[:3], with_predictions=False)) is None
    assert fit_curve(curve_of(SIZES[:4], with_predictions=False)) is not None


def test_of_the_runs_of_a_law_the_papers_tables_show_those_on_most_examples():
    results = {**scaling_results(), **scaling_results(SIZES[:3], encoder="source2token")}
    shown = leave_out_parts(results, fit_curves(results, {}))
    assert sorted(shown) == [
        f"disan_{SIZES[-1]}",
        *sorted(f"source2token_{size}" for size in SIZES[:3]),
    ]
