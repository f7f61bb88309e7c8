"""The confusions and curves of the ELMo-DiSAN paper, with ours beside them."""

import pytest

from disan_tf.reporting.paper_tables import accuracy_per_epoch, costs, render_confusions
from disan_tf.reporting.papers import TABLES, find_row
from tests.support.runs.training import load_config

GLOVE, ELMO = "DiSAN + GloVe", "DiSAN + ELMo"
CONFUSIONS = {row.model: row.confusion for row in TABLES["elmo_disan_table_1"].rows}
# Sec. IV, in per cent. It prints 18.6 for neutral with ELMo: 95 over the 510 of the next row.
RIGHT = {GLOVE: (34.1, 70.6, 8.7, 72.2, 49.9), ELMO: (27.2, 74.9, 24.4, 59.8, 62.4)}
ACCURACY = {GLOVE: 51.72, ELMO: 54.25}
TEST_SENTENCES = 2210
_LESS = {"training_examples": 800}


def _run(variant="small_bilm", **changed):
    config = load_config("elmo_disan_sst", variant).to_dict()
    matrix = [[2, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0] * 5, [0, 0, 0, 3, 1], [0, 0, 0, 0, 4]]
    run = {"config": config, "test": {"confusion": {"matrix": matrix}}, "steps": 40, "epochs": 2.0}
    curves = {"dev_curve": [[10, 0.25], [20, 0.5]], "test_curve": [[10, 0.2], [20, 0.4]]}
    return {**run, **curves, **changed}


@pytest.mark.parametrize("model", [GLOVE, ELMO])
def test_the_papers_percentages_follow_from_its_matrices(model):
    for number, (row, printed) in enumerate(zip(CONFUSIONS[model], RIGHT[model])):
        assert 100 * row[number] / sum(row) == pytest.approx(printed, abs=0.06)


@pytest.mark.parametrize("model", [GLOVE, ELMO])
def test_the_matrices_are_of_all_test_sentences_and_give_the_accuracy(model):
    matrix = CONFUSIONS[model]
    assert sum(map(sum, matrix)) == TEST_SENTENCES
    right = sum(row[number] for number, row in enumerate(matrix))
    assert 100 * right / TEST_SENTENCES == pytest.approx(ACCURACY[model], abs=0.005)


def test_ours_stand_after_the_papers_with_the_share_that_is_right():
    text = render_confusions({"mine": _run()})
    assert text.index("DiSAN + ELMo, the paper") < text.index("mine, ours, seed 1")
    assert "| very negative | 95 | 157 | 8 | 18 | 1 | 34.1 |" in text
    assert "| positive | 0 | 0 | 0 | 3 | 1 | 75.0 |" in text
    assert "| neutral | 0 | 0 | 0 | 0 | 0 | 0.0 |" in text


def test_runs_of_other_configs_are_left_out():
    other = _run(config=load_config("disan_sst").to_dict())
    assert "ours" not in render_confusions({"other": other})
    assert accuracy_per_epoch({"other": other}) == []


def test_a_series_has_the_sum_of_its_members():
    single = _run()
    members = [{"name": f"seed-{seed}", "seed": seed, "fold": None} for seed in (1, 2)]
    matrix = [[4, 0, 0, 0, 0], *[[0, 0, 0, 0, 8]] * 4]
    series = {"config": single["config"], "members": members, "confusion": {"matrix": matrix}}
    text = render_confusions({"both": series})
    assert "both, ours, seeds 1, 2" in text
    assert "| very negative | 4 | 0 | 0 | 0 | 0 | 100.0 |" in text


def test_the_curve_of_a_run_is_in_epochs():
    assert accuracy_per_epoch({"mine": _run()}) == [
        {"run": "mine", "epoch": 0.5, "dev, %": "25.00", "test, %": "20.00"},
        {"run": "mine", "epoch": 1.0, "dev, %": "50.00", "test, %": "40.00"},
    ]


def test_each_member_of_a_series_has_its_curve():
    single = _run()
    members = [{**single, "name": f"seed-{seed}", "steps": 20 * seed} for seed in (1, 2)]
    rows = accuracy_per_epoch({"both": {"config": single["config"], "members": members}})
    assert [(row["run"], row["epoch"]) for row in rows] == [
        ("both seed-1", 1.0),
        ("both seed-1", 2.0),
        ("both seed-2", 0.5),
        ("both seed-2", 1.0),
    ]


def test_a_run_costs_what_an_epoch_of_glove_costs_so_often():
    seconds = {"glove": 20.0, "small_bilm": 25.0, "": 110.0}
    data = {"training_examples": 900}
    runs = {
        variant: _run(variant, parameters=5, seconds_per_epoch=epoch, data=data)
        for variant, epoch in seconds.items()
    }
    runs["others"] = _run("random", parameters=5, seconds_per_epoch=9.0, data={**data, **_LESS})
    rows = {row["run"]: row for row in costs(runs)}
    assert {name: row["ratio to GloVe"] for name, row in rows.items()} == {
        "glove": 1.0,
        "small_bilm": 1.25,
        "": 5.5,
        "others": "",
    }
    assert [rows[name]["ratio, paper"] for name in seconds] == ["1", "", "6"]
    tiny = load_config("elmo_disan_sst", "tiny").to_dict()
    assert costs({"tiny": {**runs["glove"], "config": tiny}}) == []


def test_the_official_bilm_with_word_vectors_is_in_no_table():
    config = load_config("elmo_disan_sst").to_dict()
    assert find_row(config)[1].model == ELMO
    config["embedding"]["words"] = True
    assert find_row(config) is None
