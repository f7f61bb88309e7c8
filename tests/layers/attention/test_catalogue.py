"""The attention catalogue against its equations in NumPy."""

import math

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import (
    IntraAttention,
    MultiDimAttention,
    MultiHeadSelfAttention,
    SelfAlignment,
    VanillaAttention,
    positional_encoding,
)
from tests.support.layers.small import DIM, MASK, QUERY, QUERY_DIM, X, randomised
from tests.support.layers.weights import mapped

UNITS = 4


def _kernel(linear):
    return linear.dense.kernel.numpy().astype(np.float64)


def _elu(x):
    return np.where(x > 0, x, np.expm1(x))


def _softmax(logits):
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def _compressed(scores):
    """s and p of every sentence.

    `scores(tokens <float64>[real, DIM], number of the sentence)` returns <float64>[real].
    """
    vectors, weights = np.zeros([len(X), DIM]), np.zeros([*MASK.shape, 1])
    for sentence, mask in enumerate(MASK):
        if mask.any():
            tokens = X[sentence].numpy().astype(np.float64)[mask]
            p = _softmax(scores(tokens, sentence))
            vectors[sentence] = p @ tokens
            weights[sentence, mask, 0] = p
    return vectors, weights


def _check(layer, expected, *query):
    vectors, weights = expected
    np.testing.assert_allclose(layer(X, *query, mask=MASK), vectors, rtol=1e-5, atol=1e-6)
    found = layer.attention_weights(X, *query, mask=MASK)
    np.testing.assert_allclose(found, weights, rtol=1e-5, atol=1e-6)


def test_additive_vanilla_attention_is_disan_equations_1_to_5():
    layer = randomised(VanillaAttention("additive", UNITS, QUERY_DIM))
    w1, w2, w = (_kernel(it) for it in (layer.token_map, layer.query_map, layer.score_map))
    queries = QUERY.numpy() @ w2
    _check(layer, _compressed(lambda x, j: (_elu(x @ w1 + queries[j]) @ w)[:, 0]), QUERY)


def test_multiplicative_vanilla_attention_is_disan_equation_6():
    layer = randomised(VanillaAttention("multiplicative", UNITS, QUERY_DIM))
    w1, w2 = (_kernel(it) for it in (layer.token_map, layer.query_map))
    queries = QUERY.numpy() @ w2
    _check(layer, _compressed(lambda x, j: x @ w1 @ queries[j]), QUERY)


def test_intra_attention_is_resan_equations_42_and_43():
    layer = randomised(IntraAttention(UNITS))
    inner = layer.attention
    w1, w2, w = (_kernel(it) for it in (inner.token_map, inner.query_map, inner.score_map))
    _check(layer, _compressed(lambda x, _: (np.tanh(x @ w1 + x.mean(axis=0) @ w2) @ w)[:, 0]))


def test_self_alignment_gives_each_token_the_others():
    layer = randomised(SelfAlignment(UNITS))
    w1, w2 = (_kernel(it) for it in (layer.dependent_map, layer.head_map))
    expected = np.zeros(X.shape)
    for sentence, mask in enumerate(MASK):
        tokens = X[sentence].numpy().astype(np.float64)
        for j in np.flatnonzero(mask):
            others = [i for i in np.flatnonzero(mask) if i != j]
            if others:
                p = _softmax(tokens[others] @ w1 @ (tokens[j] @ w2))
                expected[sentence, j] = p @ tokens[others]
    np.testing.assert_allclose(layer(X, mask=MASK), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dim", [6, 7])
def test_features_are_sines_and_cosines_in_pairs(dim):
    encoding = positional_encoding(9, dim).numpy()
    assert encoding.shape == (9, dim)
    for position in range(9):
        for feature in range(dim):
            wave = math.cos if feature % 2 else math.sin
            angle = position / 10000 ** (2 * (feature // 2) / dim)
            assert encoding[position, feature] == pytest.approx(wave(angle), abs=1e-6)
    half = positional_encoding(300, dim, tf.bfloat16)
    np.testing.assert_array_equal(half, tf.cast(positional_encoding(300, dim), tf.bfloat16))


def _reference(layer, query):
    """s of Eq. 9, <float64>[batch, DIM]; `query` is W2 q, or 0 for source2token."""
    result = np.zeros([len(X), DIM])
    for sentence, (x, mask) in enumerate(zip(X.numpy().astype(np.float64), MASK)):
        if not mask.any():
            continue
        hidden = mapped(layer.token_map, x[mask]) + np.broadcast_to(query, [4, DIM])[sentence]
        hidden = np.where(hidden > 0, hidden, np.expm1(hidden))  # elu
        logits = mapped(layer.score_map, hidden)
        weights = np.exp(logits - logits.max(axis=0))
        result[sentence] = np.sum(weights / weights.sum(axis=0) * x[mask], axis=0)
    return result


def test_multi_dimensional_attention_is_equations_7_to_9():
    layer = randomised(MultiDimAttention(query_dim=QUERY_DIM))
    expected = _reference(layer, mapped(layer.query_map, QUERY))
    np.testing.assert_allclose(layer(X, QUERY, mask=MASK), expected, rtol=1e-5, atol=1e-6)


def test_products_of_heads_do_not_overflow_in_float16():
    x = tf.random.stateless_normal([1, 3, 75], [1, 2])
    layer = MultiHeadSelfAttention(1, 75, dtype="mixed_float16")
    layer(x)
    layer.kernel.assign(20.0 * tf.random.stateless_normal(layer.kernel.shape, [3, 4]))
    queries, keys, _ = layer._project(tf.cast(x, tf.float16))
    assert np.all(np.isfinite(queries)) and np.all(np.isfinite(keys))
    assert not np.all(np.isfinite(tf.matmul(queries, keys, transpose_b=True)))
    assert np.all(np.isfinite(layer(x)))
