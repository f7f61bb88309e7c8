"""What the tests of heads with batch normalisation have in common."""

import numpy as np
import pytest
import tensorflow as tf

from tests.support.layers.contract import ROUNDING, VectorContract

X = np.random.default_rng(1).normal(1.5, 2.0, size=[7, 5]).astype(np.float32)

_each_depth = pytest.mark.parametrize("hidden_layers", [1, 3])
_each_policy = pytest.mark.parametrize("policy", ["float32", "mixed_float16"])


class HeadContract(VectorContract):
    """The layer contract of a head with batch normalisation."""

    arguments = {"classes": 3, "hidden_units": 6, "hidden_layers": 2}
    units = 3
    output_dtype = "float32"

    def built(self, policy="float32", **options):
        layer = super().built(policy, **options)
        for norm in layer.norms:
            norm.moving_variance.assign(0.5 + tf.abs(norm.moving_variance))
        return layer


def randomised_head(kind, **options):
    """A head for X with random weights and statistics."""
    head = kind(**{"classes": 3, "hidden_units": 4, **options})
    head.build([None, X.shape[1]])
    generator = np.random.default_rng(2)
    for weight in head.trainable_weights:
        weight.assign(generator.normal(size=weight.shape))
    for norm in head.norms:
        norm.moving_mean.assign(generator.normal(size=norm.moving_mean.shape))
        norm.moving_variance.assign(generator.uniform(0.5, 2.0, norm.moving_variance.shape))
    return head


def of_batch(norm, x):
    return x.mean(axis=0), x.var(axis=0)


def moving(norm, x):
    return norm.moving_mean.numpy(), norm.moving_variance.numpy()


def _assert_finite(*tensors):
    for each in tensors:
        assert np.isfinite(np.asarray(each)).all()


def _one_example(head):
    """The logits of one example in a batch, whose gradients and statistics stay finite too."""
    with tf.GradientTape() as tape:
        logits = head(X[:1], training=True)
        total = tf.reduce_sum(tf.square(logits))
    _assert_finite(logits, *tape.gradient(total, head.trainable_weights), *head.weights)
    return logits


class HeadArithmetic:
    """Tests of a head against NumPy, in training and in inference.

    Attributes:
      head: function (**options) -> a head for X with random weights and statistics.
      expected: function (head, moments, x) -> the logits in float64, where `moments(norm, x)` are
        the mean and the variance.
      options: of the heads that are compared.
      rounding: relative error of one example in float32.
      large: factor of inputs whose squares overflow float16.
    """

    @_each_depth
    def test_training_normalises_by_the_statistics_of_the_batch(self, hidden_layers):
        head = self.head(hidden_layers=hidden_layers, **self.options)
        expected = self.expected(head, of_batch)
        np.testing.assert_allclose(head(X, training=True), expected, rtol=1e-4, atol=1e-5)

    @_each_depth
    def test_inference_normalises_by_the_moving_statistics_and_leaves_them(self, hidden_layers):
        head = self.head(hidden_layers=hidden_layers, **self.options)
        before = head.get_weights()
        for training in (False, None):
            expected = self.expected(head, moving)
            np.testing.assert_allclose(head(X, training=training), expected, rtol=1e-4, atol=1e-5)
        for weight, old in zip(head.get_weights(), before):
            np.testing.assert_array_equal(weight, old)

    @_each_policy
    def test_one_example_in_a_batch_stays_finite_and_becomes_beta(self, policy):
        head = self.head(dtype=tf.keras.mixed_precision.Policy(policy))
        logits = _one_example(head)
        expected = self.expected(head, of_batch, X[:1])
        np.testing.assert_allclose(logits, expected, rtol=max(self.rounding, 8 * ROUNDING[policy]))

    @_each_policy
    def test_statistics_are_float32_and_stay_finite_for_large_inputs(self, policy):
        head = self.head(dtype=tf.keras.mixed_precision.Policy(policy))
        logits = head(self.large * X, training=True)
        assert logits.dtype == head.norms[0].moving_variance.dtype == tf.float32
        _assert_finite(logits, *head.weights)
