"""The training step of hard attention: its baseline, and steps that are left out."""

import numpy as np
import tensorflow as tf

from disan_tf.models.factory import build_model
from disan_tf.training.methods.policy_steps import POLICY, Baseline, make_policy_step, split_weights
from disan_tf.training.optimizers import adadelta
from disan_tf.training.steps import added_losses
from tests.support.runs.training import method_of, tiny_config, with_few_operations

IDS = [tf.constant([[2, 3, 4, 5, 6], [7, 2, 0, 0, 0]]), tf.constant([[3, 4, 8], [5, 6, 0]])]
LABELS = tf.constant([0, 2])


def test_a_baseline_is_a_moving_average_of_the_rewards():
    baseline = Baseline(0.9)
    for reward in (-1.0, -3.0, 2.0):
        baseline.add(tf.constant(reward))
    expected = (0.9**2 * -1.0 + 0.9 * -3.0 + 2.0) / (0.9**2 + 0.9 + 1.0)
    np.testing.assert_allclose(baseline.value(), expected, rtol=1e-6)


def test_a_checkpoint_has_the_baseline(tmp_path):
    config = with_few_operations(tiny_config(name="resan_snli"))
    config.policy.baseline = 0.9
    model = build_model(config, (10, 0), 3)
    first, second = method_of(config, model), method_of(config, model)
    first.baseline.add(tf.constant(-3.0))
    path = tf.train.Checkpoint(**first.saved).write(str(tmp_path / "step"))
    tf.train.Checkpoint(**second.saved).read(path)
    np.testing.assert_allclose(second.baseline.value(), -3.0, rtol=1e-6)


def test_the_step_subtracts_its_baseline_from_the_rewards():
    model = build_model(with_few_operations(tiny_config(name="resan_snli")), (10, 0), 3)
    optimizer, baseline = adadelta(), Baseline(0.9)
    optimizer._create_all_weights(model.trainable_variables)
    step = make_policy_step(
        model,
        {POLICY: optimizer},
        "sample",
        lambda losses, _: tf.fill(tf.shape(losses), -3.0),
        baseline,
    )
    for has_advantage in (True, False):  # the first baseline is 0, the second is the reward
        _, decay = added_losses(model)
        gain = step(*IDS, LABELS)["policy_loss"] - decay
        assert (abs(gain) > 0.1) == has_advantage
    np.testing.assert_allclose(baseline.value(), -3.0, rtol=1e-6)


def test_a_step_whose_policy_gradient_overflows_is_skipped():
    config = tiny_config("mixed_float16", name="resan_snli")
    config.policy.pretrain_steps, config.task.name = 0, "classification"  # of one sentence
    model = build_model(config, (10, 0), 3)
    method = method_of(config, model)
    method.saved["policy_optimizer"]._loss_scale.current_loss_scale.assign(2.0**120)
    _, weights = split_weights(model)
    before = [weight.numpy() for weight in weights]
    assert method.train(0, IDS[0], LABELS)["skipped_steps"] == 1
    for weight, value in zip(weights, before):
        np.testing.assert_array_equal(weight, value)
