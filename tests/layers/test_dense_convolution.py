"""The densely connected CNN against loops over the tokens in NumPy."""

from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers.convolution import DenselyConnectedCNN, l2_normalized
from tests.support.layers.small import MASK, X, convolved, randomised

SIZES = {"layers": 3, "first_units": 4, "units": 2, "widths": (3, 4), "compressed_units": 3}
SLOPE = 0.1
PLACES = 2 * 3 + 1  # of h: each layer of each tower, and h^c


def _make(**options):
    return randomised(DenselyConnectedCNN(**{**SIZES, "negative_slope": SLOPE, **options}))


def _weights(layer):
    """A kernel and a bias <float64> for every h."""
    pairs = [(it.kernel.numpy(), it.bias.numpy()) for it in layer.convolutions]
    return [array.astype(np.float64) for pair in pairs for array in pair]


def _reference(weights, x, factors=(1.0,) * PLACES, widths=2, layers=3):
    """X^c of Eq. 2 to 5 for sentences x; the results of each h times its factor."""
    return np.array([_sentence(weights, *it, factors, widths, layers) for it in zip(x, MASK)])


def _sentence(weights, x, mask, factors, widths, layers):
    pairs = zip(weights[::2], weights[1::2], factors)

    def h(inputs):
        kernel, bias, factor = next(pairs)
        maps = SimpleNamespace(kernel=tf.constant(kernel), bias=tf.constant(bias))
        result = convolved(inputs, mask, maps)
        return factor * np.where(result < 0, SLOPE * result, result)

    features = []
    for _ in range(widths):
        phi = h(x)
        for _ in range(1, layers):
            phi = np.concatenate([h(phi), phi], axis=-1)
        features.append(phi)
    compressed = h(np.concatenate([*features, x], axis=-1))
    result = np.zeros_like(compressed)
    for token in np.flatnonzero(mask):
        norm = np.sqrt(np.sum(compressed[token] ** 2))
        result[token] = compressed[token] / norm if norm else 0.0
    return result


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"first_width": None},
        {"widths": (9, 1)},
        {"widths": (3,), "layers": 1},
    ],
)
def test_it_computes_equations_2_to_5(options):
    layer = _make(**options)
    sizes = {"widths": len(layer.widths), "layers": layer.layers}
    factors = [1.0] * len(layer.convolutions)
    expected = _reference(_weights(layer), X.numpy().astype(np.float64), factors, **sizes)
    np.testing.assert_allclose(layer(X, mask=MASK), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("place", [0, 4, PLACES - 1])
def test_the_result_of_every_h_is_dropped(place):
    layer = _make(dropout=0.5)
    for number, dropout in enumerate(layer.output_dropouts):
        dropout.keep = lambda entries, kept=number != place: tf.fill([entries], kept)
    factors = [2.0 * (number != place) for number in range(PLACES)]
    expected = _reference(_weights(layer), X.numpy().astype(np.float64), factors)
    actual = layer(X, mask=MASK, training=True)
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("size", [1e-5, 1.0, 1e15])
def test_a_vector_is_divided_by_its_norm_whatever_its_size(size):
    actual = l2_normalized(tf.constant([[3.0 * size, -4.0 * size]]), tf.constant([[True]]))
    np.testing.assert_allclose(actual, [[0.6, -0.8]], rtol=1e-6)


def test_the_norm_is_float32_where_half_precision_would_overflow():
    actual = l2_normalized(tf.constant([[300.0, -400.0]], tf.float16), tf.constant([[True]]))
    np.testing.assert_array_equal(actual, np.array([[0.6, -0.8]], np.float16))


def test_a_zero_vector_stays_zero_and_gets_no_gradient():
    x = tf.zeros([2, 3])
    with tf.GradientTape() as tape:
        tape.watch(x)
        result = l2_normalized(x, tf.constant([[True], [False]]))
    np.testing.assert_array_equal(result, x)
    np.testing.assert_array_equal(tape.gradient(result, x), x)


def test_not_even_nan_passes_from_padding():
    layer = _make()
    found = []
    for x in (X, tf.where(MASK[:, :, None], X, np.nan)):
        with tf.GradientTape() as tape:
            result = layer(x, mask=MASK)
        found.append([result, *tape.gradient(result, layer.trainable_weights)])
    for clean, dirty in zip(*found):
        np.testing.assert_array_equal(dirty, clean)


@pytest.mark.parametrize(
    "init_scale, dropout, factor",
    [("keep", 0.2, 0.8), ("rate", 0.2, 0.2)],
)
def test_weights_start_by_hes_rule_and_the_dropout_and_biases_at_zero(init_scale, dropout, factor):
    layer = DenselyConnectedCNN(init_scale=init_scale, dropout=dropout)
    layer.build([None, None, 300])
    for convolution in layer.convolutions:
        width, dim, _ = convolution.kernel.shape
        deviation = (2 * factor / (width * dim)) ** 0.5
        assert np.std(convolution.kernel) == pytest.approx(deviation, rel=0.02)
        assert not np.any(convolution.bias)


@pytest.mark.parametrize(
    "widths, message",
    [((1,) * 101, "widths has 101 numbers; the"), ((1,) * 34, r"len\(widths\) \* layers=102 must")],
)
def test_more_than_100_convolutions_are_refused(widths, message):
    with pytest.raises(ValueError, match=message):
        DenselyConnectedCNN(**{**SIZES, "widths": widths})
