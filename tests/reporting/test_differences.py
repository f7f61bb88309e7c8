"""Differences of two models: values by hand, intervals that hold what they should."""

import io
import json

import numpy as np
import pytest
from scipy import stats

from disan_tf.common.errors import UserError
from disan_tf.reporting.differences import Answers, difference, difference_over_all
from disan_tf.reporting.paper_tables import render_tables
from disan_tf.reporting.report import report
from disan_tf.reporting.result_files import read_predictions, read_results
from tests.support.runs.finished import config_of, write_run, write_series

EXAMPLES = 1000
GENERATOR = np.random.default_rng(5)
LABELS = GENERATOR.integers(0, 5, EXAMPLES).astype(np.uint8)


def _right(share, labels=LABELS, seed=0):
    """Answers of which about this share is right."""
    right = np.random.default_rng(seed).random(len(labels)) < share
    return Answers(np.where(right, labels, (labels + 1) % 5).astype(np.uint8), labels)


def _accuracy(answers):
    return np.mean(answers.predictions == answers.labels)


def test_the_difference_is_that_of_the_means_over_the_members():
    ours, others = [_right(0.5, seed=1), _right(0.7, seed=2)], [_right(0.4, seed=3)]
    found = difference(ours, others, "accuracy")
    expected = np.mean([_accuracy(each) for each in ours]) - _accuracy(others[0])
    assert found.value == pytest.approx(expected)
    assert found.low < found.value < found.high


def test_the_interval_is_about_that_of_the_normal_distribution():
    one, other = _right(0.6, seed=1), _right(0.5, seed=2)
    found = difference([one], [other], "accuracy")
    gains = (one.predictions == LABELS).astype(float) - (other.predictions == LABELS)
    half = 1.96 * np.std(gains) / np.sqrt(EXAMPLES)
    assert found.low == pytest.approx(found.value - half, abs=0.004)
    assert found.high == pytest.approx(found.value + half, abs=0.004)


def test_a_model_does_not_differ_from_itself():
    assert difference([_right(0.5)], [_right(0.5)], "accuracy") == (0.0, 0.0, 0.0)


def test_correlations_are_pearsons():
    labels = GENERATOR.uniform(1, 5, EXAMPLES).astype(np.float32)
    noisy = [
        Answers((labels + GENERATOR.normal(0, width, EXAMPLES)).astype(np.float32), labels)
        for width in (0.5, 0.6, 1.0)
    ]
    found = difference(noisy[:2], noisy[2:], "pearson")
    first, second, third = (stats.pearsonr(each.predictions, labels)[0] for each in noisy)
    assert found.value == pytest.approx((first + second) / 2 - third, abs=1e-6)
    assert 0 < found.low < found.value < found.high
    assert difference(noisy[2:], noisy[:2], "pearson").value == pytest.approx(-found.value)


def test_other_examples_cannot_be_compared():
    other = np.roll(LABELS, 1)
    assert difference([_right(0.5)], [_right(0.5, other)], "accuracy") is None


# Seeds and examples


def _clone(share, count=3):
    """Members with the same predictions."""
    return [_right(share, seed=1)] * count


def _members(shares):
    """Members that differ in accuracy, each correct on the first examples."""
    labels = np.zeros(EXAMPLES, np.uint8)
    return [
        Answers((np.arange(EXAMPLES) >= share * EXAMPLES).astype(np.uint8), labels)
        for share in shares
    ]


def test_equal_systems_differ_by_nothing_within_an_interval_that_holds_0():
    ours = [_right(0.5, seed=seed) for seed in (1, 2, 3)]
    found = difference(ours, ours[::-1], "accuracy", over_seeds=True)
    assert found.value == pytest.approx(0.0, abs=1e-12)
    assert found.low < 0 < found.high


def test_a_class_that_one_system_shifts_costs_its_share():
    labels = np.repeat(np.arange(5, dtype=np.uint8), EXAMPLES // 5)
    correct = Answers(labels, labels)
    shifted = Answers(np.where(labels == 4, 0, labels).astype(np.uint8), labels)
    found = difference([correct] * 2, [shifted] * 2, "accuracy", over_seeds=True)
    half = 1.96 * np.sqrt(0.2 * 0.8 / EXAMPLES)
    assert found.value == pytest.approx(0.2)
    assert found.low == pytest.approx(0.2 - half, abs=0.004)
    assert found.high == pytest.approx(0.2 + half, abs=0.004)


def test_members_that_agree_add_nothing_to_the_interval_over_examples():
    members = (_clone(0.6), _clone(0.5))
    assert difference(*members, "accuracy", over_seeds=True) == pytest.approx(
        difference(*members, "accuracy")
    )


def test_more_variation_over_seeds_widens_the_interval():
    widths = []
    for spread in (0.0, 0.05, 0.10):
        ours = _members((0.6 - spread, 0.6, 0.6 + spread))
        found = difference(ours, _members((0.5, 0.5, 0.5)), "accuracy", over_seeds=True)
        widths.append(found.high - found.low)
    assert widths[0] < widths[1] < widths[2]


def test_the_variation_over_seeds_is_that_of_the_sample():
    shares = np.linspace(0.3, 0.9, 4)
    ours, others = _members(shares), _members((0.0, 0.0))
    found = difference(ours, others, "accuracy", over_seeds=True)
    error = np.sqrt(np.var(shares, ddof=1) / 4)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * error, rel=0.12)


