"""Directional self-attention between selected tokens: who gives context, and who gets it."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import DirectionalSelfAttention, SelectiveSelfAttention
from disan_tf.layers.hard_attention.selective import UNSELECTED
from disan_tf.layers.tokens import pack
from disan_tf.ops import DIRECTIONS, available_forms
from tests.support.layers.contract import MaskContract
from tests.support.layers.samplers import DIM, MASK, PATTERNS, X, fixed, randomised
from tests.support.ops.attention_problems import reference

HEADS, DEPENDENTS = (pattern[: len(MASK), : MASK.shape[1]] & MASK for pattern in PATTERNS)
NOTHING = np.zeros_like(MASK)
each_unselected = pytest.mark.parametrize("unselected", UNSELECTED)
each_direction = pytest.mark.parametrize("direction", DIRECTIONS)
each_form = pytest.mark.parametrize("form", available_forms())


class TestSelectiveSelfAttention(MaskContract):
    kind = SelectiveSelfAttention
    arguments = {"units": 6, "unselected": "mean"}
    units = 6
    bad_arguments = ({"dropout": 1.0}, {"direction": "sideways"}, {"unselected": "median"})

    def call(self, layer, x, mask, training=None):
        selections = fixed(mask)
        heads, dependents = selections.heads[0], selections.dependents[0]
        return layer(x, mask, heads, dependents, training=training)


class TestDroppedHeads(TestSelectiveSelfAttention, variant=True):
    """The length depends on the selection, so that the contract sees the sum."""

    arguments = {"units": 6, "unselected": "drop"}
    reduces = True

    def call(self, layer, x, mask, training=None):
        return tf.reduce_sum(super().call(layer, x, mask, training), axis=1)


def _block(unselected="mean", direction="forward", form="auto", **options):
    options = {"direction": direction, "attention_form": form, **options}
    return randomised(SelectiveSelfAttention(4, unselected, **options))


def _contexts(block, heads, dependents, mask=MASK):
    """s of Eq. 13, before the fusion gate."""
    block.fusion_gate = lambda h, s, mask, training: s
    return block(X, mask, heads, dependents).numpy()


def _reference(block, heads, dependents):
    """s of Eq. 10 to 13 of the selected heads, 0 of the others, in NumPy."""
    h = block.input_map(X).numpy().astype(np.float64)
    head, dependent = (
        h @ each.kernel.numpy().astype(np.float64) for each in (block.head_map, block.dependent_map)
    )
    head += block.attention_bias.numpy()
    return h, reference(head, dependent, h, dependents, block.direction, heads)


@each_form
@each_direction
def test_selected_heads_attend_to_selected_dependents(direction, form):
    block = _block(direction=direction, form=form)
    _, expected = _reference(block, HEADS, DEPENDENTS)
    actual = _contexts(block, HEADS, DEPENDENTS)
    np.testing.assert_allclose(actual[HEADS], expected[HEADS], rtol=1e-4, atol=1e-5)


def test_every_head_that_is_not_selected_gets_the_mean_of_its_sentence():
    block = _block("mean")
    h, _ = _reference(block, HEADS, DEPENDENTS)
    actual = _contexts(block, HEADS, DEPENDENTS)
    for sentence in range(2):
        found = actual[sentence][MASK[sentence] & ~HEADS[sentence]]
        assert not np.ptp(found, axis=0).any()
        expected = h[sentence][MASK[sentence]].mean(axis=0)
        np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), rtol=1e-5)


def test_the_mean_of_others_leaves_the_token_itself_out():
    block = _block("mean_of_others")
    h, _ = _reference(block, HEADS, DEPENDENTS)
    actual = _contexts(block, HEADS, DEPENDENTS)
    for sentence, token in zip(*np.nonzero(MASK & ~HEADS)):
        others = MASK[sentence] & (np.arange(MASK.shape[1]) != token)
        expected = h[sentence][others].sum(axis=0) / max(1, others.sum())
        np.testing.assert_allclose(actual[sentence, token], expected, rtol=1e-5, atol=1e-6)


def test_dropped_heads_leave_the_others_as_they_are():
    dropped, kept = (_block(each)(X, MASK, HEADS, DEPENDENTS) for each in ("drop", "mean"))
    expected, _ = pack(kept, HEADS)
    np.testing.assert_allclose(dropped, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "unselected, direction, form", zip(UNSELECTED, DIRECTIONS, available_forms())
)
def test_where_all_are_selected_it_is_directional_self_attention(unselected, direction, form):
    block = _block(unselected, direction, form)
    plain = DirectionalSelfAttention(4, direction, attention_form=form)
    plain.build([None, None, DIM])
    plain.set_weights(block.get_weights())
    np.testing.assert_array_equal(block(X, MASK, MASK, MASK), plain(X, mask=MASK))


@pytest.mark.parametrize("unselected, direction", [("mean", "forward"), ("drop", "backward")])
def test_a_selected_head_without_a_dependent_has_no_context(unselected, direction):
    block = _block(unselected, direction)
    s = _contexts(block, MASK, MASK)  # the first token of each sentence has nobody before it
    last = np.maximum(MASK.sum(axis=1) - 1, 0)
    alone = s[:, 0] if direction == "forward" else s[np.arange(len(MASK)), last]
    np.testing.assert_array_equal(alone, np.zeros_like(alone))
    assert s[0, 2].all()


@each_unselected
@pytest.mark.parametrize("heads, dependents", [(NOTHING, HEADS), (MASK, NOTHING)])
def test_no_selection_gives_nan(unselected, heads, dependents):
    block = _block(unselected)
    x = tf.Variable(X)
    with tf.GradientTape() as tape:
        output = block(x, MASK, heads, dependents)
        total = tf.reduce_sum(tf.square(output))
    gradients = tape.gradient(total, [x, *block.trainable_weights])
    for tensor in (output, *(tf.convert_to_tensor(gradient) for gradient in gradients)):
        assert np.isfinite(tensor).all()


def _moved(block, token, heads, dependents):
    """Which heads' outputs depend on a token of the first sentence."""
    other = X.numpy()
    other[0, token] += 1.0
    outputs = [block(x, MASK, heads, dependents)[0].numpy() for x in (X, other)]
    return np.any(outputs[0] != outputs[1], axis=-1)


