"""Masks that Keras passes on, masks of numbers, and padding before or between tokens."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf import encoders, layers
from disan_tf.common.keras_version import is_keras_3
from tests.layers.test_keras import DIM, IDS, OF_TOKENS
from tests.support.layers.contract import assert_near
from tests.support.layers.weights import draw_weights

OTHER_IDS = tf.constant([[8, 2, 0], [3, 0, 0], [4, 5, 6]])
PAIRS = {
    "one": lambda: layers.MultiwayCoAttention("Cs"),
    "words": lambda: layers.MultiwayCoAttention("B-Ca-Cs-M"),
    "functions": lambda: layers.MultiwayCoAttention("B-Cs", "functions"),
    "DRCN": lambda: encoders.DRCN(3, layers=2),
}
NO_WINDOWS = sorted(
    name
    for name in OF_TOKENS
    if name.endswith(("Encoder", "DiSAN", "ReSAN")) and not name.startswith("DSA")
    if "CNN" not in name
)


def _draw(layer):
    draw_weights(layer.weights, seed=4, size=0.4)


def _padded(ids, before, behind):
    return tf.pad(ids, [[0, 0], [before, behind]])


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("how", ["eager", "graph", "model"])
def test_a_pair_has_the_implicit_masks_of_both_inputs(name, how):
    embedding, layer = tf.keras.layers.Embedding(9, DIM, mask_zero=True), PAIRS[name]()
    first, second = (tf.keras.Input([None], dtype="int32") for _ in range(2))
    model = tf.keras.Model([first, second], layer(embedding(first), embedding(second)))
    _draw(model)
    bare = [tf.identity(embedding(ids)) for ids in (IDS, OTHER_IDS)]
    expected = layer(*bare, first_mask=IDS != 0, second_mask=OTHER_IDS != 0)
    assert np.abs(expected[0] - layer(*bare)[0]).max() > 1e-3  # the masks matter
    call = {
        "eager": lambda ids: layer(*map(embedding, ids)),
        "graph": tf.function(lambda ids: layer(*map(embedding, ids))),
        "model": model,
    }[how]
    for found, wanted in zip(call([IDS, OTHER_IDS]), expected):
        assert_near(found, wanted, 1e-6)
    longer = call([_padded(IDS, 0, 3), _padded(OTHER_IDS, 0, 5)])
    for found, wanted in zip(longer, expected):
        assert_near(found[:, : wanted.shape[1]], wanted, 1e-6)


def test_a_given_mask_replaces_the_implicit_one():
    embedding, layer = tf.keras.layers.Embedding(9, DIM, mask_zero=True), PAIRS["words"]()
    x, bare = embedding(IDS), tf.identity(embedding(IDS))
    given = tf.sequence_mask([1, 2, 1], 4)
    for found, expected in zip(
        layer(x, x, first_mask=given), layer(bare, bare, first_mask=given, second_mask=IDS != 0)
    ):
        np.testing.assert_array_equal(found, expected)


def test_none_stands_for_the_implicit_mask():
    embedding, layer = tf.keras.layers.Embedding(9, DIM, mask_zero=True), layers.Source2Token()
    expected = layer(embedding(IDS), mask=IDS != 0)
    np.testing.assert_array_equal(layer(embedding(IDS), mask=None), expected)
    assert np.abs(expected - layer(tf.identity(embedding(IDS)), mask=None)).max() > 1e-3


def test_none_by_position_or_of_a_layer_that_needs_a_mask_stands_for_the_implicit_one():
    embedding = tf.keras.layers.Embedding(9, DIM, mask_zero=True)
    x, pool, heads = embedding(IDS), layers.Source2Token(), IDS > 2
    np.testing.assert_array_equal(pool(x, None), pool(x))
    np.testing.assert_array_equal(pool(x, None, False), pool(x))
    if not is_keras_3():  # whose layers without masks refuse the keyword
        assert layers.Linear(3)(x, mask=None).shape == [*IDS.shape, 3]
    attention = layers.MultiwayCoAttention("Cs")
    for masks in ([None, None], [None, None, False], [None, IDS != 0]):
        for found, expected in zip(attention(x, x, *masks), attention(x, x)):
            np.testing.assert_array_equal(found, expected)
    selective = layers.SelectiveSelfAttention(4)
    expected = selective(x, mask=IDS != 0, heads=heads, dependents=heads)
    found = selective(x, mask=None, heads=heads, dependents=heads)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", NO_WINDOWS)
def test_padding_before_the_sentence_changes_nothing(name):
    layer, x = OF_TOKENS[name](), tf.random.stateless_normal([3, 4, DIM], [1, 2])
    expected = layer(x, mask=IDS != 0)
    _draw(layer)
    expected = layer(x, mask=IDS != 0)
    mask = tf.pad(IDS != 0, [[0, 0], [2, 0]])
    assert_near(layer(tf.pad(x, [[0, 0], [2, 0], [0, 0]]), mask=mask), expected, 1e-6)


@pytest.mark.parametrize("values", [[0.0, -1e9], [0, -1], [1, 2], [0.5, 1]])
@pytest.mark.parametrize("make", [np.array, tf.constant], ids=["array", "tensor"])
def test_numbers_other_than_0_and_1_are_no_mask(values, make):
    x = tf.ones([1, 2, DIM])
    with pytest.raises(ValueError, match=r"mask=\S+ must be 0 \(padding\) or 1 \(a real token\)"):
        layers.DirectionalSelfAttention(4)(x, mask=make([values]))
    with pytest.raises(ValueError, match="second_mask=.* give second_mask == 0"):
        layers.MultiwayCoAttention("B")(x, x, second_mask=make([values]))


@pytest.mark.parametrize("values", [["a", "b"], [1j, 0j]])
def test_strings_and_complex_numbers_are_no_mask(values):
    x = tf.ones([1, 2, DIM])
    for layer in (layers.DirectionalSelfAttention(4), layers.Source2Token()):
        with pytest.raises(
            ValueError, match="mask has the dtype .*; it must hold booleans, or 0/1"
        ):
            layer(x, mask=np.array([values]))


@pytest.mark.parametrize("direction", ["forward", "backward", "diagonal"])
def test_a_padded_head_attends_to_nothing(direction):
    layer, x = layers.DirectionalSelfAttention(4, direction), tf.ones([3, 4, DIM])
    layer(x)
    weights = layer.attend(x, IDS != 0)["attention"]
    admitted = {"forward": np.tril, "backward": np.triu}.get(direction, lambda x, _: 1 - np.eye(4))
    pairs = admitted(np.ones([4, 4]), {"forward": -1}.get(direction, 1))
    mask = np.asarray(IDS != 0)
    expected = (pairs * mask[:, None] * mask[:, :, None]).any(axis=2)
    np.testing.assert_allclose(tf.reduce_sum(weights, axis=2), expected[..., None] * np.ones(4))


@pytest.mark.parametrize("name", ["DiSAN", "ReSAN"])
def test_padded_heads_attend_to_nothing_in_an_encoder(name):
    layer, x = OF_TOKENS[name](), tf.ones([3, 4, DIM])
    layer(x)
    attended = layer.attend(x, IDS != 0)
    name = next(name for name in attended if attended[name].shape[1:3] == [4, 4])
    padded = tf.boolean_mask(attended[name], IDS == 0)
    np.testing.assert_array_equal(padded, np.zeros_like(padded))


@pytest.mark.filterwarnings("ignore:Layer 'flatten.*mask")
@pytest.mark.parametrize("name", ["DiSAN", "Source2TokenEncoder"])
def test_sentences_of_a_document_keep_its_mask(name):
    ids = np.zeros([2, 3, 4], np.int32)  # [documents, sentences, words]
    ids[0, 0, :4], ids[0, 1, :2], ids[1, 0, :3] = [2, 3, 4, 5], [6, 7], [8, 2, 3]
    embedding, sentence = tf.keras.layers.Embedding(9, DIM, mask_zero=True), OF_TOKENS[name]()
    document = layers.Source2Token()
    inputs = tf.keras.Input([3, 4], dtype="int32")
    vectors = tf.keras.layers.TimeDistributed(sentence)(embedding(inputs))
    model = tf.keras.Model(inputs, document(vectors))
    _draw(model)
    words = tf.identity(embedding(ids.reshape(-1, 4)))
    vectors = sentence(words, mask=ids.reshape(-1, 4) != 0)
    expected = document(tf.reshape(vectors, [2, 3, -1]), mask=(ids != 0).any(axis=2))
    assert_near(model(ids), expected, 1e-6)
    assert_near(model.predict(ids, verbose=0), expected, 1e-6)
    longer = np.pad(ids, [[0, 0], [0, 2], [0, 0]])
    grown = tf.keras.layers.TimeDistributed(sentence)(embedding(longer))
    assert_near(document(grown), expected, 1e-6)
