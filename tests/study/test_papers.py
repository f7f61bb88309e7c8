"""disan_tf/study/papers.py: the papers' files, their rows, and the configs that match them."""

from dataclasses import replace

import pytest

from disan_tf.common.installation import CHECKPOINTS
from disan_tf.common.options import flatten
from disan_tf.metrics.differences import Interval
from disan_tf.study.papers import (
    FOLDER,
    PAPERS,
    TABLES,
    Score,
    paper_figures,
    read_section,
)
from disan_tf.study.results import read_results
from tests.support.runs.finished import config_of
from tests.support.runs.training import load_config

ROWS = [row for table in TABLES.values() for row in table.rows]
GLOVE, ELMO = "DiSAN + GloVe", "DiSAN + ELMo"


def test_the_files_are_those_of_the_papers_and_have_known_sections():
    assert {path.stem for path in FOLDER.iterdir()} == {*PAPERS}
    for paper in PAPERS:
        assert read_section(paper, "source", str)
        assert read_section(paper, "paper", str).lower().replace("-", "_") == paper


def test_a_config_matches_the_rows_of_its_own_model_alone():
    for name, variant in sorted({(row.config, row.variant) for row in ROWS}):
        config = load_config(name, variant).to_dict()
        classes = (str(config["data"].get("classes")),)
        for table in TABLES.values():
            own = [
                row
                for row in table.rows
                if (row.config, row.variant) == (name, variant)
                and row.where.get("data.classes", classes) == classes
            ]
            assert [row for row in table.rows if row.matches(config)] == own
            assert len(own) <= 1


def test_a_name_stands_for_one_model_and_its_recorded_result_is_a_run_of_it():
    results = read_results(CHECKPOINTS / "results")
    for row in ROWS:
        namesakes = [other for other in ROWS if other.name == row.name]
        assert all(replace(other, **_printed(row)) == row for other in namesakes)
        assert not row.recorded or row.recorded in row.runs(results)


def _printed(row):
    """What may differ between the lines of one model in several tables."""
    return {key: getattr(row, key) for key in ("model", "figures", "seconds", "inference")}


def test_a_remaining_run_is_possible():
    for run in (run for table in TABLES.values() for run in table.remaining):
        config, *flags = run.run.split()
        options = flatten(load_config(*config.removeprefix("--config=").split(":")).to_dict())
        for flag in flags:
            option, _, value = flag.partition("=")
            assert option == "--seeds" or option.removeprefix("--config.") in options
            assert value and 0 < run.hours < 24


@pytest.mark.parametrize(
    "value, patterns, fits",
    [
        ("elu", ["relu", "elu"], True),
        ("tanh", ["relu", "elu"], False),
        (1, ["1"], True),
        (8, ["1"], False),
        (True, ["true"], True),
        (None, [""], True),
        ("glove.txt", ["?*"], True),
        ("", ["?*"], False),
        (["diagonal", "diagonal"], ["diagonal, diagonal"], True),
        (["forward"], ["", "forward, backward"], False),
    ],
)
def test_a_condition_has_patterns_for_an_option(value, patterns, fits):
    config, row = config_of("snli"), TABLES["disan_table_1"].main_row
    config["encoder"]["option"] = value
    assert replace(row, where={"encoder.option": patterns}).matches(config) == fits


def test_a_condition_on_an_option_that_a_config_lacks_is_one_for_nothing():
    config, row = config_of("snli"), TABLES["disan_table_1"].main_row
    assert replace(row, where={"policy.reward": ("", "product")}).matches(config)
    assert not replace(row, where={"policy.reward": ("product",)}).matches(config)


@pytest.mark.parametrize(
    "config, figures",
    [
        (config_of("sst", classes=2), ""),
        (config_of("snli", embedding_dim=16), ""),
        (config_of("imdb"), ""),
        (config_of("snli", encoder="additive"), "79.81"),  # and not that on train
        (config_of("multinli"), "70.977 / 71.402"),
        (("resan_snli", "disan"), "85.6"),  # one paper's DiSAN is not the other's
        (("resan_sick", "without_hard_attention"), ".8695 (.0012) / .8139 (.0012) / .2879 (.0036)"),
        (("resan_snli", "tiny"), ""),
        (("resan_snli", "paper_reward"), ""),
        (("dsa_sst", "self_attention"), "50.6"),
    ],
)
def test_a_config_has_the_figures_of_its_paper(config, figures):
    config = load_config(*config).to_dict() if isinstance(config, tuple) else config
    assert paper_figures(config) == figures


