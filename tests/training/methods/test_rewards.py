"""Rewards against hand-made numbers, and the policy gradient against its expectation."""

import functools
import itertools

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import IterativeSequenceSampling, ReinforcedSequenceSampling
from disan_tf.layers.hard_attention.samplers import Selections, merge_selections
from disan_tf.training.methods.policy_steps import REWARDS, policy_loss, product_reward
from tests.support.layers.samplers import DIM, choose_only, randomised

LENGTH = 4
CHOICES = np.array(list(itertools.product([False, True], repeat=LENGTH)))  # <bool>[16, LENGTH]
SENTENCE = tf.constant(np.random.default_rng(1).normal(size=[1, LENGTH, DIM]), tf.float32)
TABLE = np.random.default_rng(2).uniform(1.0, 2.0, size=[16, 16]).astype(np.float32)
PENALTY = 0.3
DRAWS, BATCHES = 1000, 200


def _selections(head_fraction, dependent_fraction, log_probability=(0.0, 0.0)):
    numbers = (log_probability, head_fraction, dependent_fraction)
    return Selections((), (), *(tf.constant(number) for number in numbers))


@pytest.mark.parametrize(
    "name, expected",
    [
        ("product", [-(0.5 + 0.02 * 0.25 * 0.4), -2.0]),
        ("probability", [np.exp(-0.5) - 0.02 * (0.25 + 0.4) / 2, np.exp(-2.0) - 0.02 * 0.5]),
    ],
)
def test_a_reward_is_as_written_down_by_hand(name, expected):
    selections = _selections([0.25, 1.0], [0.4, 0.0])
    rewards = REWARDS[name](tf.constant([0.5, 2.0]), selections, 0.02)
    np.testing.assert_allclose(rewards, expected, rtol=1e-6)


def test_the_policy_loss_is_as_written_down_by_hand():
    selections = [_selections([0.0] * 2, [0.0] * 2, log) for log in ([-1.0, -2.0], [-3.0, -4.0])]
    rewards = [tf.constant([0.5, -1.0]), tf.constant([2.0, 0.25])]
    terms = [0.5 * -1 + 2 * -3, -1 * -2 + 0.25 * -4]
    np.testing.assert_allclose(policy_loss(rewards, selections), -np.mean(terms))
    terms = [0.4 * -1 + 1.9 * -3, -1.1 * -2 + 0.15 * -4]
    np.testing.assert_allclose(policy_loss(rewards, selections, 0.1), -np.mean(terms), rtol=1e-6)


def test_no_gradient_flows_through_rewards_or_baseline():
    losses, logs = tf.Variable([0.5, 2.0]), tf.Variable([-1.0, -2.0])
    with tf.GradientTape() as tape:
        selections = _selections([0.5] * 2, [0.5] * 2)._replace(log_probability=1.0 * logs)
        rewards = product_reward(losses, selections, PENALTY)
        total = policy_loss([rewards], [selections], baseline=tf.reduce_mean(rewards))
    of_losses, of_logs = tape.gradient(total, [losses, logs])
    assert of_losses is None
    np.testing.assert_allclose(of_logs, -(rewards - np.mean(rewards)) / 2, rtol=1e-5)


class Toy:
    """Two samplers on one sentence of four tokens; TABLE has the loss of each pair of choices."""

    def __init__(self, sampler_class):
        self.samplers = [
            randomised(sampler_class(2, activation="tanh", seed=seed), seed, size=0.7)
            for seed in (5, 6)
        ]
        self.weights = [it for sampler in self.samplers for it in sampler.trainable_weights]

    def draw(self, number):
        """Selections of so many samples, and their rewards."""
        x, mask = tf.repeat(SENTENCE, number, axis=0), tf.ones([number, LENGTH], tf.bool)
        heads, dependents = (it.select(x, mask, "sample") for it in self.samplers)
        selections = merge_selections([heads] * 2, [dependents] * 2, mask)
        codes = [
            tf.linalg.matvec(tf.cast(it.selected, tf.int32), [8, 4, 2, 1])
            for it in (heads, dependents)
        ]
        losses = tf.gather_nd(TABLE, tf.stack(codes, axis=1))
        return selections, product_reward(losses, selections, PENALTY)

    def flat(self, tape, total):
        return tf.concat([tf.reshape(it, [-1]) for it in tape.gradient(total, self.weights)], 0)

    def estimates(self, baseline):
        """The gradient of the policy loss, <float64>[BATCHES, weights], of DRAWS samples each."""

        @tf.function(autograph=False)
        def estimate():
            with tf.GradientTape() as tape:
                selections, rewards = self.draw(DRAWS)
                total = policy_loss([rewards], [selections], baseline)
            return self.flat(tape, total)

        return np.stack([estimate() for _ in range(BATCHES)]).astype(np.float64)


@functools.lru_cache
def _expectation(sampler_class):
    """The mean reward, and minus its gradient <float32>[weights], over all 256 pairs of choices.

    It is the derivative of sum_z p(z) R(z), ReSAN Eq. 19; p(z) is the product of Eq. 5 or 21.
    """
    toy = Toy(sampler_class)
    choices = np.repeat(CHOICES, 16, axis=0), np.tile(CHOICES, [16, 1])
    for sampler, choice in zip(toy.samplers, choices):
        choose_only(sampler, choice)
    x, mask = tf.repeat(SENTENCE, 256, axis=0), np.ones([256, LENGTH], bool)
    _, rewards = toy.draw(256)
    with tf.GradientTape() as tape:
        p = tf.ones([256])
        for sampler, choice in zip(toy.samplers, choices):
            selected, each = sampler.choose(x, mask, "sample")
            np.testing.assert_array_equal(selected, choice)
            p *= tf.reduce_prod(tf.where(choice, each, 1.0 - each), axis=1)
        mean = tf.reduce_sum(p * rewards)
    np.testing.assert_allclose(np.sum(p), 1.0, rtol=1e-5)
    return mean.numpy(), -toy.flat(tape, mean).numpy()


@functools.lru_cache
def _estimates(sampler_class, baseline):
    return Toy(sampler_class).estimates(baseline)


def _baseline(sampler_class, share):
    return float(share * _expectation(sampler_class)[0])


each_sampler = pytest.mark.parametrize(
    "sampler_class",
    [ReinforcedSequenceSampling, pytest.param(IterativeSequenceSampling, marks=pytest.mark.slow)],
)


@each_sampler
@pytest.mark.parametrize("share", [0.0, 1.0], ids=["no baseline", "mean reward as baseline"])
def test_the_policy_gradient_of_many_samples_is_the_gradient_of_the_mean_reward(
    sampler_class, share
):
    _, expected = _expectation(sampler_class)
    estimates = _estimates(sampler_class, _baseline(sampler_class, share))
    error = estimates.std(axis=0, ddof=1) / BATCHES**0.5
    assert np.all(expected)
    np.testing.assert_array_less(np.abs(estimates.mean(axis=0) - expected), 3 * error)


@each_sampler
def test_the_mean_reward_as_a_baseline_lessens_the_variance(sampler_class):
    without, with_it = (
        _estimates(sampler_class, _baseline(sampler_class, share)).var(axis=0).sum()
        for share in (0.0, 1.0)
    )
    print(f"variance with a baseline / without one: {with_it / without:.3f}")
    assert with_it < 0.2 * without
