"""Directional self-attention: who sees whom, whatever the mask."""

import functools
import itertools

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from disan_tf.layers import DirectionalSelfAttention
from disan_tf.ops import DIRECTIONS, FORMS, available_forms
from tests.support.layers.weights import built

DIM = 3
HAS_NATIVE = "native" in available_forms()
PROPERTY = settings(max_examples=8, deadline=None, derandomize=True)
MASKS = st.integers(1, 7).flatmap(lambda length: arrays(bool, (2, length)))


@functools.cache  # no test changes it
def _block(direction, form="lean", units=4):
    """A block whose biases are not 0; the same weights for every direction and form."""
    block = DirectionalSelfAttention(units, direction, attention_form=form)
    return built(block, [None, None, DIM], seed=1)


def _vectors(mask, seed=0):
    x = np.random.default_rng(seed).normal(size=[*mask.shape, DIM])
    return tf.constant(x, tf.float32)


def _may_see(direction, j, i):
    return {"forward": i < j, "backward": i > j, "diagonal": i != j}[direction]


@PROPERTY
@given(MASKS, st.sampled_from(DIRECTIONS), st.data())
def test_a_token_reaches_exactly_the_tokens_that_may_see_it(mask, direction, data):
    changed = data.draw(st.integers(0, mask.shape[1] - 1), label="changed token")
    x = _vectors(mask)
    other = x.numpy()
    other[:, changed] += 1.0
    block = _block(direction)
    moved = np.any(block(x, mask=mask).numpy() != block(other, mask=mask).numpy(), axis=-1)
    expected = [
        [
            bool(row[j] and row[changed] and (j == changed or _may_see(direction, j, changed)))
            for j in range(len(row))
        ]
        for row in mask
    ]
    np.testing.assert_array_equal(moved, expected)


def _every_mask(length):
    return np.array(list(itertools.product([False, True], repeat=length)))


def _check_finite(layer, mask):
    x = _vectors(mask)
    with tf.GradientTape() as tape:
        tape.watch(x)
        output = layer(x, mask=mask)
        total = tf.reduce_sum(tf.square(output))
    for tensor in [output, *tape.gradient(total, [x, *layer.trainable_weights])]:
        assert np.isfinite(tensor).all()
    return output.numpy()


@pytest.mark.parametrize("form", [form for form in FORMS if form != "native" or HAS_NATIVE])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_no_mask_of_six_tokens_gives_nan(direction, form):
    mask = _every_mask(6)
    output = _check_finite(_block(direction, form), mask)
    assert not output[~mask].any()
    assert output[mask].any(axis=-1).all()


@PROPERTY
@given(MASKS, st.sampled_from(DIRECTIONS))
def test_attend_shows_what_the_block_computes(mask, direction):
    x = _vectors(mask)
    block = _block(direction)
    attended = block.attend(x, mask)
    np.testing.assert_allclose(attended["output"], block(x, mask=mask), rtol=1e-5, atol=1e-5)
    h = block.input_map(x)
    s = tf.einsum("bjif,bif->bjf", attended["attention"], h)
    u = attended["gate"] * h + (1.0 - attended["gate"]) * s
    np.testing.assert_allclose(attended["output"].numpy()[mask], u.numpy()[mask], atol=1e-5)
