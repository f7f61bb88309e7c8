"""The highway layer."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import Highway
from tests.support.layers.contract import BAD_DROPOUT, SequenceContract
from tests.support.layers.samplers import X, randomised
from tests.support.layers.weights import mapped


class TestHighway(SequenceContract):
    kind = Highway
    bad_arguments = BAD_DROPOUT


@pytest.mark.parametrize("activation, function", [("elu", np.expm1), ("relu", np.zeros_like)])
def test_it_mixes_a_new_part_with_its_input(activation, function):
    layer = randomised(Highway(activation))
    x = X.numpy().astype(np.float64)
    new = mapped(layer.transform, x)
    new = np.where(new > 0, new, function(np.minimum(new, 0.0)))
    gate = 1 / (1 + np.exp(-mapped(layer.gate, x)))
    np.testing.assert_allclose(layer(X), gate * new + (1 - gate) * x, rtol=1e-5, atol=1e-6)


def test_dropout_leaves_what_is_passed_on_alone():
    layer = randomised(Highway(dropout=0.5))
    for linear in (layer.transform, layer.gate):
        linear.dropout.keep = lambda entries: tf.zeros([entries], tf.bool)
    gate, new = (linear(tf.zeros_like(X)) for linear in (layer.gate, layer.transform))
    expected = gate * new + (1.0 - gate) * X
    np.testing.assert_allclose(layer(X, training=True), expected, rtol=1e-6)
