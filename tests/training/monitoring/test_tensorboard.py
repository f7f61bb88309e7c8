"""The event files of a training, read back."""

import contextlib
import math
import resource
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf
from tensorboard.plugins.hparams import plugin_data_pb2

from configs.disan_sst import get_config
from disan_tf.common.errors import explain
from disan_tf.common.options import flatten
from disan_tf.models.factory import build_model
from disan_tf.training.config import from_dict
from disan_tf.training.monitoring import tensorboard
from disan_tf.training.monitoring.tensorboard import (
    TensorBoardLogger,
    attention_histograms,
)
from disan_tf.training.steps import make_evaluation_step

PROBE = np.array([[2, 3, 4, 5], [3, 4, 0, 0], [2, 0, 0, 0]], np.int32)
UNITS = 2


class _EvenAttention:
    """On the probe: all admissible tokens alike, gates 0.25 on tokens and 9 on padding."""

    fields = ("sentence",)
    criterion = "accuracy"

    def attend(self, ids):
        mask = PROBE != 0
        positions = np.arange(mask.shape[1])
        earlier = positions[None, :] < positions[:, None]  # [head, dependent]
        gate = np.repeat(np.where(mask, 0.25, 9.0)[..., None], UNITS, axis=-1)
        return {
            "forward_attention": self._even(earlier & mask[:, None, :], axis=2),
            "backward_attention": self._even(earlier.T & mask[:, None, :], axis=2),
            "forward_gate": tf.constant(gate, tf.bfloat16),
            "backward_gate": tf.constant(gate, tf.float32),
            "source2token": self._even(mask, axis=1),
        }

    def _even(self, admitted, axis):
        weights = admitted / np.maximum(admitted.sum(axis, keepdims=True), 1)
        return tf.constant(np.repeat(weights[..., None], UNITS, axis=-1), tf.float32)


@pytest.fixture
def config():
    return get_config("tiny")


@pytest.fixture(scope="module")
def model():
    return build_model(get_config("tiny"), (6, 2), 5)


@pytest.fixture
def start(config, tmp_path):
    """Begins a training that writes to tmp_path and logs every two steps."""

    def start(model=None, evaluation_step=None, last_step=0, pictures=(), measured=()):
        step = evaluation_step or tf.function(tf.identity, input_signature=[tf.TensorSpec([])])
        config.train.log_every = 2
        logger = TensorBoardLogger(tmp_path, from_dict(config), [PROBE], step, 15.5, pictures)
        callbacks = tf.keras.callbacks.CallbackList(
            [logger], model=model or _EvenAttention(), epochs=1, steps=8
        )
        callbacks.on_train_begin({"step": last_step, "measured": list(measured)})
        return callbacks

    return start


def _step(callbacks, batch, loss=1.0, accuracy=0.5):
    callbacks.on_train_batch_begin(batch)
    callbacks.on_train_batch_end(batch, {"loss": loss, "accuracy": accuracy})


def _evaluate(callbacks, step, loss=1.0, accuracy=0.5):
    callbacks.on_test_begin()
    callbacks.on_test_end({"step": step, "loss": loss, "accuracy": accuracy})


def _events(directory):
    for path in sorted(directory.glob("events.*")):
        yield from tf.compat.v1.train.summary_iterator(str(path))


def _values(directory):
    """(tag, step) -> array, for everything with a tensor; see `_hparams` for the options."""
    return {
        (value.tag, event.step): tf.make_ndarray(value.tensor)
        for event in _events(directory)
        for value in event.summary.value
        if value.HasField("tensor") and not value.tag.startswith("_hparams_/")
    }


def _hparams(directory):
    """What was written of HParams."""
    return [
        plugin_data_pb2.HParamsPluginData.FromString(value.metadata.plugin_data.content)
        for event in _events(directory)
        for value in event.summary.value
        if value.metadata.plugin_data.plugin_name == "hparams"
    ]


