"""Learning by policy gradient finds the one word that matters."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import IterativeSequenceSampling, ReinforcedSequenceSampling
from disan_tf.layers.hard_attention.samplers import merge_selections
from disan_tf.training.methods.policy_steps import policy_loss, product_reward
from disan_tf.training.optimizers import adadelta

BATCH, LENGTH, DIM = 128, 8, 8
MARK = 4.0  # the first feature of the planted word, on top of noise of variance 1
PENALTY = 1.0
STEPS = 1200


def _sentences(number, seed):
    """Vectors <float32>[number, LENGTH, DIM], and which is marked, <bool>[number, LENGTH]."""
    places = tf.random.stateless_uniform([number], [seed, 1], 0, LENGTH, tf.int32)
    marked = tf.one_hot(places, LENGTH, True, False, dtype=tf.bool)
    x = tf.random.stateless_normal([number, LENGTH, DIM], [seed, 2])
    return x + MARK * tf.eye(1, DIM) * tf.cast(marked[:, :, None], tf.float32), marked


def _train(sampler):
    """Samples selections of new sentences; a loss of 1 where the marked word is not among them."""
    optimizer, mask = adadelta(0.5), tf.ones([BATCH, LENGTH], tf.bool)

    @tf.function
    def step(number):
        x, marked = _sentences(BATCH, number)
        with tf.GradientTape() as tape:
            words = sampler.select(x, mask, "sample", training=True)
            selections = merge_selections([words], [words], mask)
            found = tf.reduce_any(words.selected & marked, axis=1)
            rewards = product_reward(1.0 - tf.cast(found, tf.float32), selections, PENALTY)
            total = policy_loss([rewards], [selections], tf.reduce_mean(rewards))
        weights = sampler.trainable_weights
        optimizer.apply_gradients(zip(tape.gradient(total, weights), weights))

    for number in range(STEPS):
        step(tf.constant(number))


@pytest.mark.parametrize(
    "sampler_class",
    [ReinforcedSequenceSampling, pytest.param(IterativeSequenceSampling, marks=pytest.mark.slow)],
)
def test_the_marked_word_is_selected_and_few_others(sampler_class):
    tf.keras.utils.set_random_seed(1)  # of the initial weights
    sampler = sampler_class(16, seed=1)
    sampler.build([None, None, DIM])
    _train(sampler)
    x, marked = _sentences(2000, -1)
    selected = sampler.select(x, tf.ones([2000, LENGTH], tf.bool), "greedy").selected
    found = np.mean(np.any(selected & marked, axis=1))
    others = np.mean(np.sum(selected & ~marked, axis=1))
    print(f"marked words selected: {found:.1%}; others in a sentence: {others:.2f} of {LENGTH - 1}")
    assert found > 0.95
    assert others < 1.0
