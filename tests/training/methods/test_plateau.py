"""The learning rate falls when the loss no longer does, in training or on dev."""

import pytest
import tensorflow as tf

from disan_tf.training.methods.back_propagation import Plateau, PlateauRule
from disan_tf.training.optimizers import adadelta, adam

STATE = ("total", "steps", "best", "stale", "dev")


def _plateau(patience=2, threshold=0.1, optimizer=None, monitor="train"):
    rule = PlateauRule(0.5, patience, threshold, monitor)
    return Plateau(optimizer or adam(0.8), rule)


def _epoch(plateau, *losses, dev=(9.0,)):
    for loss in losses:
        plateau.add(loss)
    for loss in dev:
        plateau.evaluated(loss)
    plateau.end_epoch()
    return plateau.learning_rate


def test_the_dev_loss_decides_where_it_is_monitored():
    plateau = _plateau(patience=1, monitor="dev")
    rates = [_epoch(plateau, 4.0, dev=[dev]) for dev in (3.0, 2.0, 2.0)]
    assert rates == pytest.approx([0.8, 0.8, 0.4])
    assert _epoch(_plateau(patience=1, monitor="dev"), 4.0, dev=[5.0]) == pytest.approx(0.8)


def test_the_last_dev_loss_of_an_epoch_counts_and_an_epoch_without_one_does_not():
    plateau = _plateau(patience=1, monitor="dev")
    rates = [_epoch(plateau, 4.0, dev=dev) for dev in ([9.0, 3.0], [1.0, 2.0], [], [2.0])]
    assert rates == pytest.approx([0.8, 0.8, 0.8, 0.4])


def test_the_learning_rate_is_halved_after_so_many_epochs_without_a_lower_loss():
    plateau = _plateau()
    rates = [_epoch(plateau, loss) for loss in (4.0, 4.0, 5.0, 4.0, 4.0)]
    assert rates == pytest.approx([0.8, 0.8, 0.4, 0.4, 0.2])


def test_replicas_share_its_state():
    with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
        plateau = _plateau(patience=1)
    assert [_epoch(plateau, 4.0) for _ in range(2)] == pytest.approx([0.8, 0.4])


def test_a_loss_counts_as_lower_only_below_the_threshold():
    plateau = _plateau(patience=1)
    assert _epoch(plateau, 4.0) == pytest.approx(0.8)
    assert _epoch(plateau, 3.59) == pytest.approx(0.8)
    assert _epoch(plateau, 3.24) == pytest.approx(0.4)  # 3.59 * 0.9 = 3.231


def test_a_lower_loss_ends_the_count():
    plateau = _plateau()
    rates = [_epoch(plateau, loss) for loss in (4.0, 4.0, 1.0, 1.0, 1.0)]
    assert rates == pytest.approx([0.8, 0.8, 0.8, 0.8, 0.4])


def test_the_loss_of_an_epoch_is_the_mean_of_its_steps():
    plateau = _plateau(patience=1)
    _epoch(plateau, 1.0, 3.0)
    assert _epoch(plateau, 0.0, 2.0) == pytest.approx(0.8)
    assert _epoch(plateau, 0.0, 2.0) == pytest.approx(0.4)


def test_its_state_and_the_learning_rate_are_in_a_checkpoint(tmp_path):
    first, second = adam(0.8), adam(0.8)
    before, after = _plateau(optimizer=first), _plateau(optimizer=second)
    for loss in (4.0, 4.0, 4.0, 4.0):
        _epoch(before, loss)
    before.add(7.0)
    before.evaluated(3.0)
    path = tf.train.Checkpoint(optimizer=first, plateau=before.state).save(str(tmp_path / "it"))
    tf.train.Checkpoint(optimizer=second, plateau=after.state).restore(path)
    assert after.learning_rate == pytest.approx(0.4)
    assert [float(each) for each in after.state] == [7.0, 1.0, 4.0, 1.0, 3.0], STATE


def test_it_lowers_the_rate_of_a_wrapped_optimizer():
    inner = adadelta(0.8)
    plateau = _plateau(1, optimizer=tf.keras.mixed_precision.LossScaleOptimizer(inner))
    for loss in (1.0, 1.0):
        _epoch(plateau, loss)
    assert float(inner.learning_rate) == pytest.approx(0.4)
