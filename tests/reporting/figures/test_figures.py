"""The list of the papers' figures, their captions, and what is drawn of models and runs."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.reporting.figures import runs
from disan_tf.reporting.figures.main import (
    FIGURES,
    OF_RUNS,
    DrawnModel,
    caption,
    check_names,
    draw_model,
    draw_results,
    draw_runs,
    drawable,
    figures_readme,
    write_examples,
)
from disan_tf.serving.attention_page.attended import read_lines
from disan_tf.serving.attention_page.figures import DRAWINGS
from tests.support.models.attended import disan, write_sentence
from tests.support.runs.finished import config_of

COUNTS = {"DiSAN": 8, "ReSAN": 3, "DSA": 4, "DRCN": 9, "ELMo-DiSAN": 6}  # figures in the papers


def test_every_figure_of_the_papers_is_listed_once():
    for paper, count in COUNTS.items():
        numbers = [figure.number for figure in FIGURES if figure.paper == paper]
        assert numbers == list(range(1, count + 1))
    assert len(FIGURES) == sum(COUNTS.values())


def test_every_figure_with_a_source_has_a_function_that_draws_it():
    drawn = {figure.draw for figure in FIGURES if figure.source}
    assert drawn == {*DRAWINGS, *OF_RUNS}


def test_the_committed_list_is_that_of_the_committed_figures():
    folder = CHECKPOINTS / "figures"
    assert (folder / "README.md").read_text(encoding="utf-8") == figures_readme(folder)


def test_each_committed_figure_has_its_files():
    names = {figure.name for figure in FIGURES}
    for path in (CHECKPOINTS / "figures").rglob("*_figure_*.md"):
        assert path.stem in names
        assert all(path.with_suffix(kind).is_file() for kind in (".svg", ".png"))


def test_each_committed_figure_of_a_model_is_of_a_released_one():
    """Nobody can draw a figure again whose model is not released."""
    folders = {path.parent.name for path in (CHECKPOINTS / "figures").glob("*/*.md")}
    released = {path.parent.name for path in CHECKPOINTS.glob("*/model.json")}
    assert folders and folders <= released


def _model(encoder="disan"):
    data = {"corpus": "sst", "vectors": "", "embedding_dim": 50}
    config = {"encoder": {"name": encoder}, "data": data, "train": {"examples": 20_000}}
    return DrawnModel("own", config, 1500, "the lines of own.txt", "python run.py")


def _sources(folder):
    return {"lines": list(read_lines(folder)), "vectors": {}}


def test_a_model_s_figures_and_captions_lie_in_its_folder(tmp_path, capsys):
    for number, tokens in enumerate((["a", "plot"], ["the", "film"]), start=1):
        write_sentence(tmp_path / "attended", number, tokens, disan(tokens))
    draw_model(DRAWINGS, _sources(tmp_path / "attended"), _model(), tmp_path / "out", ())
    drawn = {path.name for path in (tmp_path / "out" / "own").iterdir()}
    assert drawn == {
        f"disan_figure_{number}.{kind}" for number in (6, 7) for kind in ("svg", "png", "md")
    }
    text = (tmp_path / "out" / "own" / "disan_figure_6.md").read_text()
    assert "`own`, the encoder disan on the corpus sst, 20,000 training examples, words" in text
    assert "step 1,500" in text
    assert "the lines of own.txt" in text and "DiSAN on SNLI" in text
    assert "disan_figure_8: not drawn; it needs" in capsys.readouterr().out
    readme = (tmp_path / "out" / "README.md").read_text()
    assert "[own](own/disan_figure_6.md)" in readme and "not yet: needs a trained ReSAN" in readme


def test_only_the_figures_that_are_named_are_drawn(tmp_path):
    for number, tokens in enumerate((["a", "plot"], ["the", "film"]), start=1):
        write_sentence(tmp_path / "attended", number, tokens, disan(tokens))
    draw_model(DRAWINGS, _sources(tmp_path / "attended"), _model(), tmp_path, ["disan_figure_7"])
    assert {path.stem for path in (tmp_path / "own").iterdir()} == {"disan_figure_7"}


def test_an_encoder_without_figures_is_refused():
    assert drawable("resan", ()) == drawable("resan", ["resan_figure_3"]) == "resan"
    with pytest.raises(UserError, match="figures of the attention of bi_lstm; choose a model of d"):
        drawable("bi_lstm", ())
    with pytest.raises(UserError, match="figures of the attention of drcn; .*--mode=attend"):
        drawable("drcn", ())
    with pytest.raises(UserError, match="figure_5 is not of resan; choose resan_figure_2 or resan"):
        drawable("resan", ["disan_figure_5"])


@pytest.mark.parametrize(
    "name, has_model, message",
    [
        ("disan_figure_66", True, "did you mean disan_figure_6?"),
        ("dsa_figure_1", True, "is a drawing of how it works"),
        ("drcn_figure_3", True, "a picture of a trained DRCN; no such model is released"),
        ("dsa_figure_2", False, "shows a model's attention; add --checkpoint"),
    ],
)
def test_a_figure_that_cannot_be_drawn_is_refused(name, has_model, message):
    check_names(["dsa_figure_2"], has_model=True)
    check_names(["disan_figure_5"], has_model=False)
    with pytest.raises(UserError) as caught:
        check_names([name], has_model)
    assert f"--figures={name}" in str(caught.value) and message in str(caught.value)


@pytest.mark.parametrize("fields, lines", [(("sentence",), 2), (("sentence_a", "sentence_b"), 1)])
def test_the_papers_sentences_come_as_the_model_reads_them(tmp_path, fields, lines):
    write_examples(tmp_path / "in.jsonl", "resan", fields, lambda field: field)
    records = [json.loads(line) for line in (tmp_path / "in.jsonl").read_text().splitlines()]
    assert len(records) == lines
    texts = [record[field] for record in records for field in fields]
    assert texts == [
        "The three men sit and talk about their lives.",
        "A group of adults are waiting for an event.",
    ]


def _result(accuracies, deviation=None):
    scores = {
        tokens: {"sentences": 10.0, "accuracy": accuracy, "standard_deviation": deviation}
        for tokens, accuracy in accuracies.items()
    }
    return {"config": config_of(), "by_length": scores}


def test_accuracy_by_length_has_a_curve_for_each_run():
    results = {"one": _result({"1-4": 0.5, "5-11": 0.25}), "two": _result({"1-4": 0.75}, 0.05)}
    (axes,) = runs.accuracy_against_length(results).axes
    heights = [line.get_ydata().tolist() for line in axes.lines if line.get_label()[0] != "_"]
    bars = [container.lines[0].get_ydata().tolist() for container in axes.containers]
    assert heights + bars == [[50.0, 25.0], [75.0]]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1-4\n(10)", "5-11\n(10)"]
    assert runs.accuracy_against_length({}) is None


def test_accuracy_by_epoch_is_the_mean_of_the_seeds():
    config = {**config_of(), "name": "elmo_disan_sst"}
    members = [
        {
            "name": f"seed-{seed}",
            "steps": 20,
            "epochs": 2.0,
            "dev_curve": [[10, 0.1], [20, 0.2]],
            "test_curve": [[10, accuracy], [20, 0.5]],
        }
        for seed, accuracy in ((1, 0.25), (2, 0.75))
    ]
    figure = runs.accuracy_against_epochs({"elmo": {"config": config, "members": members}})
    (line,) = figure.axes[0].lines
    assert line.get_label() == "DiSAN + GloVe"
    np.testing.assert_allclose(line.get_xydata(), [[1.0, 50.0], [2.0, 50.0]])
    assert runs.accuracy_against_epochs({}) is None
    members[0]["test_curve"].pop()  # patience stopped this seed
    one = {"config": config, "members": members}
    other = {"config": config, "members": members[1:]}
    lines = runs.accuracy_against_epochs({"one": one, "other": other}).axes[0].lines
    assert [line.get_label() for line in lines] == ["DiSAN + GloVe, one", "DiSAN + GloVe, other"]
    assert [line.get_xydata().tolist() for line in lines] == [
        [[1.0, 50.0]],
        [[1.0, 75.0], [2.0, 50.0]],
    ]


def test_results_without_figures_draw_none(tmp_path, capsys):
    draw_results({}, tmp_path)
    assert not list(tmp_path.iterdir()) and not capsys.readouterr().out
    draw_results({"one": _result({"1-4": 0.5})}, tmp_path)
    assert {path.stem for path in tmp_path.iterdir()} == {"disan_figure_5"}
    assert "recorded runs, `one` (seed 3)" in (tmp_path / "disan_figure_5.md").read_text()


def test_the_committed_figures_name_recorded_results():
    recorded = {path.stem for path in (CHECKPOINTS / "results").glob("*.json")}
    pages = [path.read_text() for path in (CHECKPOINTS / "figures").glob("*.md")]
    named = re.findall(r"`(\w+)` \(seeds? ", "".join(pages))
    assert named and {*named} <= recorded


def test_masks_are_those_of_the_paper():
    panels = runs.positional_masks().axes
    allowed = [~np.ma.getmaskarray(axes.images[0].get_array()) for axes in panels]
    ones = np.ones([5, 5], bool)
    of_the_paper = (~np.eye(5, dtype=bool), np.tril(ones, -1), np.triu(ones, 1))
    for found, expected in zip(allowed, of_the_paper):
        np.testing.assert_array_equal(found, expected)


def _record(epoch, split, loss):
    return {"step": int(10 * epoch), "epoch": epoch, "split": split, "loss": loss}


RECORDS = [
    _record(0.5, "train", 4.0),
    _record(1.0, "train", 2.0),
    _record(1.0, "dev", 2.5),
    _record(1.0, "test", 9.0),
    _record(2.0, "train", 1.0),
    _record(2.0, "dev", 1.5),
]


def test_the_training_loss_is_the_mean_since_the_last_evaluation():
    train, dev = runs.losses(RECORDS).axes[0].lines
    np.testing.assert_allclose(train.get_xydata(), [[1.0, 3.0], [2.0, 1.0]])
    np.testing.assert_allclose(dev.get_xydata(), [[1.0, 2.5], [2.0, 1.5]])
    assert runs.losses([]) is None


def test_losses_are_those_of_the_run_of_the_figure_s_model(tmp_path, capsys):
    encoder = {
        "name": "drcn",
        "recurrence": "rnn",
        "aggregation": "words",
        "own_parameters": False,
        "bottleneck_units": 0,
        "functions": "Cs",
    }
    config = {**config_of(corpus="snli"), "name": "drcn_snli", "encoder": encoder, "format": 2}
    run = tmp_path / "runs" / "drcn_Cs"
    run.mkdir(parents=True)
    (run / "config.json").write_text(json.dumps({**config, "task": {"hypothesis_only": False}}))
    (run / "metrics.jsonl").write_text(
        "".join(json.dumps({**each, "seconds": 1.0}) + "\n" for each in RECORDS)
    )
    draw_runs({}, [run], tmp_path / "out", ["drcn_figure_2", "drcn_figure_9"])
    assert "drcn_figure_2: not drawn" in capsys.readouterr().out
    assert "the run drcn_Cs" in Path(tmp_path / "out" / "drcn_figure_9.md").read_text()


def test_a_caption_says_what_differs():
    (figure,) = (figure for figure in FIGURES if figure.name == "elmo_disan_figure_6")
    text = caption(figure, "own runs", "python run.py --mode=figures")
    assert text.startswith("# Figure 6 of the ELMo-DiSAN paper\n")
    assert "official ELMo weights" in text and "`python run.py --mode=figures`" in text
