"""Directional self-attention between selected tokens: who gives context, and who gets it."""

from typing import get_args

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import SelectiveSelfAttention
from disan_tf.layers.hard_attention.selective import Unselected
from disan_tf.layers.tokens import pack
from disan_tf.ops import DIRECTIONS
from tests.support.layers.contract import MaskContract
from tests.support.layers.samplers import MASK, PATTERNS, X, fixed, randomised

HEADS, DEPENDENTS = (pattern[: len(MASK), : MASK.shape[1]] & MASK for pattern in PATTERNS)
NOTHING = np.zeros_like(MASK)
each_unselected = pytest.mark.parametrize("unselected", get_args(Unselected))


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


@pytest.mark.parametrize("unselected, direction", zip(get_args(Unselected), DIRECTIONS))
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


def test_without_a_mask_all_tokens_are_real():
    block, everything = _block(), np.ones_like(MASK)
    for compute in (block, block.attend):
        found, expected = (compute(X, mask, HEADS, DEPENDENTS) for mask in (None, everything))
        tf.nest.map_structure(np.testing.assert_array_equal, found, expected)
