"""What a benchmark tells of its machine."""

import pytest

from disan_tf.benchmark import timing
from disan_tf.benchmark.timing import measure
from disan_tf.reporting import benchmark_tables


def test_a_call_on_a_gpu_ends_when_the_gpu_has_finished(monkeypatch):
    events = []
    gpus = [object()]
    monkeypatch.setattr(timing.tf.config, "get_visible_devices", lambda kind: gpus)
    monkeypatch.setattr(
        timing.tf.test.experimental, "sync_devices", lambda: events.append("finished")
    )
    measure({"step": lambda: events.append("called")}, 1)
    assert events[-3:] == ["finished", "called", "finished"]
    del gpus[:]
    events.clear()
    measure({"step": lambda: events.append("called")}, 1)
    assert set(events) == {"called"}


@pytest.mark.parametrize(
    "gpu, title", [({}, ""), ({"gpu": "none"}, ""), ({"gpu": "NVIDIA L4"}, "NVIDIA L4, ")]
)
def test_a_table_names_the_gpu(gpu, title):
    described = {"processor": "Fast", "threads": 2, "tensorflow": "2.15.1", **gpu}
    text = benchmark_tables._title(described)
    assert text == f"{title}Fast, 2 threads, TensorFlow 2.15.1"
