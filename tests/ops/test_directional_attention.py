"""The attention core: all forms of this machine, one NumPy reading of Eq. 15 and 11."""

from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from disan_tf.ops import DIRECTIONS, available_forms, directional_attention
from disan_tf.ops import blockwise as lean
from tests.support.attention_problems import assert_close, attend, make_inputs, noise, reference

PROPERTY = settings(max_examples=30, deadline=None, derandomize=True)
DTYPES = ("float32", "bfloat16", "float16")
FORMS = available_forms()


@st.composite
def problems(draw):
    """Inputs, mask and options of the op, and how many tokens a block of the lean form holds."""
    batch, length, dim = (draw(st.integers(1, most)) for most in (3, 9, 4))
    masks = arrays(bool, (batch, length))
    return {
        "inputs": make_inputs(batch, length, dim, draw(st.integers(0, 999))),
        "mask": draw(masks),
        "direction": draw(st.sampled_from(DIRECTIONS)),
        "head_mask": draw(st.none() | masks),
        "scale": draw(st.sampled_from([0.5, 5.0, 40.0])),
        "block": draw(st.integers(1, length)),
    }


def _blocks_of(tokens, inputs):
    """Makes the blocks of the lean form hold `tokens` tokens."""
    return mock.patch.object(lean, "BLOCK_NUMBERS", tokens * inputs[0].size)


def _options(problem):
    return {key: problem[key] for key in ("direction", "head_mask", "scale")}


@pytest.mark.parametrize("form", FORMS)
@PROPERTY
@given(problem=problems())
def test_context_is_equations_15_and_11(form, problem):
    inputs, mask, options = problem["inputs"], problem["mask"], _options(problem)
    with _blocks_of(problem["block"], inputs):
        actual, *_ = attend(form, inputs, mask, **options)
    bound = 1e-6 * max(1.0, problem["scale"] / 5.0)  # float32 rounds the logits, up to `scale`
    assert_close(actual, reference(*inputs, mask, **options), bound)


@PROPERTY
@given(problem=problems())
def test_the_forms_agree_in_values_and_gradients(problem):
    inputs, mask, options = problem["inputs"], problem["mask"], _options(problem)
    plain = attend("plain", inputs, mask, **options)
    for form in FORMS:
        with _blocks_of(problem["block"], inputs):
            found = attend(form, inputs, mask, **options)
        for actual, expected in zip(found, plain):
            assert_close(actual, expected, 2e-6 * max(1.0, problem["scale"] / 5.0))


