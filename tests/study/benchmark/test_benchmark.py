"""The whole benchmark: its files, its tables, and what it refuses."""

import json

import pytest

from disan_tf.cli.loading import compared_configs
from disan_tf.common.errors import UserError
from disan_tf.common.tables import text_table
from disan_tf.study.benchmark import step
from disan_tf.study.benchmark.parts import PARTS, benchmark
from tests.support.errors import user_error
from tests.support.runs.training import tiny_config


@pytest.fixture
def config():
    return tiny_config(name="disan_snli", batch_size=4)


def test_the_core_is_printed_and_written(config, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(step, "CORE_LENGTHS", (4, 6))
    path = tmp_path / "new" / "bench.json"
    results = benchmark(config, compared_configs, str(path), ["core"], repetitions=2)
    assert json.loads(path.read_text()) == json.loads(json.dumps(results))
    assert results["machine"]["cores"] >= 1 and results["repetitions"] == 2
    assert results["config"]["encoder"]["units"] == 16
    assert [record["length"] for record in results["core"]] == [4, 6]
    assert sorted(each.name for each in path.parent.iterdir()) == ["bench.json"]
    printed = capsys.readouterr().out.splitlines()
    assert sum(line.split()[:2] == ["6", "dense"] for line in printed) == 1


def test_what_was_measured_is_kept_when_a_later_part_fails(config, tmp_path, monkeypatch):
    parts = {"core": (lambda *_: [], "", list), "step": (lambda *_: 1 / 0, "", list)}
    monkeypatch.setattr("disan_tf.study.benchmark.parts.PARTS", parts)
    with pytest.raises(ZeroDivisionError):
        benchmark(config, compared_configs, str(tmp_path / "bench.json"), ["core", "step"])
    assert json.loads((tmp_path / "bench.json").read_text())["core"] == []


def test_all_parts_that_fit_are_the_default(config, monkeypatch):
    monkeypatch.setattr(
        "disan_tf.study.benchmark.parts.PARTS", {name: (lambda *_: [], "", list) for name in PARTS}
    )
    names = ("disan_sst", "dsa_snli", "drcn_snli")
    measured = [
        set(benchmark(each, compared_configs)) & set(PARTS)
        for each in (config, *(tiny_config(name=name) for name in names))
    ]
    assert measured[0] == {*PARTS}
    assert measured[1] == measured[0] - {"epoch", "encoders"}
    assert measured[2] == {"step", "epoch", "memory"}
    assert measured[3] == {"epoch", "memory"}


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"parts": ["speed"]}, ["speed", "core, step, epoch, encoders, memory"]),
        ({"output": "bench.png"}, ["bench.png", ".json"]),
    ],
    ids=["part", "output"],
)
def test_mistakes_are_refused(config, changes, words):
    message = user_error(benchmark, config, compared_configs, **{"parts": ["core"], **changes})
    assert all(word in message for word in words)


@pytest.mark.parametrize("part", ["epoch", "encoders"])
def test_the_parts_of_pairs_are_refused_for_single_sentences(part):
    with pytest.raises(UserError, match=f"{part} needs a config of sentence pairs, and disan_sst"):
        benchmark(tiny_config(), compared_configs, parts=[part])


def test_memory_is_a_table_of_gib():
    step = {"lengths": [15, 8], "form": "float32", "peak_gib": 1.256}
    _, _, lines_of = PARTS["memory"]
    core = {"length": 14, "form": "lean", "peak_gib": 0.5}
    table = text_table(lines_of({"core": [core], "step": [step]}))
    rows = [line.split() for line in table.splitlines()[1:]]
    assert rows == [["core", "14", "lean", "0.50"], ["step", "15/8", "float32", "1.26"]]
