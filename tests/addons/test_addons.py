"""The moving average, with tensorflow-addons (TFA) and without."""

import itertools
import sys
import warnings

import numpy as np
import pytest
import tensorflow as tf

from disan_tf import addons
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

BACKENDS = ("with_tfa", "without_tfa")


@pytest.fixture(params=BACKENDS)
def _backend(request, monkeypatch):
    use_backend(request.param, monkeypatch)


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.usefixtures("_backend")
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


@pytest.mark.usefixtures("_backend")
def test_overflow_changes_neither_weights_nor_averages():
    variables, optimizer, step = averaged_network(scaled=True)
    step(BATCHES[0])
    before = numbers(optimizer, variables)
    step(BATCHES[1], tf.constant(np.inf))
    assert float(optimizer.loss_scale) == 2.0
    after = numbers(optimizer, variables)
    for old, new in zip(before, after):
        np.testing.assert_array_equal(old, new)


@pytest.mark.usefixtures("_backend")
@pytest.mark.parametrize("scaled", [False, True])
def test_restored_average_goes_on_bit_for_bit(scaled, tmp_path):
    saved, expected = train_and_save(tmp_path / "step", scaled)
    optimizer, found = restore_and_train(saved, scaled)
    for ours, theirs in zip(found, expected):
        np.testing.assert_array_equal(ours, theirs)
    assert int(optimizer.iterations) == len(BATCHES)


def _without_installed_tfa(monkeypatch):
    for name in ("tensorflow_addons", "tensorflow_addons.optimizers"):
        monkeypatch.setitem(sys.modules, name, None)


def test_tfa_is_taken_where_it_is_installed():
    pytest.importorskip("tensorflow_addons", exc_type=ImportError)
    module = addons.optimizer_class.__wrapped__().__module__
    assert module.startswith("tensorflow_addons.")


def test_tfa_is_not_needed(monkeypatch):
    _without_installed_tfa(monkeypatch)
    assert addons.optimizer_class.__wrapped__() is addons.MovingAverage


@pytest.mark.parametrize("saved_by, restored_by", itertools.permutations(BACKENDS))
def test_checkpoints_of_one_continue_with_the_other_bit_for_bit(
    saved_by, restored_by, monkeypatch, tmp_path
):
    use_backend(saved_by, monkeypatch)
    saved, expected = train_and_save(tmp_path / "step")
    use_backend(restored_by, monkeypatch)
    for ours, theirs in zip(restore_and_train(saved)[1], expected):
        np.testing.assert_array_equal(ours, theirs)


def test_both_keep_the_same_variables(monkeypatch):
    variables = []
    for name in BACKENDS:
        use_backend(name, monkeypatch)
        variables.append([(it.name, it.shape) for it in averaged_network()[1].weights])
    assert variables[0] == variables[1]


@pytest.mark.usefixtures("_backend")
def test_a_wrapped_optimizer_is_rebuilt_from_its_config():
    optimizer = addons.moving_average(tf.keras.optimizers.legacy.SGD(0.25), 0.75)
    config = optimizer.get_config()
    again = type(optimizer).from_config(config).get_config()
    assert again["average_decay"] == 0.75
    assert again["optimizer"]["config"]["learning_rate"] == 0.25


@pytest.mark.usefixtures("_backend")
def test_a_warm_up_averages_the_first_steps_with_a_low_decay():
    sgd = tf.keras.optimizers.legacy.SGD(1.0)
    optimizer = addons.moving_average(sgd, 0.15, warm_up=True)
    weight, average = tf.Variable(0.0), 0.0
    for decay in (1 / 10, 0.15, 0.15):  # 2 / 11 is above .15
        optimizer.apply_gradients([(tf.constant(-1.0), weight)])
        average = decay * average + (1 - decay) * float(weight)
    optimizer.assign_average_vars([weight])
    assert float(weight) == pytest.approx(average)


@pytest.mark.usefixtures("_backend")
def test_the_learning_rate_is_that_of_the_wrapped_optimizer():
    wrapped = tf.keras.optimizers.legacy.SGD(0.25)
    optimizer = addons.moving_average(wrapped, 0.75)
    assert float(optimizer.learning_rate.numpy()) == 0.25
    optimizer.learning_rate = 0.125
    assert float(wrapped.learning_rate.numpy()) == 0.125