@pytest.mark.parametrize("head_masked", [False, True])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_gradients_are_those_of_the_reference(direction, form, head_masked):
    inputs = make_inputs(2, 7, 3)
    mask = np.array([[1, 1, 0, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0]], bool)
    options = {"direction": direction, "head_mask": ~mask[::-1] if head_masked else None}
    with _blocks_of(2, inputs):
        context, *gradients = attend(form, inputs, mask, **options)
    upstream = noise(context.shape).numpy()
    for number, gradient in enumerate(gradients):
        step = np.random.default_rng(2).normal(size=inputs[number].shape)
        ends = []
        for sign in (1e-6, -1e-6):
            moved = [*inputs]
            moved[number] = inputs[number] + sign * step
            ends.append(np.sum(upstream * reference(*moved, mask, **options)))
        slope = (ends[0] - ends[1]) / 2e-6
        assert abs(slope) > 1e-3
        np.testing.assert_allclose(np.sum(gradient * step), slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_compiled_with_unknown_shapes_in_several_blocks_it_is_the_same(direction, form):
    inputs = [tf.constant(tensor, tf.float32) for tensor in make_inputs(2, 7, 3)]
    mask = tf.constant(np.random.default_rng(3).random([2, 7]) < 0.7)

    def step(mask, *inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            context = directional_attention(*inputs, mask, direction=direction, form=form)
            total = tf.reduce_sum(tf.square(context))
        return [context, *tape.gradient(total, inputs)]

    signature = [tf.TensorSpec([None, None], tf.bool)]
    signature += [tf.TensorSpec([None, None, 3], tf.float32)] * 3
    compiled = tf.function(step, input_signature=signature)
    for length in (7, 1, 4):
        short = [tensor[:, :length] for tensor in (mask, *inputs)]
        with mock.patch.object(lean, "BLOCK_NUMBERS", 2 * 2 * 7 * 3):  # two of seven tokens
            actual = compiled(*short)
        for ours, expected in zip(actual, step(*short)):
            assert_close(ours, expected, 2e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_half_precision_inputs_are_computed_in_float32(dtype, form):
    inputs = [tf.cast(tensor, dtype) for tensor in make_inputs(2, 6, 3)]
    mask = np.array([[1, 1, 1, 1, 1, 1], [1, 0, 1, 0, 0, 0]], bool)
    actual = attend(form, inputs, mask, dtype, direction="forward")
    expected = attend(form, inputs, mask, "float32", direction="forward")
    for ours, exact in zip(actual, expected):
        assert ours.dtype == dtype
        rounding = {"float32": 0.0, "bfloat16": 2.0**-8, "float16": 2.0**-11}[dtype]
        assert_close(ours, exact, rounding)


@pytest.mark.parametrize("scale", [1.0, 5.0, 40.0])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_huge_inputs_stay_finite(direction, form, dtype, scale):
    inputs = make_inputs(2, 6, 3, size=1e4)
    mask = np.array([[1, 1, 1, 1, 1, 1], [0, 1, 0, 1, 0, 0]], bool)
    options = {"direction": direction, "scale": scale}
    for tensor in attend(form, inputs, mask, dtype, **options):
        assert np.isfinite(tf.cast(tensor, tf.float32)).all()


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("form", FORMS)
def test_saturated_logits_give_the_mean(form, sign):
    value = make_inputs(1, 5, 2)[2]
    huge = np.full(value.shape, sign * 1e4)
    context, *_ = attend(form, [huge, huge, value], np.ones([1, 5], bool), direction="backward",
                          scale=40.0)  # fmt: skip
    expected = [np.mean(value[0, j + 1 :], axis=0) for j in range(4)] + [np.zeros(2)]
    assert_close(context[0], expected, 1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 1, 3), (0, 1, 3)])
def test_an_empty_batch_and_a_lone_token_have_no_context(shape, direction, form):
    mask = np.ones(shape[:2], bool)
    for tensor in attend(form, make_inputs(*shape), mask, direction=direction):
        np.testing.assert_array_equal(tensor, np.zeros(shape))


@pytest.mark.parametrize("form", FORMS)
def test_sentences_without_positions_do_not_crash(form):
    for tensor in attend(form, make_inputs(2, 0, 3), np.ones([2, 0], bool), direction="forward"):
        assert tensor.shape == [2, 0, 3]


@pytest.mark.parametrize("form", FORMS)
def test_unselected_heads_get_nothing_and_give_no_gradient(form):
    head_mask = np.array([[True, False, True, False]])
    options = {"direction": "diagonal", "head_mask": head_mask}
    context, head_gradient, *_ = attend(
        form, make_inputs(1, 4, 3), np.ones([1, 4], bool), **options
    )
    for tensor in (context, head_gradient):
        np.testing.assert_array_equal(np.any(tensor, axis=-1), head_mask)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "bad", [{"direction": "sideways"}, {"direction": None}, {"scale": 0}, {"scale": 40.1},
            {"scale": -1.0}, {"scale": float("nan")}]
)  # fmt: skip
def test_bad_arguments_are_refused(bad, form):
    (value,) = bad.values()
    options = {"direction": "forward", **bad}
    with pytest.raises(ValueError, match=f"={value!r};"):
        attend(form, make_inputs(1, 2, 3), np.ones([1, 2], bool), **options)


def test_an_unknown_form_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="known forms are auto, plain, lean, native"):
        attend("thick", make_inputs(1, 2, 3), np.ones([1, 2], bool), direction="forward")
