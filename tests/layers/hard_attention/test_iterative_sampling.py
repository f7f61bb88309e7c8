"""Sampling by a recurrent network against a loop in NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import IterativeSequenceSampling
from tests.support.layers.contract import BAD_DROPOUT, MaskContract
from tests.support.layers.samplers import MASK, X, randomised
from tests.support.layers.small import sigmoid

UNITS = 4
HOLES = np.array([[1, 1, 0, 1, 1], [1, 0, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]], bool)


class TestIterativeSequenceSampling(MaskContract):
    kind = IterativeSequenceSampling
    arguments = {"units": 6, "backward": True}
    units = 1
    output_dtype = "float32"
    bad_arguments = BAD_DROPOUT

    def call(self, layer, x, mask, training=None):
        return super().call(layer, x, mask, training)[:, :, None]


def _sampler(backward=False, **options):
    return randomised(IterativeSequenceSampling(UNITS, backward=backward, **options))


def _reference(sampler, mask, thresholds):
    """p and z of Eq. 22 to 25, token by token, <float64> and <bool>[batch, length]."""
    weights = {weight.name.split(":")[0]: weight.numpy() for weight in sampler.trainable_weights}
    probabilities, selected = np.zeros(mask.shape), np.zeros(mask.shape, bool)
    for sentence in range(len(mask)):
        h = np.zeros(UNITS)
        for token in np.flatnonzero(mask[sentence])[:: -1 if sampler.backward else 1]:
            x = X.numpy()[sentence, token].astype(np.float64)
            hidden = np.concatenate([x, h]) @ weights["hidden_kernel"] + weights["hidden_bias"]
            hidden = np.maximum(hidden, 0.0)
            p = sigmoid(hidden @ weights["score_kernel"] + weights["score_bias"])[0]
            z = p >= thresholds[sentence, token]
            after = np.concatenate([x, h, [float(z)]])
            h = np.tanh(after @ weights["state_kernel"] + weights["state_bias"])
            probabilities[sentence, token], selected[sentence, token] = p, z
    return probabilities, selected


@pytest.mark.parametrize("mask, backward", [(MASK, False), (HOLES, True)])
def test_it_is_equations_22_to_25_over_the_real_tokens(mask, backward):
    sampler = _sampler(backward)
    thresholds = np.random.default_rng(5).random(mask.shape).astype(np.float32)
    sampler.thresholds = lambda shape, how: tf.constant(thresholds)
    selected, probabilities = sampler.choose(X, mask, "sample")
    expected, chosen = _reference(sampler, mask, thresholds)
    np.testing.assert_allclose(probabilities, expected, rtol=1e-5)
    np.testing.assert_array_equal(selected, chosen)
    assert chosen.any() and (mask & ~chosen).any()


def test_matrices_start_by_glorots_rule_and_biases_at_zero():
    tf.keras.utils.set_random_seed(1)
    sampler = IterativeSequenceSampling(300)
    sampler.build([None, None, 300])
    for weight in sampler.trainable_weights:
        limit = (6 / sum(weight.shape)) ** 0.5 if weight.shape.rank == 2 else 0.0
        assert 0.98 * limit <= np.abs(weight).max() <= np.float32(limit)


def test_dropout_acts_on_the_input_alone():
    sampler = _sampler(dropout=0.5)
    sampler.input_dropout.keep = lambda entries: tf.zeros([entries], tf.bool)
    actual = sampler(X, mask=MASK, training=True)
    np.testing.assert_array_equal(actual, sampler(tf.zeros_like(X), mask=MASK))
