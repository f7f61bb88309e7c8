"""The data of the papers' figures, and ELMo-DiSAN's confusions and costs."""

from disan_tf.study.figures.data import costs, render_confusions, render_figure_data
from tests.support.runs.training import load_config


def test_figures_without_data_have_no_file():
    assert list(render_figure_data({})) == ["elmo_disan_tables_2_3.md"]


def _elmo(variant="small_bilm", **changed):
    config = load_config("elmo_disan_sst", variant).to_dict()
    matrix = [[2, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0] * 5, [0, 0, 0, 3, 1], [0, 0, 0, 0, 4]]
    return {"config": config, "test": {"confusion": {"matrix": matrix}}, **changed}


def test_a_class_without_sentences_has_a_share_of_0():
    text = render_confusions({"mine": _elmo()})
    assert "| neutral | 0 | 0 | 0 | 0 | 0 | 0.0 |" in text


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
