"""The runs that the papers' tables still lack."""

import json

import pytest

from disan_tf.common.errors import UserError
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.reporting.missing_runs import add_missing_runs, read_missing_runs
from disan_tf.reporting.paper_tables.all_tables import TABLES

COMMAND = "python run.py --config=configs/disan_sst.py --config.train.steps=3600 --seeds=1,2"
TIMED = {
    "members": 2,
    "steps": 3600,
    "step_seconds": 0.5,
    "evaluations": 4,
    "evaluation_seconds": 450,
}


def _write(path, runs):
    machine = {"processor": "Abacus", "threads": 2, "beside": "a clock"}
    path.write_text(json.dumps({"machine": machine, "runs": runs}))
    return path


def _entry(**changes):
    return {"tables": ["disan_table_2"], "command": COMMAND, "timed": TIMED, **changes}


def test_hours_are_those_of_all_steps_and_evaluations_of_all_members(tmp_path):
    missing = read_missing_runs(_write(tmp_path / "missing.json", [_entry()]), {})
    assert list(missing) == ["disan_table_2"]
    assert "(Abacus, 2 threads, beside a clock):" in missing["disan_table_2"]
    assert missing["disan_table_2"].endswith(f":\n\n- 2.0 hours: `{COMMAND}`.\n")


def test_a_recorded_run_is_not_missing_whatever_the_order_and_pictures(tmp_path):
    path = _write(tmp_path / "missing.json", [_entry()])
    words = COMMAND.split()
    recorded = {"command": " ".join([*words[:2], *reversed(words[2:]), "--nopictures"])}
    assert read_missing_runs(path, {"mine": recorded}) == {}
    fewer = {"command": COMMAND.replace("1,2", "1")}
    assert len(read_missing_runs(path, {"mine": fewer, "old": {"command": None}})) == 1


def test_a_command_with_an_open_quotation_is_itself(tmp_path):
    path = _write(tmp_path / "missing.json", [_entry(command="python 'run.py")])
    assert "`python 'run.py`" in read_missing_runs(path, {})["disan_table_2"]
    assert read_missing_runs(path, {"mine": {"command": "python 'run.py"}}) == {}


def test_without_a_file_nothing_is_missing(tmp_path):
    assert read_missing_runs(tmp_path / "missing.json", {}) == {}


def test_a_damaged_file_is_named(tmp_path):
    path = _write(tmp_path / "missing.json", [_entry(command=3)])
    with pytest.raises(UserError, match="missing.json.*restore it from the repository"):
        read_missing_runs(path, {})


def test_a_table_ends_with_what_it_lacks(tmp_path):
    entries = [
        _entry(tables=["disan_table_2", "scaling"], command="one"),
        _entry(command="two", timed=None),
    ]
    missing = read_missing_runs(_write(tmp_path / "missing.json", entries), {})
    names = ("disan_table_2.md", "disan_table_2.csv", "scaling.md", "transfer.md")
    tables = add_missing_runs(dict.fromkeys(names, "whole\n"), missing)
    assert tables["disan_table_2.md"].startswith("whole\n\n")
    assert tables["disan_table_2.md"].count("Abacus") == 1
    assert tables["disan_table_2.md"].endswith("- 2.0 hours: `one`.\n- not timed: `two`.\n")
    assert "`one`" in tables["scaling.md"] and "`two`" not in tables["scaling.md"]
    assert tables["disan_table_2.csv"] == tables["transfer.md"] == "whole\n"


def test_the_missing_runs_of_the_repository_name_its_tables_and_configs():
    content = json.loads((CHECKPOINTS / "missing_runs.json").read_text(encoding="utf-8"))
    for run in content["runs"]:
        assert set(run["tables"]) <= {*TABLES, "scaling"}
        config = run["command"].split()[2].removeprefix("--config=").partition(":")[0]
        assert (CHECKPOINTS.parent / config).is_file()
