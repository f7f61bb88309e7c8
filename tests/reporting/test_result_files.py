"""disan_tf/reporting/result_files.py: a recorded result is a stranger's until it is checked."""

import json

import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.reporting.report import find_results, report
from disan_tf.reporting.result_files import (
    read_any_results,
    read_predictions,
    read_results,
)
from tests.support.runs.finished import config_of, write, write_run, write_series


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    write_run(folder / "runs/run", config_of())
    write_series(folder / "runs/series", config_of())
    report(folder / "runs", folder / "out")
    return {path.stem: json.loads(path.read_text()) for path in (folder / "out/results").iterdir()}


def _changed(result: dict, place: str, value) -> dict:
    """A copy with another value at a place such as "members.0.steps"; None = without it."""
    result = json.loads(json.dumps(result))
    *parents, name = place.split(".")
    inner = result
    for parent in parents:
        inner = inner[int(parent)] if isinstance(inner, list) else inner[parent]
    if value is None:
        del inner[name]
    else:
        inner[name] = value
    return result


@pytest.mark.parametrize(
    "name, place, value, message",
    [
        ("run", "steps", 0, "steps and epochs must be above 0"),
        ("run", "epochs", float("inf"), "steps and epochs must be above 0"),
        ("run", "steps", "30", "steps must be a number"),
        ("run", "dev_curve", [[10]], "dev_curve must have lists of 2 numbers"),
        ("run", "test.accuracy", "high", "test.accuracy must be a number"),
        ("run", "test", None, "test is missing"),
        ("run", "best_on_test", [], "best_on_test must be an object"),
        ("run", "selection_curve", [[10, 0.5]], "selection_curve must have lists of 3 numbers"),
        ("run", "test.confusion", {"matrix": [[1, 2], [3]]}, "matrix must be square"),
        ("run", "config.embedding", {}, "config.embedding.name is missing"),
        ("run", "data.training_examples", None, "data.training_examples is missing"),
        ("series", "members", [], "members is empty"),
        ("series", "members.1.epochs", -1.0, "steps and epochs must be above 0"),
        ("series", "mean.test", 0.5, "mean.test must be an object"),
        ("series", "by_length", {"1-4": {"accuracy": 0.5}}, "by_length.1-4.sentences is missing"),
    ],
)
def test_what_contradicts_itself_is_refused_with_its_place(
    results, tmp_path, name, place, value, message
):
    result = _changed(results[name], place, value)
    if name == "run" and place == "config.embedding":
        result["config"]["name"] = "elmo_disan_sst"
    write(tmp_path / "results/damaged.json", result)
    with pytest.raises(UserError, match=r"damaged\.json: ") as caught:
        report(None, tmp_path)
    assert message in str(caught.value)


def test_a_training_that_began_with_a_trained_model_is_recorded_but_in_no_table(tmp_path):
    start = {"name": "m", "sha256": "a", "words": 9, "words_found": 7, "head": False}
    write_run(tmp_path / "runs/ours", config_of(), test=0.41)
    write_run(tmp_path / "runs/tuned", config_of(), test=0.63, init_from=start)
    report(tmp_path / "runs", tmp_path / "out")
    results = tmp_path / "out/results"
    assert list(read_results(results)) == ["ours"]
    assert read_any_results(results)["tuned"]["init_from"] == start
    table = (tmp_path / "out/tables/disan_table_2.csv").read_text()
    assert "41.00" in table and "63.00" not in table
    found = find_results(tmp_path / "runs")
    assert "ours" in found and "tuned" not in found
    write(
        results / "tuned.json", {**read_any_results(results)["tuned"], "init_from": {"name": "m"}}
    )
    with pytest.raises(UserError, match=r"tuned\.json: init_from\.sha256 is missing"):
        read_results(results)


def test_whole_results_are_read(results, tmp_path):
    for name, result in results.items():
        write(tmp_path / f"{name}.json", result)
    assert read_results(tmp_path) == results


@pytest.mark.parametrize(
    "answers, labels",
    [
        (np.zeros(3), np.zeros(4)),
        (np.zeros([2, 2]), np.zeros([2, 2])),
        (np.zeros(0), np.zeros(0)),
        (np.array(["a"]), np.array(["a"])),
        (np.array([{}]), np.zeros(1)),
    ],
)
def test_answers_that_fit_no_labels_are_refused(answers, labels, tmp_path):
    arrays = {"run/predictions": answers, "run/labels": labels}
    np.savez_compressed(tmp_path / "a.npz", **arrays)
    with pytest.raises(UserError, match=r"a\.npz is damaged"):
        read_predictions(tmp_path)
