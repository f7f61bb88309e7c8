"""Token2token self-attention against Eq. 10, 11 and 15 in NumPy, and against its reduced form."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import Token2Token
from disan_tf.ops import DIRECTIONS, directional_attention
from tests.support.layers.small import DIM, MASK, X, randomised

SCALE = 5.0


def _may_see(direction, j, i):
    allowed = {"forward": i < j, "backward": i > j, "diagonal": i != j, None: True}
    return allowed[direction]


def _kernel(linear):
    return linear.dense.kernel.numpy().astype(np.float64)


def _bias(linear):
    return linear.dense.bias.numpy().astype(np.float64)


def _elu(x):
    return np.where(x > 0, x, np.expm1(x))


def _reference(layer, direction=None):
    """P <float64>[sentence, head, dependent, DIM] and s <float64>[sentence, head, DIM]."""
    w1, w2, w = map(_kernel, (layer.dependent_map, layer.head_map, layer.score_map))
    b1, b = map(_bias, (layer.dependent_map, layer.score_map))
    sentences, length = MASK.shape
    weights = np.zeros([sentences, length, length, DIM])
    s = np.zeros([sentences, length, DIM])
    for sentence, mask in enumerate(MASK):
        x = X[sentence].numpy().astype(np.float64)
        for j in np.flatnonzero(mask):
            seen = [i for i in np.flatnonzero(mask) if _may_see(direction, j, i)]
            if seen:
                scores = np.array([_elu(x[i] @ w1 + x[j] @ w2 + b1) @ w + b for i in seen])
                p = np.exp(scores - scores.max(axis=0))
                weights[sentence, j, seen] = p / p.sum(axis=0)
                s[sentence, j] = np.sum(weights[sentence, j, seen] * x[seen], axis=0)
    return weights, s


@pytest.mark.parametrize("direction", [None, *DIRECTIONS])
def test_it_is_equations_10_and_11(direction):
    layer = randomised(Token2Token(direction=direction))
    weights, s = _reference(layer, direction)
    np.testing.assert_allclose(layer(X, mask=MASK), s, rtol=1e-5, atol=1e-6)
    found = layer.attention_weights(X, MASK)
    np.testing.assert_allclose(found, weights, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_with_a_scalar_matrix_and_a_scaled_tanh_it_is_equation_15(direction):
    """W = c I, and c divides the argument of tanh: W1, W2 and b1."""
    layer = randomised(Token2Token("tanh", direction))
    w1, w2 = layer.dependent_map.dense.kernel, layer.head_map.dense.kernel
    b1 = layer.dependent_map.dense.bias
    dependent, head = (tf.einsum("bif,fg->big", X, kernel) for kernel in (w1, w2))
    expected = directional_attention(
        head + b1, dependent, X, MASK, head_mask=MASK, direction=direction, scale=SCALE
    )
    for weight in (w1, w2, b1):
        weight.assign(weight / SCALE)
    layer.score_map.dense.kernel.assign(SCALE * tf.eye(DIM))
    np.testing.assert_allclose(layer(X, mask=MASK), expected, rtol=1e-5, atol=1e-6)


def test_values_that_are_not_numbers_on_padding_do_not_matter():
    layer = randomised(Token2Token())
    dirty = tf.where(MASK[:, :, None], X, np.nan)
    np.testing.assert_array_equal(layer(dirty, mask=MASK), layer(X, mask=MASK))
