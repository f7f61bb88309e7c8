"""What the tests of heads with batch normalisation have in common."""

import numpy as np
import pytest
import tensorflow as tf

from tests.support.layers.contract import ROUNDING, LayerContract

X = np.random.default_rng(1).normal(1.5, 2.0, size=[7, 5]).astype(np.float32)

each_depth = pytest.mark.parametrize("hidden_layers", [1, 2, 3])
each_policy = pytest.mark.parametrize("policy", ROUNDING)


class HeadContract(LayerContract):
    """The layer contract of a head `kind`, which sees vectors and no mask."""

    kind: type
    units = 3
    output_dtype = "float32"
    layers = 2

    def make(self, **options):
        mine = {"classes": 3, "hidden_units": 6, "hidden_layers": self.layers}
        return self.kind(**{**mine, "dropout": 0.25, "l2": 1e-4, "seed": 5, **options})

    def built(self, policy="float32", **options):
        layer = super().built(policy, **options)
        for norm in layer.norms:
            norm.moving_variance.assign(0.5 + tf.abs(norm.moving_variance))
        return layer

    def call(self, layer, x, mask, training=None):
        return layer(x, training=training)

    def inputs(self):
        x, mask = super().inputs()
        return x[:, 0], mask


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


def assert_finite(*tensors):
    for each in tensors:
        assert np.isfinite(np.asarray(each)).all()


def assert_matrices_alone_decay(head):
    """`head` has l2=2."""
    kernels = [linear.dense.kernel for linear in (*head.hidden, head.logits)]
    np.testing.assert_allclose(head.losses, [np.sum(np.square(k)) for k in kernels], rtol=1e-6)


def one_example(head):
    """The logits of one example in a batch, whose gradients and statistics stay finite too."""
    with tf.GradientTape() as tape:
        logits = head(X[:1], training=True)
        total = tf.reduce_sum(tf.square(logits))
    assert_finite(logits, *tape.gradient(total, head.trainable_weights), *head.weights)
    return logits


def assert_large_inputs_stay_finite(head, scale):
    """Whose squares overflow float16."""
    logits = head(scale * X, training=True)
    assert logits.dtype == head.norms[0].moving_variance.dtype == tf.float32
    assert_finite(logits, *head.weights)
