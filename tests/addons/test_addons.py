"""The bar, the moving average, F1 and kappa, with tensorflow-addons (TFA) and without."""

import warnings

import numpy as np
import pytest
import tensorflow as tf

from disan_tf import addons
from disan_tf.training.monitoring.console import describe_scores
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


def _train(first, last, epoch_steps=4, evaluate_at=(), batch_size=None):
    """The loop's calls for the steps `first` to `last` - 1."""
    bar = addons.progress_bar(batch_size, describe_scores)
    callbacks = tf.keras.callbacks.CallbackList([bar], epochs=3, steps=epoch_steps)
    callbacks.on_train_begin()
    step = first
    while step < last:
        epoch = step // epoch_steps
        callbacks.on_epoch_begin(epoch)
        while step < min(last, (epoch + 1) * epoch_steps):
            callbacks.on_train_batch_begin(step)
            bar.last_update_time = bar.epoch_progress_tqdm.mininterval = 0  # draw every step
            callbacks.on_train_batch_end(step, {"loss": float(step), "accuracy": 0.25})
            step += 1
            if step in evaluate_at:
                callbacks.on_test_begin()
                callbacks.on_test_end({"step": step, "loss": 1.25, "accuracy": 0.75})
        callbacks.on_epoch_end(epoch)
    callbacks.on_train_end()
    return bar


def test_bar_shows_steps_time_left_mean_scores_and_speed(capsys):
    _train(0, 4, batch_size=8)
    shown = capsys.readouterr().err
    assert "3/4" in shown and " left - loss: 1 - accuracy: 0.25" in shown
    assert " sentences/s" in shown


def test_finished_bar_keeps_the_mean_scores_of_the_epoch():
    assert _train(0, 4).epoch_progress_tqdm.desc == "loss: 1.5 - accuracy: 0.25"


def test_bar_of_a_resumed_epoch_starts_where_it_stopped(capsys):
    bar = _train(6, 8)
    captured = capsys.readouterr()
    assert "Epoch 2/3" in captured.out
    assert "3/4" in captured.err and "1/4" not in captured.err
    assert (bar.epoch_progress_tqdm.initial, bar.epoch_progress_tqdm.n) == (2, 4)
    assert (bar.overall_progress_tqdm.initial, bar.overall_progress_tqdm.n) == (1, 2)


def test_bar_of_a_training_that_ends_inside_an_epoch_is_not_filled(capsys):
    bar = _train(0, 6)
    assert bar.epoch_progress_tqdm.n == 2
    assert "2/4" in capsys.readouterr().err


def test_bar_of_a_finished_training_may_be_opened_and_closed():
    _train(4, 4)


def test_evaluation_inside_an_epoch_prints_dev_scores_and_keeps_the_bar(capsys):
    bar = _train(0, 4, evaluate_at=[2, 4])
    assert bar.epoch_progress_tqdm.n == 4
    out = capsys.readouterr().out
    assert "step 2: dev loss 1.2500, dev accuracy 0.7500" in out
    assert "step 4: dev loss" in out


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


def test_f1_is_the_harmonic_mean_of_precision_and_recall_and_0_for_an_absent_class():
    f1 = addons.f1_scores([0, 0, 1, 1], [0, 1, 1, 1], 3)
    np.testing.assert_allclose(f1, [2 / 3, 0.8, 0.0], rtol=1e-6)


def test_kappa_of_two_classes():
    # observed agreement 3/4, by chance 1/2 * 1/4 + 1/2 * 3/4 = 1/2
    assert addons.cohen_kappa([0, 0, 1, 1], [0, 1, 1, 1], 2) == pytest.approx(0.5)


def test_kappa_of_three_classes():
    # observed agreement 3/5, by chance (2 * 2 + 2 * 2 + 1 * 1) / 25 = 9/25
    assert addons.cohen_kappa([0, 0, 1, 1, 2], [0, 1, 1, 0, 2], 3) == pytest.approx(0.375)


@pytest.mark.parametrize("classes", [2, 5])
def test_kappa_of_one_example_is_0(classes):
    assert addons.cohen_kappa([1], [1], classes) == 0.0
    assert addons.cohen_kappa([1], [0], classes) == 0.0
