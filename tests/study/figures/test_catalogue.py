"""The list of the papers' figures, their captions, and what is drawn of models and runs."""

import json
import re

import pytest

from disan_tf.common.installation import CHECKPOINTS
from disan_tf.serving.attention_page.attention_files import read_lines
from disan_tf.serving.attention_page.figures import DRAWINGS
from disan_tf.study.figures.catalogue import (
    FIGURES,
    OF_RESULTS,
    DrawnModel,
    check_encoder,
    check_names,
    draw_model,
    draw_results,
    draw_runs,
    figures_readme,
    write_examples,
)
from tests.support.errors import user_error
from tests.support.models.attention_files import disan, write_sentence
from tests.support.runs.finished import config_of, write_run

COUNTS = {"DiSAN": 8, "ReSAN": 3, "DSA": 4, "DRCN": 9, "ELMo-DiSAN": 6}  # figures in the papers
FOLDER = CHECKPOINTS / "figures"


def test_every_figure_of_the_papers_is_listed_once_and_has_a_function_that_draws_it():
    for paper, count in COUNTS.items():
        numbers = [figure.number for figure in FIGURES if figure.paper == paper]
        assert numbers == list(range(1, count + 1))
    assert len(FIGURES) == sum(COUNTS.values())
    drawn = {figure.draw for figure in FIGURES if figure.source}
    assert drawn == {*DRAWINGS, *OF_RESULTS, "losses", "positional_masks"}


def test_each_committed_figure_has_its_files_and_what_it_shows_is_at_hand():
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == figures_readme(FOLDER)
    names = {figure.name for figure in FIGURES}
    for path in FOLDER.rglob("*_figure_*.md"):
        assert path.stem in names
        assert all(path.with_suffix(kind).is_file() for kind in (".svg", ".png"))
    of_models = list(FOLDER.glob("*/*.md"))
    assert of_models
    for path in of_models:
        model = json.loads((CHECKPOINTS / path.parent.name / "model.json").read_text())
        assert f", step {model['scores']['step']:,};" in path.read_text(), path
    pages = [path.read_text() for path in FOLDER.glob("*.md")]
    named = re.findall(r"`(\w+)` \(seeds? ", "".join(pages))
    assert named and {*named} <= {path.stem for path in (CHECKPOINTS / "results").glob("*.json")}


@pytest.fixture
def drawn(tmp_path):
    """A function that draws a DiSAN's figures of these names; returns its folder."""
    data = {"corpus": "sst", "vectors": "", "embedding_dim": 50}
    config = {"encoder": {"name": "disan"}, "data": data, "train": {"examples": 20_000}}
    model = DrawnModel("own", config, 1500, "the lines of own.txt", "python run.py")
    for number, tokens in enumerate((["a", "plot"], ["the", "film"]), start=1):
        write_sentence(tmp_path / "attended", number, tokens, disan(tokens))
    sources = {"lines": list(read_lines(tmp_path / "attended")), "vectors": {}}

    def draw(*names):
        draw_model(sources, model, tmp_path / "out", names)
        return tmp_path / "out" / "own"

    return draw


def test_a_model_s_figures_and_captions_lie_in_its_folder(drawn, capsys):
    folder = drawn()
    names = {f"disan_figure_{k}.{kind}" for k in (6, 7) for kind in ("svg", "png", "md")}
    assert {path.name for path in folder.iterdir()} == names
    text = (folder / "disan_figure_6.md").read_text()
    assert "`own`, the encoder disan on the corpus sst, 20,000 training examples, words" in text
    assert "words of 50 dimensions (no file of vectors), step 1,500; the lines of own.txt" in text
    assert "the paper's: DiSAN on SNLI" in text
    assert "disan_figure_8: not drawn; it needs" in capsys.readouterr().out
    readme = (folder.parent / "README.md").read_text()
    assert "[own](own/disan_figure_6.md)" in readme and "not yet: needs a trained ReSAN" in readme


def test_only_the_figures_that_are_named_are_drawn(drawn):
    assert {path.stem for path in drawn("disan_figure_7").iterdir()} == {"disan_figure_7"}


@pytest.mark.parametrize(
    "encoder, names, message",
    [
        ("bi_lstm", (), "figures of the attention of bi_lstm; choose a model of disan, dsa, resan"),
        ("drcn", (), "or look at it with --mode=attend"),
        ("resan", ["disan_figure_5"], "is not of resan; choose resan_figure_2 or resan_figure_3"),
    ],
)
def test_an_encoder_without_figures_is_refused(encoder, names, message):
    check_encoder("resan", ["resan_figure_3", "disan_figure_5"])
    assert message in user_error(check_encoder, encoder, names)


@pytest.mark.parametrize(
    "name, has_model, message",
    [
        ("disan_figure_66", True, "did you mean disan_figure_6?"),
        ("dsa_figure_1", True, "is a diagram without data"),
        ("drcn_figure_3", True, "needs a trained DRCN, which is not released"),
        ("dsa_figure_2", False, "shows a model's attention; add --checkpoint"),
    ],
)
def test_a_figure_that_cannot_be_drawn_is_refused(name, has_model, message):
    check_names(["dsa_figure_2"], has_model=True)
    check_names(["disan_figure_5"], has_model=False)
    text = user_error(check_names, [name], has_model)
    assert f"--figures={name}" in text and message in text


@pytest.mark.parametrize("names, lines", [(["sentence"], 2), (["premise", "hypothesis"], 1)])
def test_the_papers_sentences_come_as_the_model_reads_them(tmp_path, names, lines):
    write_examples(tmp_path / "in.jsonl", "resan", names)
    records = [json.loads(line) for line in (tmp_path / "in.jsonl").read_text().splitlines()]
    assert len(records) == lines
    texts = [record[name] for record in records for name in names]
    assert texts == [
        "The three men sit and talk about their lives.",
        "A group of adults are waiting for an event.",
    ]


def test_results_without_figures_draw_none(tmp_path, recorded, capsys):
    draw_results({}, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    draw_results({"one": recorded(tests=(0.4, 0.6))}, tmp_path / "out")
    assert {path.stem for path in (tmp_path / "out").iterdir()} == {"disan_figure_5"}
    text = (tmp_path / "out" / "disan_figure_5.md").read_text()
    assert "recorded runs, `one` (seeds 1, 2)" in text and not capsys.readouterr().out


def test_losses_are_those_of_the_run_of_the_figure_s_model(tmp_path, capsys):
    config = {**config_of("snli", "drcn"), "name": "drcn_snli", "task": {"hypothesis_only": False}}
    config["encoder"].update(recurrence="rnn", aggregation="words")
    config["encoder"].update(bottleneck_units=0, functions="Cs")
    run = write_run(tmp_path / "drcn_Cs", config)
    log = (run / "metrics.jsonl").read_text()
    (run / "metrics.jsonl").write_text(log.replace('"accuracy"', '"loss"'))
    names = ["drcn_figure_2", "drcn_figure_9", "disan_figure_3"]
    draw_runs({}, tmp_path, tmp_path / "out", names)
    text = capsys.readouterr().out
    assert "drcn_figure_2: not drawn" in text and "drcn_figure_9.svg" in text
    text = (tmp_path / "out" / "drcn_figure_9.md").read_text()
    assert text.startswith("# Figure 9 of the DRCN paper\n") and "ours: the run drcn_Cs" in text
    assert "Our losses include the weight decay." in text and "drawn by `python run.py" in text
    assert "ours: the code" in (tmp_path / "out" / "disan_figure_3.md").read_text()
