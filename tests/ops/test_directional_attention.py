"""The attention core: two forms, one NumPy reading of Eq. 15 and 11."""

from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from disan_tf.ops import DIRECTIONS, FORMS, directional_attention, lean

PROPERTY = settings(max_examples=30, deadline=None, derandomize=True)
DTYPES = ("float32", "bfloat16", "float16")


def _inputs(batch, length, dim, seed=0, size=2.0):
    """head, dependent, value: <float64>[batch, length, dim], exact in float32."""
    generator = np.random.default_rng(seed)
    return [
        (size * generator.normal(size=[batch, length, dim])).astype(np.float32).astype(np.float64)
        for _ in range(3)
    ]


@st.composite
def problems(draw):
    """Inputs, mask and options of the op, and how many tokens a block of the lean form holds."""
    batch, length, dim = (draw(st.integers(1, most)) for most in (3, 9, 4))
    masks = arrays(bool, (batch, length))
    return {
        "inputs": _inputs(batch, length, dim, draw(st.integers(0, 999))),
        "mask": draw(masks),
        "direction": draw(st.sampled_from(DIRECTIONS)),
        "head_mask": draw(st.none() | masks),
        "scale": draw(st.sampled_from([0.5, 5.0, 40.0])),
        "block": draw(st.integers(1, length)),
    }


def _reference(head, dependent, value, mask, direction, head_mask=None, scale=5.0):
    """Sums over the dependents that the paper's M_ij, the mask and the head's mask leave."""
    sees = {"forward": lambda i, j: i < j, "backward": lambda i, j: i > j}
    sees["diagonal"] = lambda i, j: i != j
    result = np.zeros_like(value)
    for b, j in np.ndindex(mask.shape):
        seen = [i for i in range(mask.shape[1]) if mask[b, i] and sees[direction](i, j)]
        if not seen or (head_mask is not None and not head_mask[b, j]):
            continue
        f = scale * np.tanh((dependent[b, seen] + head[b, j]) / scale)
        p = np.exp(f - f.max(axis=0))
        result[b, j] = np.sum(p / p.sum(axis=0) * value[b, seen], axis=0)
    return result


def _blocks_of(tokens, inputs):
    """Makes the blocks of the lean form hold `tokens` tokens."""
    return mock.patch.object(lean, "BLOCK_NUMBERS", tokens * inputs[0].size)


def _attend(form, inputs, mask, dtype="float32", **options):
    """Context, and the gradients of sum(context * noise) for head, dependent and value."""
    inputs = [tf.cast(tensor, dtype) for tensor in inputs]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        context = directional_attention(*inputs, tf.constant(mask), form=form, **options)
        total = tf.reduce_sum(tf.cast(context, tf.float32) * _noise(context.shape))
    return [context, *tape.gradient(total, inputs)]


def _noise(shape):
    """Numbers that are exact in bfloat16."""
    noise = np.random.default_rng(1).integers(-9, 10, size=shape) / 4
    return tf.constant(noise, tf.float32)


def _options(problem):
    return {key: problem[key] for key in ("direction", "head_mask", "scale")}


def _assert_close(actual, expected, bound):
    """|a - b| <= bound * max(1, |b|), and no NaN."""
    actual, expected = (np.asarray(tf.cast(it, tf.float64)) for it in (actual, expected))
    error = np.abs(actual - expected) / np.maximum(1.0, np.abs(expected))
    assert np.isfinite(actual).all() and np.max(error, initial=0.0) <= bound, np.max(error)


@pytest.mark.parametrize("form", FORMS)
@PROPERTY
@given(problem=problems())
def test_context_is_equations_15_and_11(form, problem):
    inputs, mask, options = problem["inputs"], problem["mask"], _options(problem)
    with _blocks_of(problem["block"], inputs):
        actual, *_ = _attend(form, inputs, mask, **options)
    bound = 1e-6 * max(1.0, problem["scale"] / 5.0)  # float32 rounds the logits, up to `scale`
    _assert_close(actual, _reference(*inputs, mask, **options), bound)


@PROPERTY
@given(problem=problems())
def test_the_forms_agree_in_values_and_gradients(problem):
    inputs, mask, options = problem["inputs"], problem["mask"], _options(problem)
    plain = _attend("plain", inputs, mask, **options)
    with _blocks_of(problem["block"], inputs):
        thin = _attend("lean", inputs, mask, **options)
    for actual, expected in zip(thin, plain):
        _assert_close(actual, expected, 2e-6 * max(1.0, problem["scale"] / 5.0))