def test_training_scalars_are_means_over_the_steps_done(start, tmp_path):
    running = start()
    for batch, (loss, accuracy) in enumerate([(4, 0), (2, 0.5), (1, 0.5), (2, 1), (9, 0)]):
        _step(running, batch, loss, accuracy)
    running.on_train_end()
    found = _values(tmp_path / "train")
    assert {key: float(found[key]) for key in found if key[0] != "examples_per_second"} == {
        ("loss", 2): 3.0,
        ("accuracy", 2): 0.25,
        ("loss", 4): 1.5,
        ("accuracy", 4): 0.75,
    }


def test_a_point_that_a_resumed_training_writes_again_is_removed(start, tmp_path):
    running = start()
    for batch in range(4):
        _step(running, batch)
    _evaluate(running, 4)
    running.on_train_end()
    start(last_step=4, measured=[{"loss": 1.0}]).on_train_end()
    assert {step for _, step in _values(tmp_path / "train")} == {2}
    assert ("loss", 4) in _values(tmp_path / "dev")


def test_speed_leaves_out_evaluations(start, tmp_path, monkeypatch):
    clock = SimpleNamespace(now=100.0, monotonic=lambda: clock.now, time=lambda: clock.now)
    monkeypatch.setattr(tensorboard, "time", clock)
    running = start()
    clock.now += 2.0
    _step(running, 0)
    running.on_test_begin()
    clock.now += 500.0
    running.on_test_end({"step": 1, "loss": 1.0, "accuracy": 0.5})
    clock.now += 6.0
    _step(running, 1)
    running.on_train_end()
    speed = _values(tmp_path / "train")["examples_per_second", 2]
    assert speed == pytest.approx(2 * 15.5 / 8.0)


def test_a_watched_split_has_curves_of_its_own(start, config, tmp_path):
    config.evaluate.splits = ("test", "mismatched")
    running = start()
    watched = {"test": {"loss": 2.5, "accuracy": 0.5}, "mismatched": {"loss": 4.0}}
    running.on_test_begin()
    running.on_test_end({"step": 3, "loss": 1.5, "watched": watched})
    running.on_train_end()
    test, mismatched = (_values(tmp_path / split) for split in ("test", "mismatched"))
    assert test == {("loss", 3): 2.5, ("accuracy", 3): 0.5}
    assert mismatched == {("loss", 3): 4.0}
    assert float(_values(tmp_path / "dev")["loss", 3]) == 1.5


def test_histograms_hold_real_tokens_only_and_span_the_entropies(start, tmp_path):
    running = start()
    _evaluate(running, 3)
    running.on_train_end()
    found = _values(tmp_path / "dev")
    rows = {
        "gate/forward": 7,
        "gate/backward": 7,
        "attention_entropy/forward": 4,  # 3 + 1 + 0 tokens have an earlier one
        "attention_entropy/backward": 4,
        "attention_entropy/source2token": 3,  # sentences
    }
    counts = {key: found[key][:, 2].sum() for key in found if "/" in key[0]}
    assert counts == {(name, 3): UNITS * count for name, count in rows.items()}
    edges = found["attention_entropy/forward", 3]  # of 1 to 3 dependents
    assert (edges[0, 0], edges[-1, 1]) == (0.0, pytest.approx(math.log(3)))


def test_entropy_of_even_attention_is_the_logarithm_of_its_dependents():
    values = attention_histograms(_EvenAttention(), tf.constant(PROBE))
    heads = [math.log(n) for n in (1, 2, 3, 1)]  # dependents of the tokens that have any
    for direction, expected in (("forward", heads), ("backward", [heads[k] for k in (2, 1, 0, 3)])):
        found = values[f"attention_entropy/{direction}"]
        np.testing.assert_allclose(found, np.transpose([expected] * UNITS), atol=1e-6)
    sentences = [math.log(n) for n in (4, 2, 1)]
    found = values["attention_entropy/source2token"]
    np.testing.assert_allclose(found, np.transpose([sentences] * UNITS), atol=1e-6)


def test_hparams_name_all_options(start, tmp_path, config):
    start().on_train_end()
    (session,) = _hparams(tmp_path / "dev")  # a description of the experiment would fix the columns
    found = {
        name: getattr(value, value.WhichOneof("kind"))
        for name, value in session.session_start_info.hparams.items()
    }
    options = flatten(config.to_dict())
    assert found.keys() == options.keys() and found["evaluate.splits"] == str(())
    for name in ("train.dropout", "encoder.name", "data.lowercase", "seed", "data.vectors"):
        assert found[name] == options[name]


