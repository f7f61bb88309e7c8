"""DRCN's stack against a walk through Eq. 1 to 4 in NumPy, and what must not matter to it."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.encoders import DRCN
from tests.support.layers.small import sigmoid
from tests.support.layers.weights import built

DIM, UNITS = 6, 4
LENGTHS = ((5, 2, 1, 3), (3, 4, 2, 0))  # of the first sentences, of the second
GENERATOR = np.random.default_rng(3)
FIRST, SECOND = (
    GENERATOR.normal(size=[4, max(lengths), DIM]).astype(np.float32) for lengths in LENGTHS
)
MASKS = [tf.sequence_mask(lengths) for lengths in LENGTHS]


def make(**options):
    """A built encoder with random weights."""
    return built(DRCN(UNITS, **options), [None, None, DIM], seed=4, size=0.3)


def _read(layer, x):
    """h of one sentence <float64>[length, dim], token by token."""
    h, c, states = np.zeros(UNITS), np.zeros(UNITS), []
    for token in x[::-1] if layer.backward else x:
        product = np.concatenate([token, h]) @ layer.kernel.numpy() + layer.bias.numpy()
        if layer.states == 1:
            h = np.tanh(product)
        else:
            i, j, f, o = np.split(product, 4)
            c = sigmoid(f + 1.0) * c + sigmoid(i) * np.tanh(j)
            h = sigmoid(o) * np.tanh(c)
        states.append(h)
    return np.array(states[::-1] if layer.backward else states)


def _cosine_attention(p, q):
    normed = [each / np.linalg.norm(each, axis=-1, keepdims=True) for each in (p, q)]
    weights = np.exp(normed[0] @ normed[1].T)
    return weights / weights.sum(axis=1, keepdims=True) @ q


def _expected(encoder, first, second):
    """The vectors of one pair of sentences without padding."""
    x = [first.astype(np.float64), second.astype(np.float64)]
    for number in range(encoder.layers):
        layers = encoder.recurrent(number)
        h = [np.concatenate([_read(layer, each) for layer in layers], axis=-1) for each in x]
        a = [_cosine_attention(*h), _cosine_attention(*h[::-1])]
        x = [np.concatenate(parts, axis=-1) for parts in zip(x, h, a)]  # Eq. 3
    return [each.max(axis=0) for each in x]


@pytest.mark.parametrize("recurrence", ["rnn", "lstm"])
def test_each_layer_reads_words_states_and_attention_of_those_before(recurrence):
    encoder = make(layers=3, recurrence=recurrence)
    found = encoder(FIRST, SECOND, *MASKS)
    for number, (p, q) in enumerate(zip(*LENGTHS)):
        if q:
            expected = _expected(encoder, FIRST[number, :p], SECOND[number, :q])
            for vector, each in zip(found, expected):
                np.testing.assert_allclose(vector[number], each, rtol=1e-4, atol=1e-5)


def test_padding_and_what_stands_there_do_not_matter():
    encoder = make(functions="B-Ca-Cs-D-M", bottleneck_units=5)
    expected = encoder(FIRST, SECOND, *MASKS)
    padded = [np.pad(each, [(0, 0), (0, n), (0, 0)]) for each, n in ((FIRST, 9), (SECOND, 20))]
    masks = [tf.pad(mask, [[0, 0], [0, n]]) for mask, n in zip(MASKS, (9, 20))]
    padded = [np.where(mask[:, :, None], each, 9.0) for each, mask in zip(padded, masks)]
    np.testing.assert_allclose(encoder(*padded, *masks), expected, atol=1e-5)


def test_a_sentence_without_tokens_is_0_and_gradients_are_finite():
    encoder = make(functions="B-Ca-Cs-D-M")
    nothing = tf.zeros_like(MASKS[1])
    with tf.GradientTape() as tape:
        p, q = encoder(FIRST, SECOND, MASKS[0], nothing, training=True)
        loss = tf.reduce_sum(p) + tf.reduce_sum(q)
    assert not np.any(q)
    assert np.any(p)
    for gradient in tape.gradient(loss, encoder.trainable_weights):
        assert gradient is None or np.isfinite(gradient).all()


def test_what_is_dropped_are_the_states():
    encoder = make(layers=1, dropout=0.5)
    p, _ = encoder(FIRST, SECOND, *MASKS, training=True)
    np.testing.assert_array_equal(p[2, :DIM], FIRST[2, 0])  # the words of a sentence of one
    states = p[2, DIM : DIM + 2 * UNITS].numpy()
    full = encoder(FIRST, SECOND, *MASKS)[0][2, DIM : DIM + 2 * UNITS].numpy()
    assert 0 < np.sum(states == 0.0) < 2 * UNITS
    np.testing.assert_allclose(states[states != 0.0], 2.0 * full[states != 0.0], rtol=1e-5)


def test_layers_after_the_first_share_their_co_attention():
    assert len({id(each) for each in make(functions="B-Ca").co_attentions}) == 2


def test_files_may_have_a_removed_argument_at_its_old_value():
    config = make().get_config()
    assert "own_parameters" not in config
    DRCN.from_config({**config, "own_parameters": False})
    with pytest.raises(ValueError, match="DRCN has no argument own_parameters any more, and the"):
        DRCN.from_config({**config, "own_parameters": True})


def test_a_bottleneck_follows_each_layer_but_the_last():
    encoder = make(layers=3, bottleneck_units=5)
    p, _ = encoder(FIRST, SECOND, *MASKS, training=True)
    assert len(encoder.bottlenecks) == len(encoder.losses) == 2
    assert p.shape == [4, 5 + 2 * UNITS]


def test_attention_of_each_layer_sums_to_1_over_the_other_sentence():
    encoder = make(layers=2, functions="Cs-M")
    attended = encoder.attend_pair(FIRST, SECOND, *MASKS)
    names = ["cosine_1", "minus_1", "cosine_2", "minus_2"]
    assert [list(tensors) for tensors in attended] == [names, names]
    forth, back = (tensors["minus_2"][:, :, :, 0] for tensors in attended)
    has_second = np.array(LENGTHS[1]) > 0
    np.testing.assert_allclose(tf.reduce_sum(forth, 2)[has_second], 1.0, rtol=1e-5)
    np.testing.assert_allclose(tf.reduce_sum(back, 2)[has_second], 1.0, rtol=1e-5)
    assert not np.any(forth.numpy()[~has_second])


def test_attention_in_bfloat16_reads_vectors_in_float32():
    half = make(functions="Cs", dtype=tf.keras.mixed_precision.Policy("mixed_bfloat16"))
    found, expected = (
        one.attend_pair(FIRST, SECOND, *MASKS)[0]["cosine_1"]
        for one in (half, make(functions="Cs"))
    )
    np.testing.assert_allclose(found, expected, atol=0.02)
