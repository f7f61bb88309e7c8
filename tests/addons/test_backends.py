"""Which backend `disan_tf.addons` takes, and that both agree: weights, checkpoints."""

import itertools
import sys

import numpy as np
import pytest
import tensorflow as tf

from disan_tf import addons
from disan_tf.addons import without_tfa
from tests.support.models.averaged_network import (
    averaged_network,
    restore_and_train,
    train_and_save,
    use_backend,
)

BACKENDS = ("with_tfa", "without_tfa")


def _without_installed_tfa(monkeypatch):
    for name in ("tensorflow_addons", "tensorflow_addons.optimizers"):
        monkeypatch.setitem(sys.modules, name, None)


def test_tfa_is_taken_where_it_is_installed():
    pytest.importorskip("tensorflow_addons", exc_type=ImportError)
    module = addons.optimizer_class.__wrapped__().__module__
    assert module.startswith("tensorflow_addons.")


def test_tfa_is_not_needed(monkeypatch):
    _without_installed_tfa(monkeypatch)
    assert addons.optimizer_class.__wrapped__() is without_tfa.MovingAverage


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


@pytest.mark.parametrize("name", BACKENDS)
def test_a_wrapped_optimizer_is_rebuilt_from_its_config(name, monkeypatch):
    use_backend(name, monkeypatch)
    optimizer = addons.moving_average(tf.keras.optimizers.legacy.SGD(0.25), 0.75)
    config = optimizer.get_config()
    again = type(optimizer).from_config(config).get_config()
    assert again["average_decay"] == 0.75
    assert again["optimizer"]["config"]["learning_rate"] == 0.25


@pytest.mark.parametrize("name", BACKENDS)
def test_a_warm_up_averages_the_first_steps_with_a_low_decay(name, monkeypatch):
    use_backend(name, monkeypatch)
    sgd = tf.keras.optimizers.legacy.SGD(1.0)
    optimizer = addons.moving_average(sgd, 0.15, warm_up=True)
    weight, average = tf.Variable(0.0), 0.0
    for decay in (1 / 10, 0.15, 0.15):  # 2 / 11 is above .15
        optimizer.apply_gradients([(tf.constant(-1.0), weight)])
        average = decay * average + (1 - decay) * float(weight)
    optimizer.assign_average_vars([weight])
    assert float(weight) == pytest.approx(average)


@pytest.mark.parametrize("name", BACKENDS)
def test_the_learning_rate_is_that_of_the_wrapped_optimizer(name, monkeypatch):
    use_backend(name, monkeypatch)
    wrapped = tf.keras.optimizers.legacy.SGD(0.25)
    optimizer = addons.moving_average(wrapped, 0.75)
    assert float(optimizer.learning_rate.numpy()) == 0.25
    optimizer.learning_rate = 0.125
    assert float(wrapped.learning_rate.numpy()) == 0.125
