"""TensorBoard: curves, the graph, gates, attention entropy and hyper-parameters."""

import hashlib
import json
import time
from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorboard.plugins.hparams import api as hparams


class TensorBoardLogger(tf.keras.callbacks.Callback):
    """Writes the event files of a training; a resumed one adds further files.

    `train/`: loss, accuracy and examples per second, means over `log_every` steps. `dev/`: loss
    and accuracy of every evaluation, histograms of the gates and of the attention entropy on a
    fixed batch, and once the evaluation step's graph. `.`: HParams. A step's number is the count
    of steps done with it, as in `metrics.jsonl`. The speed leaves evaluations out.

    Args:
      directory: `<workdir>/tensorboard`.
      config: the training's config.
      probe: for each of the model's fields <int32>[batch, length], what the histograms show.
      evaluation_step: see `disan_tf.training.steps.make_evaluation_step`.
      log_every: steps between two points of the training curves.
      examples: of a step, in the mean.
    """

    def __init__(
        self, directory, config, probe, evaluation_step, log_every: int, examples: float
    ):  # fmt: skip
        super().__init__()
        self._directory = Path(directory)
        self._config = config
        self._probe = [tf.constant(ids, tf.int32) for ids in probe]
        self._evaluation_step = evaluation_step
        self._log_every = log_every
        self._examples = examples

    def on_train_begin(self, logs=None):
        with tf.summary.create_file_writer(str(self._directory)).as_default() as writer:
            write_hparams(self._config)
            writer.close()
        self._train, self._dev = (
            tf.summary.create_file_writer(str(self._directory / name)) for name in ("train", "dev")
        )
        self._measure = tf.function(lambda: measure(self.model, *self._probe))
        self._graph_written = False
        self._scores = []
        self._started = time.monotonic()

    def on_train_batch_end(self, batch, logs=None):
        self._scores.append((logs["loss"], logs["accuracy"]))
        if (batch + 1) % self._log_every == 0:
            self._write_training(batch + 1)

    def _write_training(self, step):
        loss, accuracy = np.mean(self._scores, axis=0)
        examples = len(self._scores) * self._examples
        with self._train.as_default(step):
            tf.summary.scalar("loss", loss)
            tf.summary.scalar("accuracy", accuracy)
            tf.summary.scalar("examples_per_second", examples / self._seconds())
        self._train.flush()
        self._scores = []
        self._started = time.monotonic()

    def _seconds(self):
        return time.monotonic() - self._started

    def on_test_begin(self, logs=None):
        self._trained = self._seconds()

    def on_test_end(self, logs=None):
        with self._dev.as_default(logs["step"]):
            tf.summary.scalar("loss", logs["loss"])
            tf.summary.scalar("accuracy", logs["accuracy"])
            for name, values in self._measure().items():
                tf.summary.histogram(name, values)
            if not self._graph_written:
                tf.summary.graph(self._evaluation_step.get_concrete_function().graph)
                self._graph_written = True
        self._dev.flush()
        self._started = time.monotonic() - self._trained

    def on_train_end(self, logs=None):
        self._train.close()
        self._dev.close()


def measure(model, *ids: tf.Tensor) -> dict:
    """What the histograms show of a batch.

    The entropy -sum_i p_i ln p_i is in nats: 0 where a feature looks at one token, ln n where it
    looks at n alike. Padding, and tokens that may attend to nothing, are left out.

    Args:
      model: a `SentenceModel` over a `DiSAN` encoder.
      ids: <int32>[batch, length] for each of its fields.

    Returns:
      "gate/<direction>" <float32>[tokens, units], "attention_entropy/<direction>"
      <float32>[heads, units] and "attention_entropy/source2token" <float32>[batch, 2 * units];
      for pairs "gate/premise_<direction>", and so on.
    """
    attended = model.attend(*ids)
    if len(ids) == 1:
        return _measure_field(attended, "", *ids)
    values = {}
    for field, field_ids in zip(model.fields, ids):
        values.update(_measure_field(attended, f"{field}_", field_ids))
    return values


def _measure_field(attended, prefix, ids):
    """`measure` of the tensors whose names begin with `prefix`."""
    mask = tf.not_equal(ids, 0)
    values = {}
    for direction in (f"{prefix}forward", f"{prefix}backward"):
        gate = tf.boolean_mask(attended[f"{direction}_gate"], mask)
        values[f"gate/{direction}"] = tf.cast(gate, tf.float32)
        attention = attended[f"{direction}_attention"]  # [batch, head, dependent, units]
        attends = mask & tf.reduce_any(attention > 0.0, axis=[2, 3])  # [batch, head]
        heads = tf.boolean_mask(entropy(attention, axis=2), attends)
        values[f"attention_entropy/{direction}"] = heads
    name = f"{prefix}source2token"
    values[f"attention_entropy/{name}"] = entropy(attended[name], axis=1)
    return values


def entropy(weights: tf.Tensor, axis: int) -> tf.Tensor:
    """-sum p ln p along an axis of <float>[...] weights, in nats; 0 ln 0 = 0."""
    return -tf.reduce_sum(tf.math.xlogy(weights, weights), axis=axis)


def write_hparams(config) -> None:
    """Writes the values that experiments differ in, by the default writer."""
    values = {
        "learning_rate": config.train.learning_rate,
        "dropout": config.train.dropout,
        "l2": config.train.l2,
        "batch_size": config.train.batch_size,
        "units": config.encoder.units,
        "activation": config.encoder.activation,
        "dtype": config.dtype,
        "seed": config.seed,
    }
    accuracy = hparams.Metric("accuracy", group="dev", display_name="dev accuracy")
    hparams.hparams_config([hparams.HParam(name) for name in values], [accuracy])
    digest = hashlib.sha256(json.dumps(config.to_dict(), sort_keys=True).encode()).hexdigest()
    hparams.hparams(values, trial_id=digest[:16])