@each_direction
@pytest.mark.parametrize("token", [1, 2])
def test_a_token_reaches_the_selected_heads_that_may_see_it(direction, token):
    heads = np.array([[1, 1, 0, 1, 0]] * len(MASK), bool) & MASK
    dependents = np.array([[0, 1, 1, 1, 0]] * len(MASK), bool) & MASK
    sees = {"forward": np.less, "backward": np.greater, "diagonal": np.not_equal}[direction]
    expected = sees(token, np.arange(5)) & dependents[0, token] | (np.arange(5) == token)
    moved = _moved(_block(direction=direction), token, heads, dependents)
    np.testing.assert_array_equal(moved[heads[0]], expected[heads[0]])


def test_a_token_that_is_neither_head_nor_dependent_is_nothing_where_heads_are_dropped():
    assert not _moved(_block("drop"), 2, *[MASK & (np.arange(5) != 2)] * 2).any()


@pytest.mark.parametrize("unselected, direction", zip(UNSELECTED, DIRECTIONS))
def test_attend_shows_what_the_block_computes(unselected, direction):
    block = _block(unselected, direction)
    attended = block.attend(X, MASK, HEADS, DEPENDENTS)
    output = attended["output"]
    expected = block(X, MASK, HEADS, DEPENDENTS)
    if unselected == "drop":
        assert not np.any(output[~HEADS])
        output, _ = pack(output, HEADS)
    np.testing.assert_allclose(output, expected, rtol=1e-4, atol=1e-5)
    sums = attended["attention"].numpy().sum(axis=2)
    assert not sums[~HEADS].any()
    np.testing.assert_allclose(sums[sums > 0], 1.0, rtol=1e-5)
    assert not np.any(attended["attention"].numpy().transpose(0, 2, 1, 3)[~DEPENDENTS])