def test_steps_that_are_done_again_appear_once(start, tmp_path):
    killed = start()
    for batch in range(5):
        _step(killed, batch, loss=8.0)
    _evaluate(killed, 3, loss=8.0)
    _evaluate(killed, 5, loss=8.0)
    (later,) = (tmp_path / "dev").iterdir()
    with open(later, "ab") as file:
        file.write(b"cut off")
    resumed = start(last_step=3)
    for batch in (3, 4, 5):
        _step(resumed, batch, loss=1.0)
    _evaluate(resumed, 5, loss=1.0)
    resumed.on_train_end()
    for folder, expected in {"train": [8.0, 1.0, 1.0], "dev": [8.0, 1.0]}.items():
        losses = [
            float(tf.make_ndarray(value.tensor))
            for event in sorted(_events(tmp_path / folder), key=lambda event: event.step)
            for value in event.summary.value
            if value.tag == "loss"
        ]
        assert losses == expected


@contextlib.contextmanager
def _full_disk():
    """Lets every write to a file fail."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def _two_steps(running):
    for batch in (0, 1):
        _step(running, batch)


@pytest.mark.parametrize("action", [_two_steps, lambda running: _evaluate(running, 2)])
def test_a_full_disk_stops_the_training(start, action, tmp_path):
    running = start()
    with _full_disk(), pytest.raises(tf.errors.OpError) as caught:
        action(running)
    assert str(tmp_path) in explain(caught.value)


def test_steps_before_a_stop_count_in_the_first_point_after_it(start, tmp_path):
    running = start(last_step=1, measured=[{"loss": 1.0, "accuracy": 0.0}])
    _step(running, 1, loss=3.0, accuracy=0.5)
    running.on_train_end()
    found = _values(tmp_path / "train")
    assert (found["loss", 2], found["accuracy", 2]) == (2.0, 0.25)


def test_a_point_is_of_one_phase(start, tmp_path):
    running = start()
    for batch, phase in enumerate((1.0, 2.0)):
        running.on_train_batch_begin(batch)
        running.on_train_batch_end(batch, {"loss": float(batch), "phase": phase})
    running.on_train_end()
    found = _values(tmp_path / "train")
    assert (found["phase", 1], found["phase", 2]) == (1.0, 2.0)


def test_the_config_is_text(start, config, tmp_path):
    start().on_train_end()
    (text,) = _values(tmp_path)["config", 0].reshape(-1).tolist()
    assert '    "batch_size": 16,' in text.decode()


def test_pictures_are_drawn_at_every_evaluation(start, tmp_path):
    picture = np.full([4, 6, 3], 200, np.uint8)
    running = start(pictures=[lambda: [("attention/1", picture)]])
    for step in (2, 4):
        _evaluate(running, step)
    running.on_train_end()
    found = _values(tmp_path / "dev")
    for step in (2, 4):
        width, height, png = found["attention/1", step].tolist()
        assert (width, height) == (b"6", b"4")
        np.testing.assert_array_equal(tf.io.decode_png(png), picture)


def test_an_evaluation_asks_for_attention_and_writes_the_graph_of_the_step_that_is_traced_once(
    start, model, monkeypatch, tmp_path
):
    calls = []
    attend = model.attend
    monkeypatch.setattr(model, "attend", lambda ids: calls.append(ids) or attend(ids))
    evaluation_step = make_evaluation_step(model)
    running = start(model, evaluation_step)
    for batch in range(4):
        _step(running, batch)
    assert calls == [] and evaluation_step.experimental_get_tracing_count() == 0
    for length in (4, 3):
        evaluation_step(PROBE[:, :length], np.zeros(3, np.int32))
        _evaluate(running, length)
    running.on_train_end()
    assert len(calls) == 1  # Python runs at the trace alone
    assert evaluation_step.experimental_get_tracing_count() == 1
    graphs = [event.graph_def for event in _events(tmp_path / "dev") if event.graph_def]
    assert len(graphs) == 1
    names = {node.name for node in tf.compat.v1.GraphDef.FromString(graphs[0]).node}
    assert "sentence" in names and any("source2token" in name for name in names)
