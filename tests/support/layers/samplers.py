"""What tests of hard attention share."""

import numpy as np
import tensorflow as tf

from disan_tf.layers.hard_attention.samplers import Selection, merge_selections
from tests.support.layers.weights import built

DIM = 3
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0]], bool)
X = tf.constant(np.random.default_rng(7).normal(size=[*MASK.shape, DIM]), tf.float32)
PATTERNS = np.random.default_rng(0).random([2, 8, 24]) < 0.6  # of heads and of dependents


def randomised(layer, seed=8, size=1.0):
    """The layer, built for vectors of DIM, with random weights."""
    return built(layer, [None, None, DIM], seed, size)


def choose_only(sampler, selected):
    """From now on "sample" chooses these tokens, <bool>[batch, length], whatever is probable."""
    sampler.thresholds = lambda shape, how: tf.where(selected, 0.0, 2.0)


def as_selection(selected):
    """A `Selection` of certain tokens, <bool>[batch, length]."""
    return Selection(tf.constant(selected), tf.zeros(len(selected)))


def fixed(mask):
    """`Selections` at random that do not depend on what is selected from."""
    batch, length = tf.shape(mask)[0], tf.shape(mask)[1]
    heads, dependents = (
        Selection(tf.constant(pattern)[:batch, :length] & mask, tf.zeros([batch]))
        for pattern in PATTERNS
    )
    return merge_selections([heads] * 2, [dependents] * 2, mask)
