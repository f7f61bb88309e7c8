"""Fused operations: native, portable, and NumPy agree in values and in all gradients."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.ops import portable
from disan_tf.ops.elementwise import bias_activation, copies, fusion_gate
from tests.support.backends import BACKENDS, needs_native
from tests.support.elementwise_problems import (
    ACTIVATIONS,
    NAMES,
    NATIVE,
    Problem,
    assert_close,
    to_numpy,
)

DIMS = (1, 15, 16, 17, 300, 600)  # around the lanes of a vector, and the sizes of the paper
# Relative errors of one rounding: 8 and 11 bits.
ROUNDING = {"bfloat16": 2.0**-8, "float16": 2.0**-11}


@pytest.fixture(params=BACKENDS)
def world(request):
    with request.param():
        yield


def _portable(problem):
    with portable():
        return problem.evaluate()


@pytest.mark.parametrize("name", NAMES)
def test_values_and_gradients_are_those_of_the_equations(name, world):
    for seed, dim in enumerate((1, 5, 17)):
        problem = Problem(name, [3, 4, dim], seed=seed)
        actual, expected = problem.evaluate(), problem.expected()
        assert_close(actual[:1], expected[:1], 1e-6)
        assert_close(actual[1:], expected[1:], 2e-6)


@needs_native
@pytest.mark.parametrize("name", NATIVE)
@pytest.mark.parametrize("dim", DIMS)
def test_native_is_portable_in_every_width(dim, name):
    shapes = [[2, 7, dim], [5, 40, dim]]  # the second has more rows than a block
    for shape in shapes if name in ("gate", "pool") else [*shapes, [3, dim], [2, 1, 3, dim]]:
        problem = Problem(name, shape)
        actual, expected = problem.evaluate(), _portable(problem)
        assert_close(actual[:1], expected[:1], 1e-6)
        assert_close(actual[1:], expected[1:], 1e-5)  # sums of 200 rows


EMPTY = ([0, 4, 5], [2, 0, 5], [0, 0, 5], [2, 3, 0])


@pytest.mark.parametrize(
    "name,shape",
    [*((name, shape) for name in NAMES for shape in EMPTY), *((it, [0, 5]) for it in ACTIVATIONS)],
)
def test_nothing_comes_of_nothing(name, shape, world):
    problem = Problem(name, shape)
    result, *gradients = problem.evaluate()
    np.testing.assert_array_equal(result, np.zeros(problem.upstream.shape))
    for gradient, argument in zip(gradients, problem.arguments):
        np.testing.assert_array_equal(gradient, np.zeros(argument.shape))


@needs_native
@pytest.mark.parametrize("name", NATIVE)
@pytest.mark.parametrize("dim", [5, 16, 300])
def test_native_bfloat16_rounds_what_it_stores_and_nothing_else(dim, name):
    """Each result and gradient is rounded once, and the gradients of elu and of the gate use a
    stored number of size 1 that was rounded too: so may each of the terms that they add up be."""
    half, single = (Problem(name, [3, 8, dim], dtype) for dtype in ("bfloat16", "float32"))
    term = 0.0
    if name in ("elu", "gate"):
        term = np.abs(half.upstream).max()
    if name == "gate":
        h, s = (to_numpy(argument) for argument in half.arguments[3:])
        term *= np.abs(h - s).max()
    for number, (ours, exact) in enumerate(zip(half.evaluate(), single.evaluate())):
        assert ours.dtype == tf.bfloat16
        exact = to_numpy(exact)
        terms = 24 if exact.ndim == 1 else 1 if number else 0
        bound = ROUNDING["bfloat16"] * (np.abs(exact) + terms * term) + 1e-6
        assert np.all(np.abs(to_numpy(ours) - exact) <= bound), number


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ROUNDING)
def test_half_precision_is_near_float32(dtype, name, world):
    """Within eight roundings; portable TensorFlow rounds after every operation."""
    shape = [2, 4, 9]
    actual, expected = (Problem(name, shape, each).evaluate() for each in (dtype, "float32"))
    assert {it.dtype.name for it in actual} == {dtype}
    assert_close(actual, expected, 8 * ROUNDING[dtype])


@pytest.mark.parametrize("name", ["gate", "pool"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_masked_rows_are_exactly_zero_and_get_no_gradient(dtype, name, world):
    problem = Problem(name, [3, 6, 17], dtype)
    result, *gradients = (to_numpy(it) for it in problem.evaluate())
    if name == "pool":
        np.testing.assert_array_equal(np.any(result, axis=1), np.any(problem.mask, axis=1))
    for rows in [result, *gradients]:
        if rows.ndim == 3:
            np.testing.assert_array_equal(np.any(rows, axis=2), problem.mask)


@needs_native
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", ["gate", "pool"])
def test_the_native_form_does_not_read_masked_rows(name, dtype):
    """The portable form needs finite numbers there: 0 * NaN is NaN in its gradients."""
    clean, dirty = (Problem(name, [3, 6, 17], dtype) for _ in range(2))
    dirty.arguments = [
        tf.where(dirty.mask[..., None], it, np.nan) if it.shape.rank == 3 else it
        for it in dirty.arguments
    ]
    for actual, expected in zip(dirty.evaluate(), clean.evaluate()):
        np.testing.assert_array_equal(to_numpy(actual), to_numpy(expected))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", NAMES)
def test_huge_inputs_are_right_and_have_finite_gradients(name, dtype, world):
    problem = Problem(name, [2, 5, 18], dtype, size=1e4)
    actual, (expected,) = problem.evaluate(), problem.expected(gradients=False)
    bound = 1e-5 if dtype == "float32" else 8 * ROUNDING[dtype]
    assert_close(actual[:1], [expected], bound)
    for gradient in actual[1:]:
        assert np.all(np.isfinite(to_numpy(gradient)))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_elu_far_below_zero_is_minus_one_and_flat(dtype, world):
    x, bias = tf.constant([[-1e4, -1e4, -104.0, -88.0]], dtype), tf.zeros([4], dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = bias_activation(x, bias, tf.keras.activations.elu)
    np.testing.assert_array_equal(to_numpy(y), -np.ones([1, 4]))
    np.testing.assert_array_equal(to_numpy(tape.gradient(y, x)), np.zeros([1, 4]))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("shape", [[], [0], [2, 3, 17], [40, 300]])
def test_copies_are_the_tensor_and_their_gradients_add_up(shape, number, dtype, world):
    generator = np.random.default_rng(5)
    x, *factors = (
        tf.cast(tf.constant(generator.normal(size=shape)), dtype) for _ in range(1 + number)
    )
    with tf.GradientTape() as tape:
        tape.watch(x)
        here = copies(x, number)
        total = sum(tf.reduce_sum(copy * factor) for copy, factor in zip(here, factors))
    for copy in here:
        np.testing.assert_array_equal(to_numpy(copy), to_numpy(x))
    factors = np.stack([to_numpy(factor) for factor in factors])
    bound = number * ROUNDING.get(dtype, 2.0**-24) * np.abs(factors).sum(axis=0)
    assert np.all(np.abs(to_numpy(tape.gradient(total, x)) - factors.sum(axis=0)) <= bound)


def test_a_copy_that_nobody_uses_gives_no_gradient(world):
    x = tf.ones([2, 17])
    with tf.GradientTape() as tape:
        tape.watch(x)
        used, _ = copies(x, 2)
        total = tf.reduce_sum(3.0 * used)
    np.testing.assert_array_equal(tape.gradient(total, x), 3.0 * x)


def test_another_function_of_a_known_name_is_not_taken_for_it(world):
    def elu(x):
        return 7.0 * x

    np.testing.assert_array_equal(bias_activation(tf.ones([2, 3]), tf.ones([3]), elu), 14.0)


@pytest.mark.parametrize("activation", ["linear", "elu", "relu"])
def test_zero_stays_exactly_zero(activation, world):
    zeros = tf.zeros([2, 33])
    y = bias_activation(zeros, zeros[0], tf.keras.activations.get(activation))
    np.testing.assert_array_equal(y, zeros)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_an_open_and_a_closed_gate_pass_one_side_unchanged(sign, dtype, world):
    token = tf.fill([1, 2, 17], tf.constant(sign * 1e4, dtype))
    small, large = tf.ones_like(token), tf.fill(token.shape, tf.constant(1e8, dtype))
    h, s = (small, large) if sign > 0 else (large, small)
    u = fusion_gate(token, token, tf.zeros([17], dtype), h, s, tf.ones([1, 2], tf.bool))
    np.testing.assert_allclose(to_numpy(u), to_numpy(small), rtol=1e-6)


@pytest.mark.parametrize(
    "name,number",
    [("linear", 0), ("elu", 0), ("relu", 0), *(("gate", k) for k in (0, 1, 3, 4)),
     ("pool", 0), ("pool", 1)],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_nan_stays_where_it_is(dtype, name, number, world):
    clean, dirty = (Problem(name, [3, 4, 18], dtype) for _ in range(2))
    clean.mask[1, 2] = dirty.mask[1, 2] = True
    spoiled = dirty.arguments[number].numpy()
    spoiled[1, 2, 3] = np.nan
    dirty.arguments[number] = tf.constant(spoiled)
    for index, (actual, expected) in enumerate(zip(dirty.evaluate(), clean.evaluate())):
        actual, expected = to_numpy(actual), to_numpy(expected)
        touched = np.zeros(actual.shape, bool)
        touched[{1: np.s_[3], 2: np.s_[1, 3], 3: np.s_[1, :, 3]}[actual.ndim]] = True
        if name != "pool" and actual.ndim == 3:
            touched[1, [0, 1, 3]] = False
        np.testing.assert_array_equal(actual[~touched], expected[~touched])
        assert index or np.isnan(actual[touched]).all()


@pytest.mark.parametrize("name", NAMES)
def test_compiled_for_unknown_shapes_it_is_the_same(name, world):
    problem = Problem(name, [3, 4, 17])
    mask, numbers = (
        tf.TensorSpec([None, None], tf.bool),
        [tf.TensorSpec([None] * it.shape.rank, it.dtype) for it in problem.arguments],
    )
    compiled = tf.function(problem.evaluate, input_signature=[mask, numbers])
    assert_close(compiled(problem.mask, problem.arguments), problem.evaluate(), 1e-6)
