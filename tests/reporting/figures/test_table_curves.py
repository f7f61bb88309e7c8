"""The picture of each of the papers' tables."""

import pytest

from disan_tf.reporting.figures.table_curves import draw_table_curves, picture, table_groups
from disan_tf.reporting.papers import TABLES
from disan_tf.reporting.report import summarise
from tests.support.runs.finished import config_of, write_run, write_series

SST = TABLES["disan_table_2"]


def _drawn(results, table=SST):
    return picture(table, table_groups(table, results)).axes


def _heights(line):
    return list(line.get_ydata())


@pytest.fixture
def run(tmp_path):
    return summarise(write_run(tmp_path / "run", config_of()), {})


def test_dev_scores_stand_at_their_epochs(run):
    axes, *_ = _drawn({"mine": run})
    assert [text.get_text() for text in axes.texts] == ["DiSAN\nmine"]
    (line,) = axes.get_lines()
    assert list(line.get_xdata()) == [0.5, 1.0, 1.5] and _heights(line) == [25.0, 50.0, 37.5]
    assert axes.get_ylabel() == "dev accuracy, %"


def test_each_member_of_a_series_is_drawn_and_named_once(tmp_path):
    series = summarise(write_series(tmp_path, config_of()), {})
    axes, *_ = _drawn({"mine": series})
    assert len(axes.get_lines()) == 3
    assert [text.get_text() for text in axes.texts] == ["DiSAN\nmine"]


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


def test_fractions_of_hard_attention_have_a_panel(run):
    run["selection_curve"] = [[10, 1.0, 0.75], [20, 0.5, 0.25]]
    _, selected = _drawn({"mine": run})
    heads, dependents = selected.get_lines()
    assert _heights(heads) == [1.0, 0.5] and _heights(dependents) == [0.75, 0.25]
    assert list(heads.get_xdata()) == [0.5, 1.0]


def test_fractions_of_each_member_of_a_series_are_drawn(tmp_path):
    series = summarise(write_series(tmp_path, config_of()), {})
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


def test_a_group_without_hard_attention_has_no_panel_of_fractions(run):
    selecting = {**run, "selection_curve": [[10, 1.0, 0.75]]}
    results = {**{f"run_{number}": run for number in range(5)}, "run_5": selecting}
    axes = _drawn(results)
    assert [each.get_visible() for each in axes] == [True, False, True, True]


def test_panels_of_a_table_have_the_same_limits(run):
    low = {**run, "dev_curve": [[10, 0.01], [20, 0.02]]}
    axes = _drawn({**{f"run_{number}": run for number in range(5)}, "run_5": low})
    assert len(axes) == 2 and axes[0].get_ylim() == axes[1].get_ylim()


def test_relatedness_is_no_per_cent(tmp_path):
    run = summarise(write_run(tmp_path, config_of("sick")), {})
    axes, *_ = _drawn({"mine": run}, TABLES["disan_table_4"])
    assert axes.get_ylabel() == "dev Pearson's r" and _heights(axes.get_lines()[0])[0] == 0.25


def test_tables_without_runs_have_no_picture(run, tmp_path):
    draw_table_curves({"mine": run}, tmp_path / "figures")
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        "disan_table_2.png",
        "disan_table_2.svg",
    ]


def test_runs_with_other_vectors_have_panels_of_their_own(run, tmp_path):
    narrow = config_of(embedding_dim=100)
    series = summarise(write_series(tmp_path / "narrow", narrow), {})
    first, second = _drawn({"wide": run, "narrow": series})
    titles = [axes.get_title(loc="left") for axes in (first, second)]
    assert titles == ["glove/some.txt, 100 dimensions", "glove/some.txt, 300 dimensions"]
    assert [len(axes.get_lines()) for axes in (first, second)] == [3, 1]
    assert [axes.texts[0].get_text() for axes in (first, second)] == [
        "DiSAN\nnarrow",
        "DiSAN\nwide",
    ]
