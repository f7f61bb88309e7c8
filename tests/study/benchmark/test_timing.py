"""Medians of functions that take turns, and peak memory of processes."""

import time

import numpy as np
import pytest

from disan_tf.study.benchmark import timing
from disan_tf.study.benchmark.timing import WARM_UPS, Timing, measure, peak_gib


def test_functions_take_turns_after_their_warm_ups():
    calls = []
    functions = {name: lambda name=name: calls.append(name) for name in "ab"}
    timings = measure(functions, repetitions=3, settle=False)
    assert calls == ["a"] * WARM_UPS + ["b"] * WARM_UPS + ["a", "b"] * 3
    calls.clear()
    timings = measure(functions, repetitions=3)
    assert calls == ["a"] * WARM_UPS + ["b"] * WARM_UPS + ["a", "a", "b", "b"] * 3
    assert [len(timing.seconds) for timing in timings.values()] == [3, 3]


def test_each_function_gets_its_own_time():
    timings = measure({"slow": lambda: time.sleep(0.02), "quick": lambda: None}, repetitions=3)
    assert min(timings["slow"].seconds) >= 0.02
    assert timings["quick"].median < 0.01


def test_a_summary_is_in_milliseconds():
    summary = Timing((0.001, 0.5, 0.003)).summary()
    assert summary == pytest.approx({"median_ms": 3.0, "min_ms": 1.0, "max_ms": 500.0})


def test_a_call_on_a_gpu_ends_when_the_gpu_has_finished(monkeypatch):
    events = []
    monkeypatch.setattr(timing.tf.config, "get_visible_devices", lambda kind: [kind])
    monkeypatch.setattr(
        timing.tf.test.experimental, "sync_devices", lambda: events.append("finished")
    )
    measure({"step": lambda: events.append("called")}, 1)
    assert events[-3:] == ["finished", "called", "finished"]


def test_the_peak_counts_what_the_function_touched_and_nothing_of_its_caller():
    kept = np.ones(2**27)  # one GiB
    assert 0.2 < peak_gib(np.ones, 2**25) < kept.nbytes / 2**30  # a quarter of a GiB is touched
