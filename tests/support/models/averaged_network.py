"""A network of a table and a matrix whose optimizer keeps moving averages."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf import addons
from disan_tf.training.optimizers import adadelta

DECAY = 0.5
BATCHES = [tf.constant(ids) for ids in ([0, 2, 2], [1, 2, 0], [5, 5, 0], [3, 2, 2], [4, 0, 1])]


def use_backend(name, monkeypatch):
    """Has `disan_tf.addons` work "with_tfa" or "without_tfa"; skips where TFA is not installed."""
    optimizer = addons.MovingAverage
    if name == "with_tfa":
        tfa = pytest.importorskip("tensorflow_addons", exc_type=ImportError)
        optimizer = tfa.optimizers.MovingAverage
    monkeypatch.setattr(addons, "optimizer_class", lambda: optimizer)


def averaged_network(scaled=False):
    """The variables, the optimizer, and a step with a sparse and a dense gradient."""
    table = tf.Variable(np.linspace(-1, 1, 12, dtype=np.float32).reshape(6, 2))
    matrix = tf.Variable([[1.0, -1.0], [0.5, 2.0]])
    optimizer = addons.moving_average(adadelta(1.0), DECAY)
    if scaled:
        optimizer = tf.keras.mixed_precision.LossScaleOptimizer(optimizer, initial_scale=4.0)
    optimizer._create_all_weights([table, matrix])  # as in build_optimizer

    @tf.function(autograph=False)
    def step(ids, factor=1.0):
        with tf.GradientTape() as tape:
            loss = factor * tf.reduce_sum(tf.square(tf.gather(table, ids) @ matrix))
            objective = optimizer.get_scaled_loss(loss) if scaled else loss
        gradients = tape.gradient(objective, [table, matrix])
        assert isinstance(gradients[0], tf.IndexedSlices)
        if scaled:
            gradients = optimizer.get_unscaled_gradients(gradients)
        optimizer.apply_gradients(zip(gradients, [table, matrix]))

    return [table, matrix], optimizer, step


def train_and_save(path, scaled=False):
    """Saves a checkpoint after three of `BATCHES` and trains on.

    Returns:
      The checkpoint's path, and the weights and averages after all batches.
    """
    variables, optimizer, step = averaged_network(scaled)
    for ids in BATCHES[:3]:
        step(ids)
    saved = tf.train.Checkpoint(variables=variables, optimizer=optimizer).save(path)
    for ids in BATCHES[3:]:
        step(ids)
    return saved, numbers(optimizer, variables)


def restore_and_train(saved, scaled=False):
    """Restores a checkpoint of `train_and_save` into a new network and trains on.

    Returns:
      The optimizer, and the weights and averages.
    """
    variables, optimizer, step = averaged_network(scaled)
    status = tf.train.Checkpoint(variables=variables, optimizer=optimizer).restore(saved)
    status.assert_existing_objects_matched()
    for ids in BATCHES[3:]:
        step(ids)
    status.assert_consumed()
    return optimizer, numbers(optimizer, variables)


def numbers(optimizer, variables):
    """The variables and their averages, as arrays."""
    return [variable.numpy() for variable in variables] + averages(optimizer, variables)


def averages(optimizer, variables):
    """The averages of the variables, as arrays."""
    trained = [variable.numpy() for variable in variables]
    getattr(optimizer, "inner_optimizer", optimizer).assign_average_vars(variables)
    values = [variable.numpy() for variable in variables]
    for variable, value in zip(variables, trained):
        variable.assign(value)
    return values