def test_an_interval_covers_the_seeds_where_both_sides_have_several():
    several, others = _members((0.5, 0.6, 0.7)), _members((0.5, 0.5))
    found, covers = difference_over_all(several, others, "accuracy")
    assert (found, covers) == (
        difference(several, others, "accuracy", over_seeds=True),
        "seeds and examples",
    )
    found, covers = difference_over_all(several, others[:1], "accuracy")
    assert (found, covers) == (
        difference(several, others[:1], "accuracy"),
        "one seed: examples only",
    )


def test_the_draws_are_the_same_each_time():
    members = ([_right(0.6, seed=1), _right(0.5, seed=2)], [_right(0.5, seed=3)] * 2)
    first = difference(*members, "accuracy", over_seeds=True)
    assert difference(*members, "accuracy", over_seeds=True) == first


# From work directories to tables


def _write_answers(folder, answers, step=20):
    content = io.BytesIO()
    np.savez_compressed(content, **answers._asdict(), step=step)
    (folder / "evaluation/test.npz").write_bytes(content.getvalue())


@pytest.fixture
def output(tmp_path):
    """What `report` made of a series of DiSAN and a run of its Bi-LSTM."""
    series = write_series(tmp_path / "runs/ours", config_of())
    for seed, share in enumerate((0.4, 0.5, 0.6), start=1):
        _write_answers(series / f"seed-{seed}", _right(share, seed=seed))
    other = write_run(tmp_path / "runs/bi_lstm", config_of(encoder="bi_lstm"))
    _write_answers(other, _right(0.3))
    report(tmp_path / "runs", tmp_path / "output")
    return tmp_path / "output"


def _cells(text, model):
    head, _, *rows = (line.split(" | ") for line in text.splitlines() if line.startswith("| "))
    (row,) = (row for row in rows if model in row[0])
    return dict(zip(head, row))


def test_a_row_has_its_difference_to_the_papers_model(output):
    text = (output / "tables/disan_table_2.md").read_text()
    column = "test, difference to DiSAN (95 % interval) |"
    predictions = read_predictions(output / "predictions")
    found = difference(predictions["bi_lstm"], predictions["ours"], "accuracy")
    low, high = (f"{100 * bound:+.2f}" for bound in found[1:])
    cell = f"{100 * found.value:+.2f} ({low} to {high}; one seed: examples only) |"
    assert _cells(text, "Bi-LSTM")[column] == cell
    assert found.value == pytest.approx(-0.2, abs=0.03)
    assert _cells(text, "additive")[column].strip() == "|"


def test_of_the_main_models_runs_that_with_most_members_is_compared(output):
    results = read_results(output / "results")
    single = {**results["bi_lstm"], "config": results["ours"]["config"]}
    predictions = read_predictions(output / "predictions")
    table = "disan_table_2.md"
    expected = _cells(render_tables(results, predictions)[table], "Bi-LSTM")
    results = {"a_single": single, **results, "single": single}
    predictions.update(a_single=[_right(0.9)], single=[_right(0.9)])
    found = _cells(render_tables(results, predictions)[table], "Bi-LSTM")
    column = next(column for column in expected if "difference" in column)
    assert found[column] == expected[column] != ""


def test_predictions_are_kept_by_member(output):
    found = read_predictions(output / "predictions")
    assert {name: len(members) for name, members in found.items()} == {"bi_lstm": 1, "ours": 3}
    np.testing.assert_array_equal(found["bi_lstm"][0].predictions, _right(0.3).predictions)


def test_answers_of_another_step_are_not_kept(tmp_path):
    run = write_run(tmp_path / "run", config_of())
    _write_answers(run, _right(0.5), step=10)
    report(run, tmp_path / "output")
    assert not (tmp_path / "output/predictions").exists()


@pytest.mark.parametrize(("part", "option"), [("data", "level"), ("train", "examples")])
def test_other_data_is_not_compared(output, part, option):
    path = output / "results/bi_lstm.json"
    run = json.loads(path.read_text())
    run["config"][part][option] = 10
    results = {"bi_lstm": run, "ours": json.loads((output / "results/ours.json").read_text())}
    tables = render_tables(results, read_predictions(output / "predictions"))
    text = tables["disan_table_2.md"]
    assert "| no run of DiSAN on these data |" in text and " to +" not in text


def test_damaged_predictions_are_refused(output):
    path = output / "predictions/ours.npz"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(UserError, match="ours.npz is damaged .*; restore it"):
        read_predictions(path.parent)
