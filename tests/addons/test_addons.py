"""The moving average, with tensorflow-addons (TFA) and without."""

import warnings

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.training.optimizers import adadelta
from tests.support.models.averaged_network import (
    BATCHES,
    DECAY,
    averaged_network,
    averages,
    numbers,
    restore_and_train,
    train_and_save,
    use_backend,
)


@pytest.fixture(autouse=True, params=["with_tfa", "without_tfa"])
def _backend(request, monkeypatch):
    use_backend(request.param, monkeypatch)


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("scaled", [False, True])
def test_average_follows_its_recursion_and_leaves_training_alone(scaled):
    variables, optimizer, step = averaged_network(scaled)
    expected = [variable.numpy() for variable in variables]
    plain, bare = [tf.Variable(variable) for variable in variables], adadelta(1.0)
    for ids in BATCHES:
        step(ids)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.gather(plain[0], ids) @ plain[1]))
        bare.apply_gradients(zip(tape.gradient(loss, plain), plain))
        expected = [DECAY * mean + (1 - DECAY) * v.numpy() for mean, v in zip(expected, plain)]
    for variable, alone in zip(variables, plain):
        np.testing.assert_allclose(variable, alone, rtol=1e-6)
    for average, mean in zip(averages(optimizer, variables), expected):
        np.testing.assert_allclose(average, mean, rtol=1e-5)
    assert int(optimizer.iterations) == len(BATCHES)


def test_overflow_changes_neither_weights_noraverages():
    variables, optimizer, step = averaged_network(scaled=True)
    step(BATCHES[0])
    before = numbers(optimizer, variables)
    step(BATCHES[1], tf.constant(np.inf))
    assert float(optimizer.loss_scale) == 2.0
    after = numbers(optimizer, variables)
    for old, new in zip(before, after):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize("scaled", [False, True])
def test_restored_average_goes_on_bit_for_bit(scaled, tmp_path):
    saved, expected = train_and_save(tmp_path / "step", scaled)
    optimizer, found = restore_and_train(saved, scaled)
    for ours, theirs in zip(found, expected):
        np.testing.assert_array_equal(ours, theirs)
    assert int(optimizer.iterations) == len(BATCHES)
