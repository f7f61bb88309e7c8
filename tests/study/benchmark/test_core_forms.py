"""The attention core of the benchmark: what runs, where, and what is recorded."""

import pickle

import pytest

from disan_tf.ops import available_forms
from disan_tf.study.benchmark import step
from disan_tf.study.benchmark.step import forms_at, measure_core, measure_memory
from tests.support.runs.training import load_config, tiny_config

FORMS = ["dense", *available_forms()]


@pytest.fixture
def config():
    return tiny_config(name="disan_snli", batch_size=4)


def test_dense_forms_stop_where_memory_would():
    config = load_config("disan_snli")
    batch, units = config.train.batch_size, config.encoder.units
    assert forms_at(80, batch, units) == FORMS
    assert not {"dense", "plain"} & set(forms_at(400, batch, units))
    assert "lean" in forms_at(400, batch, units)


def test_records_hold_times_and_ratios(config):
    (record,) = measure_core(config, repetitions=2, lengths=[6])
    assert record["length"] == 6 and list(record["forms"]) == FORMS
    for times in record["forms"].values():
        assert times["min_ms"] <= times["median_ms"] <= times["max_ms"]
        ratio = record["forms"]["dense"]["median_ms"] / times["median_ms"]
        assert times["dense_ratio"] == pytest.approx(ratio)
        elements = 4 * 16 * (6 * 5 / 2)  # batch * features * pairs that may attend
        assert times["elements_per_ns"] == pytest.approx(elements / times["median_ms"] / 1e6)


def test_memory_is_that_of_a_function_that_a_process_can_run(config, monkeypatch):
    def run(function, *arguments):
        pickle.loads(pickle.dumps(function))(*arguments)
        return 0.5

    monkeypatch.setattr(step, "peak_gib", run)
    monkeypatch.setattr(step, "forms_at", lambda *_: ["lean"])
    monkeypatch.setattr(step, "_MEMORY_LENGTHS", [6])
    record = {"length": 6, "form": "lean", "peak_gib": 0.5}
    assert measure_memory(config, None, {}) == {"core": [record], "step": []}
