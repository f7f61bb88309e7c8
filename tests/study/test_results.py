"""disan_tf/study/results.py: a recorded result is a stranger's until it is checked."""

import json

import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.metrics.differences import Predictions
from disan_tf.runs.run import read_run
from disan_tf.runs.series_summary import member_name, summarise_series
from disan_tf.study.report import record, summarise
from disan_tf.study.results import (
    by_seed,
    describe_examples,
    describe_members,
    difference_to_published,
    members_of,
    read_any_run,
    read_predictions,
    read_records,
    read_result,
    read_results,
)
from tests.support.errors import user_error
from tests.support.runs.finished import config_of, write, write_run, write_series


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    write_run(folder / "run", config_of())
    write_series(folder / "series", config_of())
    return {name: summarise(folder / name, {}) for name in ("run", "series")}


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
        ("run", "dev_curve", [[10]], "dev_curve must have lists of 2 numbers"),
        ("run", "test.accuracy", "high", "test.accuracy must be a number"),
        ("run", "test", None, "test is missing"),
        ("run", "init_from", {"name": "m"}, "init_from.sha256 is missing"),
        ("run", "selection_curve", [[10, 0.5]], "selection_curve must have lists of 3 numbers"),
        ("run", "test.confusion", {"matrix": [[1, 2], [3]]}, "matrix must be square"),
        ("run", "config.embedding", {}, "config.embedding.name is missing"),
        ("series", "members", [], "members is empty"),
        ("series", "members.1.epochs", -1.0, "steps and epochs must be above 0"),
        ("series", "mean.test", 0.5, "mean.test must be an object"),
        ("series", "by_length", {"1-4": {"accuracy": 0.5}}, "by_length.1-4.sentences is missing"),
    ],
)
def test_what_contradicts_itself_is_refused_with_its_place(
    results, tmp_path, name, place, value, message
):
    write(tmp_path / f"results/{name}.json", results[name])
    assert read_results(tmp_path / "results") == {name: results[name]}
    write(tmp_path / "results/damaged.json", _changed(results[name], place, value))
    with pytest.raises(UserError, match=r"damaged\.json: ") as caught:
        read_results(tmp_path / "results")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "predictions, labels",
    [
        (np.zeros(3), np.zeros(4)),
        (np.zeros([2, 2]), np.zeros([2, 2])),
        (np.zeros(0), np.zeros(0)),
        (np.array(["a"]), np.array(["a"])),
        (np.array([{}]), np.zeros(1)),
    ],
)
def test_predictions_that_fit_no_labels_are_refused(predictions, labels, tmp_path):
    arrays = {"run/predictions": predictions, "run/labels": labels}
    np.savez_compressed(tmp_path / "a.npz", **arrays)
    with pytest.raises(UserError, match=r"a\.npz is damaged"):
        read_predictions(tmp_path / "a.npz")


def test_predictions_are_kept_by_member_and_refused_if_they_are_damaged(tmp_path):
    labels = np.zeros(300, np.uint8)
    arrays = {f"{k}/{field}": labels + k for k in (1, 2) for field in ("predictions", "labels")}
    np.savez(tmp_path / "ours.npz", **arrays)
    first, second = read_predictions(tmp_path / "ours.npz")
    assert (first.predictions[0], second.labels[0]) == (1, 2)
    (tmp_path / "ours.npz").write_bytes((tmp_path / "ours.npz").read_bytes()[:100])
    with pytest.raises(UserError, match="ours.npz is damaged .*; restore it"):
        read_predictions(tmp_path / "ours.npz")


def test_recorded_predictions_have_the_members_and_the_scores_of_their_result():
    for path in sorted((CHECKPOINTS / "predictions").rglob("*.npz")):
        name = path.relative_to(CHECKPOINTS / "predictions").with_suffix(".json")
        result = read_result(CHECKPOINTS / "results" / name)
        with np.load(path) as arrays:
            stored = list(dict.fromkeys(key.rpartition("/")[0] for key in arrays))
        members = members_of(result)
        assert stored == [m.get("name", member_name(result["config"])) for m in members], name
        for member, (predictions, labels) in zip(members, read_predictions(path)):
            scores = member.get("scores", member)["test"]
            if "accuracy" in scores:
                assert scores["accuracy"] == pytest.approx(np.mean(predictions == labels)), name
            else:
                r = np.corrcoef(predictions, labels)[0, 1]
                assert scores["pearson"] == pytest.approx(r, abs=1e-5), name


