"""DSA's encoder and the Bi-LSTMs of its Table 2, made of layers that are tested alone."""

import numpy as np
import tensorflow as tf

from disan_tf.encoders import DSAEncoder, PooledBiLSTMEncoder
from tests.support.layers.small import MASK, X, randomised

SMALL = {
    "units": 6,
    "attentions": 2,
    "layers": 2,
    "first_units": 5,
    "dense_units": 3,
    "compressed_units": 4,
}


def _built(encoder):
    encoder.build(tf.TensorShape([None, None, 300]))
    return encoder


def test_it_is_the_attention_of_the_cnn():
    encoder = randomised(DSAEncoder(**SMALL))
    expected = encoder.attention(encoder.cnn(X, mask=MASK), mask=MASK)
    np.testing.assert_array_equal(encoder(X, mask=MASK), expected)


def test_words_and_convolutions_are_dropped_at_rates_of_their_own():
    encoder = _built(DSAEncoder(**SMALL, dropout=0.2, word_dropout=0.4))
    assert encoder.input_dropout.rate == 0.4
    assert {each.rate for each in encoder.cnn.output_dropouts} == {0.2}
    assert encoder.attention.projection.rate == 0.0


def test_weight_vectors_of_the_last_iteration_are_the_sentence():
    encoder = randomised(DSAEncoder(**SMALL))
    vectors = encoder.weight_vectors(X, MASK)
    np.testing.assert_allclose(
        tf.reshape(vectors[:, -1], [len(X), -1]), encoder(X, mask=MASK), rtol=1e-6
    )


def test_last_states_are_of_the_last_token_and_of_the_first():
    encoder = randomised(PooledBiLSTMEncoder("last", units=3))
    states, vectors = encoder.states(X, MASK).numpy(), encoder(X, mask=MASK).numpy()
    for row, (state, mask) in enumerate(zip(states, np.asarray(MASK))):
        real = np.flatnonzero(mask)
        if len(real):
            expected = np.concatenate([state[real[-1], :3], state[real[0], 3:]])
            np.testing.assert_array_equal(vectors[row], expected)