@pytest.mark.parametrize("head_masked", [False, True])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_gradients_are_those_of_the_reference(direction, form, head_masked):
    inputs = _inputs(2, 7, 3)
    mask = np.array([[1, 1, 0, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0]], bool)
    options = {"direction": direction, "head_mask": ~mask[::-1] if head_masked else None}
    with _blocks_of(2, inputs):
        context, *gradients = _attend(form, inputs, mask, **options)
    noise = _noise(context.shape).numpy()
    for number, gradient in enumerate(gradients):
        step = np.random.default_rng(2).normal(size=inputs[number].shape)
        ends = []
        for sign in (1e-6, -1e-6):
            moved = [*inputs]
            moved[number] = inputs[number] + sign * step
            ends.append(np.sum(noise * _reference(*moved, mask, **options)))
        slope = (ends[0] - ends[1]) / 2e-6
        assert abs(slope) > 1e-3
        np.testing.assert_allclose(np.sum(gradient * step), slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_compiled_with_unknown_shapes_in_several_blocks_it_is_the_same(direction):
    inputs = [tf.constant(tensor, tf.float32) for tensor in _inputs(2, 7, 3)]
    mask = tf.constant(np.random.default_rng(3).random([2, 7]) < 0.7)

    def step(mask, *inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            context = directional_attention(*inputs, mask, direction=direction)
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
            _assert_close(ours, expected, 2e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_half_precision_inputs_are_computed_in_float32(dtype, form):
    inputs = [tf.cast(tensor, dtype) for tensor in _inputs(2, 6, 3)]
    mask = np.array([[1, 1, 1, 1, 1, 1], [1, 0, 1, 0, 0, 0]], bool)
    actual = _attend(form, inputs, mask, dtype, direction="forward")
    expected = _attend(form, inputs, mask, "float32", direction="forward")
    for ours, exact in zip(actual, expected):
        assert ours.dtype == dtype
        rounding = {"float32": 0.0, "bfloat16": 2.0**-8, "float16": 2.0**-11}[dtype]
        _assert_close(ours, exact, rounding)


@pytest.mark.parametrize("scale", [1.0, 5.0, 40.0])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_huge_inputs_stay_finite(direction, form, dtype, scale):
    inputs = _inputs(2, 6, 3, size=1e4)
    mask = np.array([[1, 1, 1, 1, 1, 1], [0, 1, 0, 1, 0, 0]], bool)
    options = {"direction": direction, "scale": scale}
    for tensor in _attend(form, inputs, mask, dtype, **options):
        assert np.isfinite(tf.cast(tensor, tf.float32)).all()


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("form", FORMS)
def test_saturated_logits_give_the_mean(form, sign):
    value = _inputs(1, 5, 2)[2]
    huge = np.full(value.shape, sign * 1e4)
    context, *_ = _attend(form, [huge, huge, value], np.ones([1, 5], bool), direction="backward",
                          scale=40.0)  # fmt: skip
    expected = [np.mean(value[0, j + 1 :], axis=0) for j in range(4)] + [np.zeros(2)]
    _assert_close(context[0], expected, 1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 1, 3), (0, 1, 3)])
def test_an_empty_batch_and_a_lone_token_have_no_context(shape, direction, form):
    mask = np.ones(shape[:2], bool)
    for tensor in _attend(form, _inputs(*shape), mask, direction=direction):
        np.testing.assert_array_equal(tensor, np.zeros(shape))


@pytest.mark.parametrize("form", FORMS)
def test_sentences_without_positions_do_not_crash(form):
    for tensor in _attend(form, _inputs(2, 0, 3), np.ones([2, 0], bool), direction="forward"):
        assert tensor.shape == [2, 0, 3]


@pytest.mark.parametrize("form", FORMS)
def test_unselected_heads_get_nothing_and_give_no_gradient(form):
    head_mask = np.array([[True, False, True, False]])
    options = {"direction": "diagonal", "head_mask": head_mask}
    context, head_gradient, *_ = _attend(form, _inputs(1, 4, 3), np.ones([1, 4], bool), **options)
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
        _attend(form, _inputs(1, 2, 3), np.ones([1, 2], bool), **options)


def test_an_unknown_form_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="known forms are plain, lean"):
        _attend("thick", _inputs(1, 2, 3), np.ones([1, 2], bool), direction="forward")
