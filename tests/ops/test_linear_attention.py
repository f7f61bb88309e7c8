"""The linear form is within 1e-4 of the exact one, over ranges, directions, masks and scales."""

import contextlib
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from disan_tf.ops import DIRECTIONS, directional_attention, linear_attention, portable
from disan_tf.ops.interpolation import RANKS, widest
from disan_tf.ops.native import attention as native_attention
from tests.support.ops.attention_problems import (
    assert_close,
    attend,
    make_inputs,
    make_mask,
    reference,
)
from tests.support.ops.backends import BACKENDS

PROPERTY = settings(max_examples=12, deadline=None, derandomize=True)
BOUND = 1e-4


@pytest.fixture(autouse=True, params=BACKENDS)
def exact_form(request):
    """Each backend, interpolating short sentences too; the value is its exact form."""
    with request.param(), interpolating(longer_than=0):
        yield "lean" if request.param is portable else "native"


@contextlib.contextmanager
def interpolating(longer_than, **options):
    """Sentences of so few tokens are interpolated; options: other contents of the modules."""
    thresholds = {linear_attention: "SHORTEST", native_attention: "PAIRS_PER_NODE"}
    with contextlib.ExitStack() as stack:
        for module, name in thresholds.items():
            stack.enter_context(mock.patch.multiple(module, **{name: longer_than}, **options))
        yield


def make_problem(width, seed=0, batch=2, length=23, dim=3, spread=3.0):
    """Inputs whose heads reach from 7 - width to 7 + width in every feature of a sentence."""
    head, dependent, value = make_inputs(batch, length, dim, seed, size=1.0)
    low, high = head.min(axis=1, keepdims=True), head.max(axis=1, keepdims=True)
    head = 7 + width * ((head - low) / (high - low) * 2 - 1)
    return [head, spread * dependent - 7, value / np.abs(value).max()]


@st.composite
def problems(draw):
    """Heads as far apart as a rank allows, masks with holes, and dependents anywhere."""
    scale, number = draw(st.sampled_from([0.5, 5.0, 40.0])), draw(st.integers(0, len(RANKS) - 1))
    width = widest(scale)[number] * draw(st.sampled_from([0.5, 0.999]))
    seed, spread = draw(st.integers(0, 999)), draw(st.sampled_from([0.5, 3.0, 12.0]))
    options = {
        "direction": draw(st.sampled_from(DIRECTIONS)),
        "head_mask": draw(st.none() | st.just(make_mask(2, 23, seed + 1))),
        "scale": scale,
    }
    mask = make_mask(2, 23, seed, draw(st.sampled_from([0.3, 0.7, 1.0])))
    return (
        make_problem(width, seed, spread=spread * scale / 5),
        mask,
        options,
        draw(st.sampled_from([1, 5, 23])),
    )


@PROPERTY
@given(problem=problems())
def test_context_and_gradients_are_the_exact_ones(problem):
    inputs, mask, options, block = problem
    expected = attend("plain", inputs, mask, **options)
    numbers = block * 2 * 20 * 3  # about so many tokens, whatever the rank
    with mock.patch.multiple(linear_attention, BLOCK_NUMBERS=numbers, lean_forward=None):
        actual = attend("linear", inputs, mask, **options)  # without falling back
    for ours, exact in zip(actual, expected):
        assert_close(ours, exact, BOUND)
    assert_close(actual[0], reference(*inputs, mask, **options), BOUND)


@pytest.mark.parametrize("scale", [0.5, 5.0, 40.0])
def test_the_widest_heads_of_every_rank_are_within_the_bound(scale):
    """Dependents in order, so that the first heads see only those whose weights are least."""
    length = 40
    dependents = np.linspace(-2.5, 2.5, length)[None, :, None] * scale - 7
    for width in sorted(set(widest(scale))):
        head, _, value = make_problem(0.999 * width, batch=3, length=length)
        dependent = dependents + width * np.array([-1.0, 0.0, 1.0])[:, None, None]
        inputs, mask = [head, np.tile(dependent, [1, 1, 3]), value], np.ones([3, length], bool)
        actual = attend("linear", inputs, mask, direction="forward", scale=scale)
        expected = attend("plain", inputs, mask, direction="forward", scale=scale)
        for ours, exact in zip(actual, expected):
            assert_close(ours, exact, BOUND)


