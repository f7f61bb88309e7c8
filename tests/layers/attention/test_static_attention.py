"""Static self-attention against DSA Eq. 1 and 6 in NumPy."""

import numpy as np
import tensorflow as tf

from disan_tf.layers.attention.dynamic import StaticSelfAttention
from disan_tf.layers.tokens import real_tokens, scatter_tokens
from tests.support.layers.small import MASK, X, randomised
from tests.support.layers.weights import mapped

UNITS, SLOPE = 3, 0.1
EMPTY = 3  # the sentence of MASK without a token


def _expected(layer):
    """s <float64>[batch, UNITS] and a <float64>[batch, length, 1]."""
    vectors, weights = np.zeros([len(X), UNITS]), np.zeros([*MASK.shape, 1])
    for sentence, mask in enumerate(MASK[:EMPTY]):
        projected = mapped(layer.projection, X[sentence].numpy()[mask])
        projected = np.where(projected > 0.0, projected, SLOPE * projected)
        scores = np.exp(mapped(layer.score_map, np.tanh(mapped(layer.token_map, projected))))
        weights[sentence, mask] = scores / scores.sum()
        vectors[sentence] = np.sum(weights[sentence, mask] * projected, axis=0)
    return vectors, weights


def test_it_is_equation_1_on_the_words_of_equation_6():
    layer = randomised(StaticSelfAttention(UNITS, SLOPE))
    vectors, weights = _expected(layer)
    np.testing.assert_allclose(layer(X, mask=MASK), vectors, rtol=1e-5, atol=1e-6)
    (attention,) = layer.attend(X, MASK).items()
    assert attention[0] == "attention"
    np.testing.assert_allclose(attention[1], weights, rtol=1e-5, atol=1e-6)


def test_it_reads_the_tokens_of_all_sentences_without_padding():
    layer = randomised(StaticSelfAttention(UNITS, SLOPE))
    vectors, weights = _expected(layer)

    def sentences(tokens):
        return scatter_tokens(tokens, tf.constant(MASK))

    options = {"mask": MASK, "sentences": sentences}
    tokens = real_tokens(X, MASK)
    np.testing.assert_allclose(layer(tokens, **options), vectors, rtol=1e-5, atol=1e-6)
    attention = layer.attend(tokens, **options)["attention"]
    np.testing.assert_allclose(attention, weights, rtol=1e-5, atol=1e-6)


def test_matrices_start_by_the_rule_of_he_each_with_numbers_of_its_own():
    layer = StaticSelfAttention(300)
    layer.build([None, None, 300])
    maps = (layer.projection, layer.token_map, layer.score_map)
    kernels = [linear.dense.kernel.numpy() for linear in maps]
    for kernel, tolerance in zip(kernels, (0.01, 0.01, 0.2)):
        np.testing.assert_allclose(kernel.std(), (2 / 300) ** 0.5, rtol=tolerance)
    assert np.any(kernels[0] != kernels[1])


def test_without_units_it_weighs_the_words_themselves():
    layer = randomised(StaticSelfAttention(None))
    assert not hasattr(layer, "projection")
    weights = layer.attention_weights(X, MASK).numpy()
    np.testing.assert_allclose(layer(X, mask=MASK), (weights * X.numpy()).sum(axis=1), atol=1e-6)
    scores = mapped(layer.score_map, np.tanh(mapped(layer.token_map, X[:EMPTY])))
    expected = np.exp(scores) * MASK[:EMPTY, :, None]
    np.testing.assert_allclose(
        weights[:EMPTY], expected / expected.sum(axis=1, keepdims=True), rtol=1e-5, atol=1e-6
    )
