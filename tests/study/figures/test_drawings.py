"""Figures of runs and of the code, and the picture of each of the papers' tables."""

import numpy as np
import pytest

from disan_tf.study.figures.drawings import (
    accuracy_against_epochs,
    accuracy_against_length,
    draw_table_curves,
    losses,
    picture,
    positional_masks,
    table_groups,
)
from disan_tf.study.papers import TABLES
from tests.support.runs.finished import config_of


def test_masks_are_those_of_the_paper():
    panels = positional_masks().axes
    allowed = [~np.ma.getmaskarray(axes.images[0].get_array()) for axes in panels]
    ones = np.ones([5, 5], bool)
    of_the_paper = (~np.eye(5, dtype=bool), np.tril(ones, -1), np.triu(ones, 1))
    for found, expected in zip(allowed, of_the_paper):
        np.testing.assert_array_equal(found, expected)


def _by_length(accuracies, deviation=None):
    scores = {
        tokens: {"sentences": 10.0, "accuracy": accuracy, "standard_deviation": deviation}
        for tokens, accuracy in accuracies.items()
    }
    return {"config": config_of(), "by_length": scores}


def test_accuracy_by_length_has_a_curve_for_each_run():
    results = {"one": _by_length({"1-4": 0.5, "5-11": 0.25})}
    results["two"] = _by_length({"1-4": 0.75}, 0.05)
    figure, names = accuracy_against_length(results)
    (axes,) = figure.axes
    heights = [line.get_ydata().tolist() for line in axes.lines if line.get_label()[0] != "_"]
    bars = [container.lines[0].get_ydata().tolist() for container in axes.containers]
    assert heights + bars == [[50.0, 25.0], [75.0]] and names == ["one", "two"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1-4\n(10)", "5-11\n(10)"]
    assert accuracy_against_length({}) == (None, [])


def test_accuracy_by_epoch_is_the_mean_of_the_seeds():
    config = {**config_of(), "name": "elmo_disan_sst"}
    members = [
        {"name": f"seed-{seed}", "steps": 20, "epochs": 2.0, "test_curve": [[10, value], [20, 0.5]]}
        for seed, value in ((1, 0.25), (2, 0.75))
    ]
    series = {"config": config, "members": members}
    figure, names = accuracy_against_epochs({"elmo": series})
    (line,) = figure.axes[0].lines
    assert line.get_label() == "DiSAN + GloVe" and names == ["elmo"]
    np.testing.assert_allclose(line.get_xydata(), [[1.0, 50.0], [2.0, 50.0]])
    assert accuracy_against_epochs({}) == (None, [])
    members[0]["test_curve"].pop()  # patience stopped this seed
    results = {"one": series, "other": {"config": config, "members": members[1:]}}
    lines = accuracy_against_epochs(results)[0].axes[0].lines
    assert [line.get_label() for line in lines] == ["DiSAN + GloVe, one", "DiSAN + GloVe, other"]
    points = [line.get_xydata().tolist() for line in lines]
    assert points == [[[1.0, 50.0]], [[1.0, 75.0], [2.0, 50.0]]]


def test_the_training_loss_is_the_mean_since_the_last_evaluation():
    lines = [(0.5, "train", 4.0), (1.0, "train", 2.0), (1.0, "dev", 2.5), (1.0, "test", 9.0)]
    lines += [(2.0, "train", 1.0), (2.0, "dev", 1.5)]
    records = [dict(zip(("epoch", "split", "loss"), line)) for line in lines]
    train, dev = losses(records).axes[0].lines
    np.testing.assert_allclose(train.get_xydata(), [[1.0, 3.0], [2.0, 1.0]])
    np.testing.assert_allclose(dev.get_xydata(), [[1.0, 2.5], [2.0, 1.5]])
    assert losses([]) is None


# Pictures of tables


SST = TABLES["disan_table_2"]
SELECTED = {"selection_curve": [[10, 1.0, 0.75], [20, 0.5, 0.25]]}


def _drawn(results, table=SST):
    return picture(table, results).axes


def _names(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def _heights(line):
    return list(line.get_ydata())


@pytest.fixture
def run(recorded):
    return recorded()


def test_dev_scores_of_each_member_stand_at_their_epochs(run, recorded):
    axes, *_ = _drawn({"mine": run})
    (line,) = axes.get_lines()
    assert list(line.get_xdata()) == [0.5, 1.0, 1.5] and _heights(line) == [25.0, 50.0, 37.5]
    assert axes.get_ylabel() == "dev accuracy, %"
    axes, *_ = _drawn({"mine": recorded(tests=(0.4, 0.5, 0.6))})
    assert len(axes.get_lines()) == 3
    assert _names(axes) == ["DiSAN\nmine"]


def test_accuracy_by_length_leaves_out_lengths_of_few_examples(run):
    assert len(_drawn({"mine": run})) == 1  # four examples in all
    run["test"]["by_length"] = {
        "38+": {"count": 40, "accuracy": 0.25},
        "1-4": {"count": 20, "accuracy": 0.5},
        "5-11": {"count": 19, "accuracy": 1.0},
        "12-24": {"count": 0, "accuracy": None},
    }
    _, lengths = _drawn({"mine": run})
    assert _heights(lengths.get_lines()[0]) == [50.0, 25.0]
    assert [text.get_text() for text in lengths.get_xticklabels()] == ["1-4", "38+"]


def test_fractions_of_hard_attention_of_each_member_have_a_panel(run, recorded):
    _, selected = _drawn({"mine": {**run, **SELECTED}})
    heads, dependents = selected.get_lines()
    assert _heights(heads) == [1.0, 0.5] and _heights(dependents) == [0.75, 0.25]
    assert list(heads.get_xdata()) == [0.5, 1.0]
    series = recorded(tests=(0.4, 0.5, 0.6))
    for number, member in enumerate(series["members"]):
        member["selection_curve"] = [[10, 1.0, 0.75], [20, 0.1 * number, 0.25]]
    _, selected = _drawn({"mine": series})
    heads = [_heights(line)[-1] for line in selected.get_lines()[::2]]
    assert heads == pytest.approx([0.0, 0.1, 0.2])


def test_a_panel_has_at_most_five_runs_of_which_no_two_look_alike(run):
    groups = table_groups(SST, {f"run_{number:02}": run for number in range(13)})
    assert [len(group.lines) for group in groups] == [5, 4, 4]
    for group in groups:
        styles = [style for _, style in group.lines.values()]
        assert len({style["color"] for style in styles}) == len(styles)
    labels = [label for group in groups for label in group.lines]
    assert labels == [f"DiSAN\nrun_{number:02}" for number in range(13)]


def test_panels_have_the_same_limits_and_a_group_without_hard_attention_has_none_of_it(run):
    runs = {f"run_{number}": run for number in range(5)}
    low = {**run, **SELECTED, "dev_curve": [[10, 0.01], [20, 0.02]]}
    axes = _drawn({**runs, "run_5": low})
    assert [each.get_visible() for each in axes] == [True, False, True, True]
    assert axes[0].get_ylim() == axes[2].get_ylim()


def test_relatedness_is_no_per_cent(recorded):
    axes, *_ = _drawn({"mine": recorded(config_of("sick"))}, TABLES["disan_table_4"])
    assert axes.get_ylabel() == "dev Pearson's r" and _heights(axes.get_lines()[0])[0] == 0.25


def test_tables_without_runs_have_no_picture(run, tmp_path):
    draw_table_curves({"mine": run}, tmp_path / "figures")
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert names == {"disan_table_2.png", "disan_table_2.svg"}


def test_runs_with_other_vectors_have_panels_of_their_own(run, recorded):
    series = recorded(config_of(embedding_dim=100), (0.4, 0.5, 0.6))
    first, second = _drawn({"wide": run, "narrow": series})
    titles = [axes.get_title(loc="left") for axes in (first, second)]
    assert titles == ["glove/some.txt, 100 dimensions", "glove/some.txt, 300 dimensions"]
    assert [len(axes.get_lines()) for axes in (first, second)] == [3, 1]
    assert (_names(first), _names(second)) == (["DiSAN\nnarrow"], ["DiSAN\nwide"])