@pytest.mark.parametrize(
    "name, part, changed, figures",
    [
        (("dsa_sst", "self_attention"), "data", {"classes": 2}, "88.3"),
        (("disan_sst", ""), "encoder", {"directions": ["diagonal", "diagonal"]}, "49.41"),
        (("resan_snli", "disan"), "encoder", {"activation": "tanh"}, ""),
        (("resan_snli", ""), "data", {"embedding_dim": 50}, ""),
        (("elmo_disan_sst", ""), "embedding", {"words": True}, ""),
        (("disan_sst", "additive"), "data", {"rebalance": True}, ""),  # a trial
    ],
)
def test_an_option_makes_another_model(name, part, changed, figures):
    config = load_config(*name).to_dict()
    before = paper_figures(config)
    config[part].update(changed)
    assert paper_figures(config) == figures != before


# Sec. IV, in per cent. It prints 18.6 for neutral with ELMo: 95 over the 510 of the next row.
@pytest.mark.parametrize(
    "model, right, accuracy",
    [
        (GLOVE, (34.1, 70.6, 8.7, 72.2, 49.9), 51.72),
        (ELMO, (27.2, 74.9, 24.4, 59.8, 62.4), 54.25),
    ],
)
def test_the_papers_matrices_give_its_percentages_and_accuracy(model, right, accuracy):
    (matrix,) = (r.confusion for r in TABLES["elmo_disan_table_1"].rows if r.model == model)
    for number, (row, printed) in enumerate(zip(matrix, right)):
        assert 100 * row[number] / sum(row) == pytest.approx(printed, abs=0.06)
    assert sum(map(sum, matrix)) == 2210
    found = 100 * sum(row[number] for number, row in enumerate(matrix)) / 2210
    assert found == pytest.approx(accuracy, abs=0.005)


def test_differences_have_a_sign_and_no_negative_zero():
    score = Score("test", "test")
    assert score.show_difference(0.0038) == "+0.38"
    assert score.show_difference(-0.00004) == "+0.00"
    interval = Interval(-0.0075, -0.0175, 0.0)
    shown = score.show_difference(interval.value, interval, "seeds")
    assert shown == "-0.75 (-1.75 to +0.00; seeds)"


def test_runs_with_other_vectors_or_another_subset_are_groups_of_their_own():
    table = TABLES["disan_table_1"]
    runs = {
        "wide": {"config": config_of("snli")},
        "narrow": {
            "config": config_of("snli", "additive", embedding_dim=100),
            "members": [{}, {}, {}],
        },
        "padded": {"config": config_of("snli", vector_dim=100)},
        "part": {"config": config_of("snli", subset="some_pairs")},
    }
    groups = table.by_inputs(runs)
    assert groups == {
        "glove/some.txt, 100 dimensions": ["narrow"],
        "glove/some.txt, 300 dimensions": ["wide"],
        "glove/some.txt, 100 dimensions padded to 300 dimensions": ["padded"],
        "glove/some.txt, 300 dimensions, subset some_pairs": ["part"],
    }
    assert next(iter(groups)) == "glove/some.txt, 100 dimensions"  # with most trainings
    alike = replace(table, distinguishing_options=("vectors",))
    assert alike.by_inputs(runs) == {
        "": ["narrow", "wide", "padded"],
        "subset some_pairs": ["part"],
    }
    del runs["part"]
    assert alike.by_inputs(runs) == {"": ["narrow", "wide", "padded"]}
    assert table.by_inputs({}) == {"": []}


def test_trials_have_a_part_of_their_table_and_are_no_runs_of_their_row():
    table = TABLES["disan_table_2"]
    recorded = table.main_row.recorded
    runs = {
        "trial": {"config": config_of(rebalance=True), "members": [{}, {}, {}]},
        recorded: {"config": config_of(rebalance=False)},
    }
    assert list(table.main_row.runs(runs)) == [recorded]
    assert list(table.main_row.runs({"a": runs[recorded], **runs})) == [recorded, "a"]
    vectors = "glove/some.txt, 300 dimensions"
    assert list(table.by_inputs(runs).items()) == [  # the recorded run first
        (vectors, [recorded]),
        (f"{vectors}, re-balanced phrases", ["trial"]),
    ]
    assert list(replace(table.main_row, trials={}).runs_and_trials(runs)) == [recorded]
