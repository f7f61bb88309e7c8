"""The attention core of the benchmark: what runs, where, and what is recorded."""

import pytest
import tensorflow as tf

from disan_tf.benchmark.core import (
    forms_at,
    make_core,
    measure_core,
    measure_core_memory,
    measure_core_threads,
)
from disan_tf.ops import available_forms
from tests.support.runs.training import load_config, tiny_config

FORMS = ["dense", *available_forms()]


@pytest.fixture
def config():
    return tiny_config(name="disan_snli", batch_size=4)


def test_every_form_computes_the_same_context_and_gradients():
    results = [make_core(form, 7, 3, 5)() for form in FORMS]
    for result in results:
        assert [tensor.shape for tensor in result] == [(3, 7, 5)] * 4
        for tensor, expected in zip(result, results[0]):
            tf.debugging.assert_near(tensor, expected, atol=1e-4, rtol=1e-4)


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


def test_memory_is_that_of_a_process_of_its_own(config, monkeypatch):
    monkeypatch.setattr("disan_tf.benchmark.core.forms_at", lambda *_: ["lean"])
    (record,) = measure_core_memory(config, lengths=[6])
    assert (record["length"], record["form"]) == (6, "lean")
    assert 0.1 < record["peak_gib"] < 2.0


def test_threads_are_counted_in_processes_of_their_own(config, monkeypatch):
    """With a process that takes 8 ms on one thread and 8 / n on n."""
    seen = []

    def process(_, threads, *core):
        seen.append((threads, *core))
        return 8.0 / threads

    monkeypatch.setattr("disan_tf.benchmark.core.in_new_process", process)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    (record,) = measure_core_threads(config, repetitions=3, lengths=[6])
    assert seen == [(threads, 30, FORMS[-1], 6, 4, 16) for threads in (1, 4)]
    times = {"one_ms": 8.0, "all_ms": 2.0, "speedup": 4.0}
    assert record == {"length": 6, "form": FORMS[-1], **times}


def test_a_rate_selects_this_share_of_heads_and_dependents():
    context, *gradients = make_core("lean", 8, 3, 5, rate=0.25)()
    heads = tf.reduce_any(context != 0.0, axis=2)
    assert tf.reduce_sum(tf.cast(heads, tf.int32)) <= 3 * 2
    dependents = tf.reduce_any(gradients[2] != 0.0, axis=2)
    assert 0 < tf.reduce_sum(tf.cast(dependents, tf.int32)) <= 3 * 2
