"""Multiway co-attention against Eq. 6 in NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers.attention.multiway import FUNCTIONS, MultiwayCoAttention
from tests.support.layers.contract import MaskContract
from tests.support.layers.pair_attention import (
    DIM,
    FIRST,
    FIRST_MASK,
    SECOND,
    SECOND_MASK,
    in_float64,
    randomised,
    reference,
)
from tests.support.layers.small import sigmoid

PAIR = FIRST, SECOND, FIRST_MASK, SECOND_MASK
SWAPPED = SECOND, FIRST, SECOND_MASK, FIRST_MASK
NAMES = ("bilinear", "concatenation", "cosine", "dot", "minus")
GIVES = (  # words of each sentence that may receive context
    FIRST_MASK & SECOND_MASK.any(axis=1, keepdims=True),
    SECOND_MASK & FIRST_MASK.any(axis=1, keepdims=True),
)


def _states(lstm, steps):
    """h of each step, <float64>[steps, units], of one sequence <float64>[steps, dim]."""
    kernel, bias = in_float64([lstm.kernel, lstm.bias])
    c = h = np.zeros(lstm.units)
    found = []
    for x in steps:
        i, j, f, o = np.split(np.concatenate([x, h]) @ kernel + bias, 4)
        c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j)
        h = sigmoid(o) * np.tanh(c)
        found.append(h)
    return np.array(found)


def _bilstm(layer, steps):
    """[forward; backward] h of each step."""
    backward = _states(layer.backward, steps[::-1])[::-1]
    return np.concatenate([_states(layer.forward, steps), backward], axis=1)


def _contexts(layer, first, second, second_mask):
    """a of each function, <float64>[batch, first length, functions, dim]."""
    first, second = in_float64([first, second])
    found = [
        reference(type(each), first, second, second_mask, in_float64(each.trainable_weights))[0]
        for each in layer.attentions
    ]
    return np.stack(found, axis=2)


def _expected(layer, first, second, _, second_mask, gives):
    """a_combined of one sentence, word by word."""
    contexts = _contexts(layer, first, second, second_mask)
    combined = np.zeros(first.shape)
    for sentence, words in enumerate(gives):
        if not words.any():
            continue
        steps = contexts[sentence, words]  # [words, functions, dim]
        if layer.aggregation == "words":
            combined[sentence, words] = _bilstm(layer, steps.reshape(len(steps), -1))
        else:
            half = DIM // 2
            h = [_bilstm(layer, step) for step in steps]
            combined[sentence, words] = [np.append(it[-1, :half], it[0, half:]) for it in h]
    return combined


@pytest.mark.parametrize(
    "functions, aggregation", [("B-Ca-Cs-D-M", "words"), ("M-D", "functions"), ("M-B", "words")]
)
def test_it_is_a_bilstm_over_the_contexts(functions, aggregation):
    layer = randomised(MultiwayCoAttention(functions, aggregation))
    for actual, inputs, gives in zip(layer(*PAIR), (PAIR, SWAPPED), GIVES):
        expected = _expected(layer, *inputs, gives)
        assert expected.any()
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("letter", FUNCTIONS)
def test_one_function_gives_its_context(letter):
    layer = randomised(MultiwayCoAttention(letter))
    (attention,) = layer.attentions
    assert type(attention) is FUNCTIONS[letter] and not hasattr(layer, "forward")
    for actual, inputs, gives in zip(layer(*PAIR), (PAIR, SWAPPED), GIVES):
        first, second, _, second_mask = inputs
        expected = np.where(gives[:, :, None], attention(first, second, second_mask), 0.0)
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


def test_attention_weights_are_named_and_sum_to_one_over_the_other_sentence():
    layer = randomised(MultiwayCoAttention("B-Ca-Cs-D-M"))
    weights = layer.attend(*PAIR)
    assert tuple(weights) == NAMES
    for attention in layer.attentions:
        for actual, inputs in zip(weights[attention.name], (PAIR, SWAPPED)):
            first, second, _, second_mask = inputs
            assert actual.dtype == tf.float32
            expected = attention.attention_weights(first, second, second_mask)
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


def test_attend_without_masks_takes_all_tokens_as_real():
    layer, (first, second, *masks) = randomised(MultiwayCoAttention("Cs")), PAIR
    expected = layer.attend(first, second, *map(tf.ones_like, masks))["cosine"]
    for actual, weights in zip(layer.attend(first, second)["cosine"], expected):
        np.testing.assert_array_equal(actual, weights)


def test_an_odd_dim_is_refused_where_a_bilstm_is_needed():
    with pytest.raises(ValueError, match="dim=7 must be even"):
        MultiwayCoAttention().build([None, None, 7])
    MultiwayCoAttention("B").build([None, None, 7])


class MultiwayContract(MaskContract):
    """A sentence that looks at itself, and the sum of what both find."""

    aggregation = "words"
    functions = "B-M"  # each function keeps the contract by itself
    roundings = 12  # nothing scales the sums of products down
    bad_arguments = (
        {"functions": "X"},
        {"functions": "B-X"},
        {"functions": "B-Cs-B"},
        {"functions": ""},
        {"aggregation": "letters"},
    )

    def make(self, **options):
        mine = {"functions": self.functions, "aggregation": self.aggregation, "l2": 1e-4}
        return MultiwayCoAttention(**{**mine, **options})

    def call(self, layer, x, mask, training=None):
        return tf.add_n(layer(x, x, mask, mask, training=training))


class TestMultiwayCoAttentionAlongWords(MultiwayContract):
    pass


class TestMultiwayCoAttentionAlongFunctions(MultiwayContract, variant=True):
    aggregation = "functions"
