"""Calls with inputs that do not fit: one sentence with the shapes, without a word of Keras."""

import re

import numpy as np
import pytest
import tensorflow as tf

from disan_tf import encoders, layers

X, MASK = tf.ones([2, 5, 8]), tf.ones([2, 5], tf.bool)
PAIR = "must have the axes [batch, first length, dim] and [batch, second length, dim]."
GATE = "must have the axes [batch, length, dim] and [batch, length, dim]."
QUERY = "must have the axes [batch, length, dim] and [batch or 1, {}]."
FLOATS = "it must hold vectors of floats."


def refused(layer, *inputs, **options) -> str:
    with pytest.raises(ValueError) as caught:
        layer(*inputs, **options)
    message = str(caught.value)
    assert "\n" not in message and message.startswith(type(layer).__name__)
    return message


@pytest.mark.parametrize(
    "layer, other, end",
    [
        (layers.MultiwayCoAttention("B"), [2, 3, 6], PAIR),
        (layers.MultiwayCoAttention("Ca-M"), [3, 3, 8], PAIR),
        (layers.MultiwayCoAttention("Cs"), [2, 8], PAIR),
        (encoders.DRCN(4, 2), [2, 3, 6], PAIR),
        (encoders.DRCN(4, 2), [3, 5, 8], PAIR),
        (layers.FusionGate(), [2, 5, 6], GATE),
        (layers.FusionGate(), [2, 4, 8], GATE),
        (layers.FusionGate(), [1, 5, 8], GATE),
        (layers.VanillaAttention(), [2, 6], QUERY.format("dim")),
        (layers.VanillaAttention("multiplicative"), [3, 8], QUERY.format("dim")),
        (layers.VanillaAttention(query_dim=3), [2, 8], QUERY.format("3")),
        (layers.MultiDimAttention(), [2, 1, 8], QUERY.format("dim")),
    ],
)
def test_two_inputs_that_do_not_fit_are_named_with_both_shapes(layer, other, end):
    names = re.findall(r"(\w+) \(", refused(layer, X, tf.ones(other)))
    expected = f"{names[0]} (2, 5, 8) and {names[1]} {tuple(other)} {end}"
    assert refused(layer, X, tf.ones(other)) == f"{type(layer).__name__}: {expected}"
    symbols = [tf.keras.Input(batch_shape=shape) for shape in (X.shape, other)]
    assert refused(layer, *symbols) == f"{type(layer).__name__}: {expected}"


def test_sizes_that_are_not_known_fit():
    x, query = tf.keras.Input([None, 8]), tf.keras.Input([3])
    layer = layers.MultiDimAttention(query_dim=3)
    assert tuple(layer(x, query).shape) == (None, 8)
    np.testing.assert_allclose(layer(X, tf.ones([1, 3])), layer(X, tf.ones([2, 3])), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int32", "int64", "bool"])
@pytest.mark.parametrize("make", [lambda: encoders.DiSAN(4), lambda: layers.Linear(3)])
def test_vectors_of_whole_numbers_are_refused(make, dtype):
    sentence = f"x has the dtype {dtype} and the shape (2, 5, 8); {FLOATS}"
    layer = make()
    assert refused(layer, tf.cast(X, dtype)) == f"{type(layer).__name__}: {sentence}"
    assert sentence in refused(layer, X.numpy().astype(dtype))
    assert refused(layer, tf.keras.Input([5, 8], dtype=dtype)).endswith(FLOATS)


def test_every_vector_of_a_pair_is_of_floats():
    message = refused(layers.MultiwayCoAttention("Cs"), X, tf.cast(X, tf.int32))
    assert (
        message
        == f"MultiwayCoAttention: second has the dtype int32 and the shape (2, 5, 8); {FLOATS}"
    )


def test_losses_of_words_have_a_word_for_each_vector():
    message = refused(layers.WordSoftmax(9), X[0], tf.zeros([4], tf.int32))
    assert (
        message
        == "WordSoftmax: h (5, 8) and words (4,) must have the axes [tokens, dim] and [tokens]."
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: encoders.ReSAN(4),
        lambda: layers.ReinforcedSelfAttention(4),
        lambda: encoders.SelectedSource2TokenEncoder(4),
    ],
)
def test_selections_come_from_select(make):
    layer = make()
    name = type(layer).__name__
    wanted = f"{name}: selections='x' must be the result of `select`, or None."
    assert refused(layer, X, selections="x") == wanted
    assert "must be the result" in refused(layer, X, selections=(MASK, MASK))
    layer(X)
    others = layer.select(X[:1], MASK[:1], "all")
    assert "(1, 5); it must be [batch, length], and is [2, 5]" in refused(
        layer, X, selections=others
    )
    layer(X, selections=layer.select(X, MASK, "all"))


def test_selected_tokens_have_the_shape_of_the_sentence():
    message = refused(layers.SelectiveSelfAttention(4), X, MASK, MASK[:, :3], MASK)
    assert "heads (2, 3)" in message and "[batch, length]" in message


@pytest.mark.parametrize(
    "use",
    [
        lambda: encoders.DiSAN(4).attend(X),
        lambda: encoders.DiSAN(4).attend_pair(X, X, MASK, MASK),
        lambda: encoders.ReSAN(4).select(X, MASK, "greedy"),
        lambda: encoders.ReSAN(4).samplers,
        lambda: encoders.DSAEncoder(4).weight_vectors(X, MASK),
        lambda: encoders.DRCN(4, 2).attend_pair(X, X, MASK, MASK),
        lambda: layers.Source2Token().attention_weights(X),
        lambda: layers.MultiwayCoAttention("Cs").attend(X, X, MASK, MASK),
        lambda: layers.Linear(3).product(X),
    ],
)
def test_what_needs_weights_says_so_before_the_first_call(use):
    sentence = r"^\w+ has no \w+ before it is built: call the layer, or its build\(input_shape\)\.$"
    with pytest.raises(AttributeError, match=sentence):
        use()


def test_a_built_layer_has_the_attribute_errors_of_python():
    layer = layers.Source2Token()
    layer(X)
    with pytest.raises(AttributeError, match="^'Source2Token' object has no attribute 'weigths'$"):
        layer.weigths  # noqa: B018
    assert not hasattr(layers.Source2Token(), "units")


@pytest.mark.parametrize("make", [layers.Source2Token, lambda: layers.Convolution(4, 3)])
def test_the_size_of_vectors_must_be_known(make):
    with pytest.raises(ValueError, match="the size of the vectors, must be known"):
        make()(tf.keras.Input([None, None]))