def test_without_enough_nodes_it_would_not_be_close():
    inputs, mask = make_problem(8.0, spread=6.0), np.ones([2, 23], bool)
    expected = reference(*inputs, mask, "forward")
    with interpolating(longer_than=0, widest=lambda _: (9.0,) * len(RANKS)):
        context, *_ = attend("linear", inputs, mask, direction="forward")
    assert np.abs(context - expected).max() > 10 * BOUND


def test_it_is_exact_beyond_the_widest_range_and_for_short_sentences(exact_form):
    mask = np.ones([2, 23], bool)
    for width, longer_than in ((1.5 * widest(5.0)[-1], 0), (1.0, 24)):
        inputs = make_problem(width)
        with interpolating(longer_than):
            actual = attend("linear", inputs, mask, direction="forward")
        for ours, exact in zip(actual, attend(exact_form, inputs, mask, direction="forward")):
            np.testing.assert_array_equal(ours, exact)


def test_compiled_with_unknown_shapes_it_is_the_same_for_every_range():
    @tf.function(
        input_signature=[tf.TensorSpec([None, None], tf.bool)]
        + [tf.TensorSpec([None, None, 3], tf.float32)] * 3
    )
    def step(mask, *inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            context = directional_attention(
                *inputs, mask, direction="backward", head_mask=mask, form="linear"
            )
            total = tf.reduce_sum(tf.square(context))
        return [context, *tape.gradient(total, inputs)]

    for length, width in ((23, 1.0), (9, 6.0), (2, 3.0), (23, 30.0)):
        inputs = [tf.constant(part, tf.float32) for part in make_problem(width, length=length)]
        mask = tf.constant(make_mask(2, length))
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            context = directional_attention(
                *inputs, mask, direction="backward", head_mask=mask, form="plain"
            )
            total = tf.reduce_sum(tf.square(context))
        expected = [context, *tape.gradient(total, inputs)]
        for ours, exact in zip(step(mask, *inputs), expected):
            assert_close(ours, exact, BOUND)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_inputs_are_computed_in_float32(dtype):
    inputs = [tf.cast(tensor, dtype) for tensor in make_problem(3.0)]
    actual = attend("linear", inputs, make_mask(2, 23), dtype, direction="forward")
    expected = attend("plain", inputs, make_mask(2, 23), "float32", direction="forward")
    for ours, exact in zip(actual, expected):
        assert ours.dtype == dtype
        assert_close(ours, exact, BOUND + {"bfloat16": 2.0**-8, "float16": 2.0**-11}[dtype])


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_rows_without_dependents_and_equal_heads_stay_finite(direction):
    head, dependent, value = make_problem(3.0)
    head[0], mask = 7.0, make_mask(2, 23)
    mask[1] = False
    actual = attend("linear", [head, dependent, value], mask, direction=direction)
    for ours in actual:
        assert np.isfinite(ours).all()
    np.testing.assert_array_equal(actual[0][1], 0.0)
    assert_close(actual[0], reference(head, dependent, value, mask, direction), BOUND)


@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 1, 3), (2, 0, 3)])
def test_an_empty_batch_a_lone_token_and_no_token_have_no_context(shape):
    for tensor in attend(
        "linear", make_inputs(*shape), np.ones(shape[:2], bool), direction="diagonal"
    ):
        np.testing.assert_array_equal(tensor, np.zeros(shape))


def test_unselected_heads_get_no_context_no_gradient_and_widen_nothing():
    inputs, head_mask = make_problem(2.0), make_mask(2, 23, 5)
    inputs[0][~head_mask] = 1e6
    with mock.patch.object(linear_attention, "lean_forward", None):
        context, head_gradient, *_ = attend(
            "linear", inputs, np.ones([2, 23], bool), direction="diagonal", head_mask=head_mask
        )
    for tensor in (context, head_gradient):
        np.testing.assert_array_equal(np.any(tensor, axis=-1), head_mask)


def test_xla_compiles_the_exact_form():
    inputs = [tf.constant(part, tf.float32) for part in make_problem(3.0)]
    mask = tf.constant(make_mask(2, 23))
    compiled = tf.function(directional_attention, jit_compile=True)
    context = compiled(*inputs, mask, direction="forward", form="linear")
    assert_close(context, reference(*map(np.asarray, inputs), mask.numpy(), "forward"), 2e-6)
