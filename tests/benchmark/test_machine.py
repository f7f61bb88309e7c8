"""What a benchmark tells of its machine."""

from disan_tf.benchmark import timing
from disan_tf.benchmark.timing import measure


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
