"""configs/own_table.py: from a table to a model that answers, for every kind of table."""

import csv
import itertools
import json

import pytest

from data_prep.prepare import prepare
from disan_tf.cli import modes
from disan_tf.cli.loading import read_config
from disan_tf.common.errors import UserError
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.runs.bundle import load_bundle
from disan_tf.serving.inference.predict import predict
from disan_tf.training.config import from_dict
from disan_tf.training.train import train
from tests.support.runs.training import load_config

SOUPS = [f"the {adjective} {noun} !" for adjective in ("hot", "cold") for noun in ("soup", "tea")]
PAIRS = list(itertools.product(SOUPS, SOUPS))
TABLES = {
    "": (("text", "label"), [(text, f"is {text.split()[1]}") for text in SOUPS * 4]),
    "pairs": (("text", "second_text", "label"), [(a, b, f"{a[4:7] == b[4:7]}") for a, b in PAIRS]),
    "scores": (("text", "second_text", "score"), [(a, b, 1.5 * (a == b)) for a, b in PAIRS]),
}


def config_of(variant, **data):
    config = load_config("own_table", f"{variant or 'additive'},tiny")
    config.update_from_flattened_dict({f"data.{name}": value for name, value in data.items()})
    config.train.steps, config.train.evaluate_every = 4, 2
    return config


@pytest.mark.parametrize(
    "variant", ["", *(pytest.param(name, marks=pytest.mark.slow) for name in ("pairs", "scores"))]
)
def test_a_table_becomes_a_model_that_answers_lines(variant, tmp_path, capsys):
    columns, rows = TABLES[variant]
    with open(tmp_path / "table.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    scale = {"lowest": -1, "highest": 2} if variant == "scores" else {}
    config = config_of(variant, train="table.csv", dev_share=0.25, **scale)
    read_config(config)
    corpus = PreparedCorpus(prepare(config.data, tmp_path, tmp_path / "prepared"))
    train(from_dict(config), lambda: corpus, tmp_path / "run")

    texts = [row[: len(columns) - 1] for row in rows]
    (tmp_path / "lines.txt").write_text("".join("\t".join(row) + "\n" for row in texts))
    predict(load_bundle(tmp_path / "run" / "best"), tmp_path / "lines.txt", tmp_path / "out.jsonl")
    answers = list(map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines()))
    assert len(answers) == len(rows)
    if variant == "scores":
        points = {point: float(point) for point in ("-1", "0", "1", "2")}
        for answer in answers:
            mean = sum(points[name] * p for name, p in answer["probabilities"].items())
            assert answer["score"] == pytest.approx(mean, abs=1e-5)
    else:
        classes = {row[-1] for row in rows}
        assert all(set(answer["probabilities"]) == classes for answer in answers)
        assert {answer["label"] for answer in answers} <= classes

    def evaluated(**flags):
        folders = tmp_path, tmp_path / "prepared"
        modes.evaluate(tmp_path / "run/best", "test", *folders, output=tmp_path / "out", **flags)
        return capsys.readouterr().out

    assert ("\nbaseline, TF-IDF" in evaluated()) == (variant != "scores")
    assert "baseline" not in evaluated(baseline=False)


def test_the_scale_of_the_model_is_that_of_the_table():
    config = config_of("scores", train="table.csv")
    config.data.lowest = 0
    assert config.task.lowest == 0
    config.task = config.task.copy_and_resolve_references()
    config.task.lowest = 1
    with pytest.raises(UserError, match="--config.task.lowest=1 must be 0, as config.data.lowest"):
        read_config(config)


def test_a_table_that_the_task_does_not_fit_is_refused():
    with pytest.raises(UserError, match="nli reads premise and hypothesis, but the corpus table"):
        read_config(config_of("pairs", train="table.csv", second_text=""))
