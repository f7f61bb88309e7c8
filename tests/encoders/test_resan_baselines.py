"""The baselines of ReSAN's Table 1: their sizes, and what they compute, in NumPy."""

import numpy as np
import tensorflow as tf

from disan_tf.encoders import BiGRUEncoder, HierarchicalCNNEncoder, MultiWindowCNNEncoder
from tests.support.layers.small import DIM, MASK, X, convolved, randomised, sigmoid


def test_bi_gru_pools_what_a_gru_says_in_each_direction():
    encoder = randomised(BiGRUEncoder(3))
    directions = encoder.forward_gru, encoder.backward_gru
    assert [layer.backward for layer in directions] == [False, True]
    states = tf.concat([layer(X, mask=MASK) for layer in directions], axis=-1)
    np.testing.assert_array_equal(encoder(X, mask=MASK), encoder.source2token(states, mask=MASK))


def _multi_window(encoder):
    """The sentence vectors and the first token that has the maximum."""
    vectors, winners = [], np.zeros([*MASK.shape, 9])
    for x, mask, winner in zip(X.numpy(), MASK, winners):
        maps = [np.maximum(convolved(x, mask, it), 0.0) for it in encoder.convolutions]
        real = np.concatenate(maps, axis=1)[mask]
        vectors.append(real.max(axis=0) if mask.any() else np.zeros(9))
        if mask.any():
            winner[np.flatnonzero(mask)[real.argmax(axis=0)], np.arange(9)] = 1.0
    return np.array(vectors), winners


def test_multi_window_takes_each_maps_maximum_over_the_real_tokens():
    encoder = randomised(MultiWindowCNNEncoder((3, 4, 5), units=3, activation="relu"))
    vectors, winners = _multi_window(encoder)
    np.testing.assert_allclose(encoder(X, mask=MASK), vectors, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(encoder.attend(X, MASK)["maximum"], winners)
    assert encoder.attend(X[:, :0], MASK[:, :0])["maximum"].shape == [len(X), 0, 9]


def test_windows_share_one_dropout_mask():
    encoder = randomised(MultiWindowCNNEncoder((3, 5), units=3, dropout=0.5))
    encoder.input_dropout.keep = lambda entries: tf.zeros([entries], tf.bool)
    actual = encoder(X, mask=MASK, training=True)
    np.testing.assert_array_equal(actual, encoder(tf.zeros_like(X), mask=MASK))
    assert not any(convolution.dropout for convolution in encoder.convolutions)


def _linear(x, layer):
    return x @ layer.dense.kernel.numpy().astype(np.float64) + layer.dense.bias.numpy()


def test_hierarchical_cnn_is_the_encoder_of_gehring_et_al():
    encoder = randomised(HierarchicalCNNEncoder(units=4, layers=2, width=3))
    states = []
    for sentence, mask in zip(X.numpy(), MASK):
        x = _linear(sentence, encoder.input_map)
        for convolution in encoder.convolutions:
            a, b = np.split(convolved(x, mask, convolution), 2, axis=1)
            x = 0.5**0.5 * (a * sigmoid(b) + x)
        states.append(_linear(x, encoder.output_map))
    states = tf.constant(np.array(states), tf.float32)
    expected = encoder.source2token(states, mask=MASK)
    assert expected.shape == [4, DIM]
    np.testing.assert_allclose(encoder(X, mask=MASK), expected, rtol=1e-4, atol=1e-5)