@pytest.mark.parametrize("damage", [{"machine": None}, {"encoders": {"encoders": {"a": 1}}}])
def test_a_damaged_benchmark_is_refused_by_its_name(tmp_path, damage):
    machine = {"processor": "a", "threads": 2, "tensorflow": "2.15.1"}
    path = tmp_path / "benchmarks/disan_encoders.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"machine": machine}))
    assert read_records(tmp_path).benchmarks["disan_encoders"]["machine"] == machine
    path.write_text(json.dumps({"machine": machine, **damage}))
    with pytest.raises(UserError, match=f"{path}.*restore it"):
        read_records(tmp_path)


def test_a_recorded_result_equals_the_run_that_was_recorded(tmp_path):
    folder = write_series(tmp_path / "runs" / "mine", config_of(), tests=(0.4, 0.6))
    for seed in (1, 2):
        labels = np.array([0, 1, 1, 0], np.uint8)
        path = folder / f"seed-{seed}" / "evaluation/test.npz"
        np.savez(path, predictions=labels, labels=labels, step=20)
    record(tmp_path / "runs", tmp_path / "out")
    own, recorded = read_run(str(folder)), read_any_run("mine", tmp_path / "out")
    assert recorded.config == own.config
    for mine, theirs in zip(own.members, recorded.members):
        assert (mine.best, mine.curve) == (theirs.best, theirs.curve)
        assert mine.scores["test"] == theirs.scores["test"]
        np.testing.assert_array_equal(mine.predictions["test"], theirs.predictions["test"])


def test_an_unknown_run_is_refused_with_the_nearest(tmp_path):
    folder = write_run(tmp_path / "first", config_of())
    message = user_error(read_any_run, f"{tmp_path}/frist")
    assert message.endswith(f"nor a recorded result; did you mean {folder}?")


@pytest.mark.parametrize(
    "drawn, kept, trained",
    [(0, 900, "900"), (400, 900, "400"), (950, 900, "900"), (0, 15_000, "1,000")],
    ids=["all", "a draw", "more than there are", "phrases of the trees"],
)
def test_the_training_examples_are_those_that_were_trained_on(drawn, kept, trained):
    data = {"training_examples": kept, "training_read": 1000, "unit": "trees"}
    data["official_training_examples"] = 2000
    run = {"config": {"train": {"examples": drawn}}, "data": data}
    assert describe_examples(run).startswith(f"{trained} of 2,000 trees (")


@pytest.mark.parametrize(
    "folds, shown", [([0, 1, 2], "seed 1, 3 folds"), ([0, 2], "seed 1, folds 0, 2 of 3")]
)
def test_folds_are_counted(folds, shown, tmp_path):
    members = [{"seed": 1, "fold": fold} for fold in folds]
    assert describe_members({"config": config_of("cr", folds=3), "members": members}) == shown
    config = config_of("table", folds=3, fold=-1)
    assert describe_members({"config": config}) == "seed 3"
    series = summarise_series(write_series(tmp_path / "a", config, tests=(0.4, 0.5)))
    assert describe_members({**series, "config": config}) == "seeds 1, 2"


def test_the_recorded_folds_of_a_seed_are_read_as_one_model():
    (kept,) = read_records(CHECKPOINTS).predictions["disan_subj_glove_100d"]
    assert len(kept.labels) == 10_000


def test_folds_count_as_one_model_beside_a_published_score():
    labels = np.zeros(500, np.uint8)
    folds = [Predictions(labels, labels), Predictions(labels, labels + 1)]
    members = [{"seed": 1, "fold": fold, "scores": {}} for fold in (1, 2)]
    run = {"config": config_of("cr", folds=2), "members": members}
    run["mean"] = {"test": {"accuracy": 0.5}}

    def difference():
        kept = by_seed(run["members"], folds)
        return difference_to_published(run, kept, "test", "accuracy", 0.4)

    value, interval, covers = difference()
    half = 1.96 * np.sqrt(0.25 / 1000)
    assert value == pytest.approx(0.1) and covers == "one seed: examples only"
    assert interval == pytest.approx((0.1, 0.1 - half, 0.1 + half), abs=0.005)
    assert difference_to_published(run, [], "test", "accuracy", 0.4)[1] is None

    run["members"] = [*members, *({**member, "seed": 2} for member in members[::-1])]
    folds += folds[::-1]
    value, of_seeds, covers = difference()
    assert covers == "seeds and examples"  # two equal seeds do not halve the variance
    assert of_seeds == pytest.approx(interval, abs=0.002)
    del run["members"][-1]
    assert difference()[2] == "no interval: the seeds have different test examples"
