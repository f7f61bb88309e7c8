"""The data of the papers' figures, and ELMo-DiSAN's confusions and costs."""

import csv
import io

from disan_tf.study.figures.data import (
    accuracy_per_epoch,
    costs,
    render_confusions,
    render_figure_data,
)
from tests.support.runs.training import load_config


def test_figures_without_data_have_no_file():
    assert list(render_figure_data({})) == ["elmo_disan_tables_2_3.md"]


def test_accuracy_by_length_is_the_mean_over_a_series(recorded):
    files = render_figure_data({"mine": recorded(tests=(0.4, 0.6))})
    (line,) = csv.DictReader(io.StringIO(files["disan_figure_5.csv"]))
    shown = {"accuracy, %": "50.00", "standard deviation, %": "0.00"}
    assert line == {"run": "mine", "tokens": "1-4", "sentences": "4.0", **shown}


def _elmo(variant="small_bilm", **changed):
    config = load_config("elmo_disan_sst", variant).to_dict()
    matrix = [[2, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0] * 5, [0, 0, 0, 3, 1], [0, 0, 0, 0, 4]]
    run = {"config": config, "test": {"confusion": {"matrix": matrix}}, "steps": 40, "epochs": 2.0}
    curves = {"dev_curve": [[10, 0.25], [20, 0.5]], "test_curve": [[10, 0.2], [20, 0.4]]}
    return {**run, **curves, **changed}


def _series(*members):
    numbered = enumerate(members, start=1)
    members = [{**run, "name": f"seed-{k}", "seed": k, "fold": None} for k, run in numbered]
    matrix = [[4, 0, 0, 0, 0], *[[0, 0, 0, 0, 8]] * 4]
    return {"config": members[0]["config"], "members": members, "confusion": {"matrix": matrix}}


def test_our_confusions_stand_after_the_papers_with_the_share_that_is_right():
    other = _elmo(config=load_config("disan_sst").to_dict())
    text = render_confusions({"mine": _elmo(), "both": _series(_elmo(), _elmo()), "other": other})
    assert text.index("DiSAN + ELMo, the paper") < text.index("mine, ours, seed 1")
    assert "| very negative | 95 | 157 | 8 | 18 | 1 | 34.1 |" in text
    assert "| positive | 0 | 0 | 0 | 3 | 1 | 75.0 |" in text
    assert "| neutral | 0 | 0 | 0 | 0 | 0 | 0.0 |" in text
    assert "both, ours, seeds 1, 2" in text and "other" not in text
    assert "| very negative | 4 | 0 | 0 | 0 | 0 | 100.0 |" in text


def test_curves_of_runs_and_of_each_member_are_in_epochs():
    assert accuracy_per_epoch({"mine": _elmo()}) == [
        {"run": "mine", "epoch": 0.5, "dev, %": "25.00", "test, %": "20.00"},
        {"run": "mine", "epoch": 1.0, "dev, %": "50.00", "test, %": "40.00"},
    ]
    series = _series(_elmo(steps=20), _elmo(test_curve=[[10, 0.2]]))
    rows = accuracy_per_epoch({"both": series})
    shown = [(row["run"], row["epoch"], row["test, %"]) for row in rows]
    assert shown[:2] == [("both seed-1", 1.0, "20.00"), ("both seed-1", 2.0, "40.00")]
    assert shown[2:] == [("both seed-2", 0.5, "20.00"), ("both seed-2", 1.0, "")]


def test_a_run_costs_what_an_epoch_of_glove_costs_so_often():
    seconds = {"glove": 20.0, "small_bilm": 25.0, "": 110.0}
    data = {"training_examples": 900}
    runs = {
        variant: _elmo(variant, parameters=5, seconds_per_epoch=epoch, data=data)
        for variant, epoch in seconds.items()
    }
    less = {"training_examples": 800}
    runs["others"] = _elmo("random", parameters=5, seconds_per_epoch=9.0, data=less)
    rows = {row["run"]: row for row in costs(runs)}
    ratios = {"glove": 1.0, "small_bilm": 1.25, "": 5.5, "others": ""}
    assert {name: row["ratio to GloVe"] for name, row in rows.items()} == ratios
    assert [rows[name]["ratio, paper"] for name in seconds] == ["1", "", "6"]
    tiny = load_config("elmo_disan_sst", "tiny").to_dict()
    assert costs({"tiny": {**runs["glove"], "config": tiny}}) == []
