"""The page of the settings in which our runs differ from the papers."""

import pytest

from disan_tf.common.installation import CHECKPOINTS
from disan_tf.study.papers import TABLES
from disan_tf.study.results import read_results
from disan_tf.study.settings import (
    Setting,
    format_value,
    read_settings,
)
from tests.support.runs.training import load_config


def _run(name, **train):
    return {"config": {"name": name, "train": train}}


def _setting(**options):
    return Setting("a setting", ("one", "two"), "5 (Sec. 1)", "why", **options)


def test_every_paper_with_a_table_has_a_part():
    assert {table.paper for table in TABLES.values()} == read_settings().keys()


def test_every_cell_of_a_row_has_a_text():
    """A misspelt option would find no value in any config."""
    results = read_results(CHECKPOINTS / "results")
    for row in (row for rows in read_settings().values() for row in rows):
        defaults = {name: load_config(name).to_dict() for name in row.configs}
        texts = (row.setting, row.paper, row.why, row.default_text(defaults), row.run_text(results))
        assert all(texts), row
        assert not any("\n" in text or " | " in text for text in texts), row
        assert row.run_text(results) != "no run yet", row


def test_a_value_by_hand_stands_for_the_runs_too_unless_they_have_their_own():
    with pytest.raises(ValueError, match="needs an option or a default"):
        _setting(as_run="all")
    assert _setting(default="all").run_text({}) == "all"
    assert _setting(default="all", as_run="some").run_text({}) == "some"
    assert _setting(default="all", measure="members").run_text({}) == "no run yet"


def test_equal_values_stand_alone_and_different_values_name_their_configs_and_runs():
    row = _setting(option="train.l2")
    equal = {"one": {"train": {"l2": 64}}, "two": {"train": {"l2": 64}}}
    assert row.default_text(equal) == "64"
    assert row.run_text({"a": _run("one", l2=32), "b": _run("two", l2=32)}) == "32"
    defaults = {"one": {"train": {"l2": 5e-05}}, "two": {"train": {"l2": 1e-4}}}
    assert row.default_text(defaults) == "0.00005: `one`; 0.0001: `two`"
    runs = {"a": _run("one", l2=1.0), "b": _run("two", l2=2.0), "c": _run("two", l2=2.0)}
    assert row.run_text(runs) == "2: `b`, `c`; 1: `a`"
    assert row.run_text({"a": _run("three", l2=1.0)}) == "no run yet"


def test_a_config_without_the_option_is_left_out_or_has_its_own_text():
    runs = {"a": _run("one", l2=1.0), "b": _run("two")}
    assert _setting(option="train.l2").run_text(runs) == "1"
    assert _setting(option="train.l2", absent="old").run_text(runs) == "1: `a`; old: `b`"


@pytest.mark.parametrize(
    "value, text",
    [
        (120_000, "120,000"),
        (1e-6, "0.000001"),
        (0.0, "0"),
        (0.999, "0.999"),
        (False, "`False`"),
        ((), "none"),
        ((3, 5), "3, 5"),
        ("text", "`text`"),
    ],
)
def test_values_are_formatted_for_readers(value, text):
    assert format_value(value) == text
