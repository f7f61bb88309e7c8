"""Bias and activation, fusion gate, softmax pool, copies: native and portable against NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.ops import portable
from disan_tf.ops.elementwise import bias_activation, copies
from tests.support.ops.backends import BACKENDS, needs_native
from tests.support.ops.elementwise_problems import (
    NAMES,
    NATIVE,
    Problem,
    assert_close,
    assert_gate_rounds,
    to_numpy,
)

# Relative errors of one rounding: 8 and 11 bits.
ROUNDING = {"bfloat16": 2.0**-8, "float16": 2.0**-11}
KINDS = ("elu", "gate", "pool")  # one of every shape of arguments


@pytest.fixture(params=BACKENDS)
def backend(request):
    with request.param():
        yield


@pytest.mark.parametrize("name", NAMES)
def test_values_and_gradients_are_those_of_the_equations(name, backend):
    for seed, dim in enumerate((1, 5, 17)):
        problem = Problem(name, [3, 4, dim], seed=seed)
        actual, expected = problem.evaluate(), problem.expected()
        if name == "gate":
            assert_gate_rounds(actual[0], expected[0], problem)
        else:
            assert_close(actual[:1], expected[:1], 1e-6)
        assert_close(actual[1:], expected[1:], 2e-6)


@needs_native
@pytest.mark.parametrize("name", NATIVE)
def test_native_is_portable_in_every_width(name):
    shapes = [[2, 7, 1], [2, 7, 15], [2, 7, 16], [5, 40, 33], [5, 40, 300]]
    if name not in ("gate", "pool"):
        shapes += [[3, 17], [2, 1, 3, 17]]
    for shape in shapes:
        problem = Problem(name, shape)
        actual = problem.evaluate()
        with portable():
            expected = problem.evaluate()
        if name == "gate":
            assert_gate_rounds(actual[0], expected[0], problem, forms=2)
        else:
            assert_close(actual[:1], expected[:1], 1e-6)
        assert_close(actual[1:], expected[1:], 1e-5)  # sums of 200 rows


@pytest.mark.parametrize("name", KINDS)
def test_without_tokens_or_features_there_is_no_result_and_no_gradient(name, backend):
    for shape in ([0, 4, 5], [2, 0, 5], [0, 0, 5], [2, 3, 0]):
        problem = Problem(name, shape)
        result, *gradients = problem.evaluate()
        np.testing.assert_array_equal(result, np.zeros(problem.upstream.shape))
        for gradient, argument in zip(gradients, problem.arguments):
            np.testing.assert_array_equal(gradient, np.zeros(argument.shape))


@needs_native
@pytest.mark.parametrize("name", NATIVE)
def test_native_bfloat16_rounds_what_it_stores_and_nothing_else(name):
    """Every result and gradient is rounded once, but the gradients of elu and of the gate use a
    stored number of size 1 that was rounded too: so may be each of the terms that they add up."""
    half, single = (Problem(name, [3, 8, 37], dtype) for dtype in ("bfloat16", "float32"))
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


@pytest.mark.parametrize("name, dtype", zip(KINDS, ("bfloat16", "float16", "bfloat16")))
def test_half_precision_is_near_float32(dtype, name, backend):
    """Within eight roundings; portable TensorFlow rounds after every operation."""
    shape = [2, 4, 9]
    actual, expected = (Problem(name, shape, kind).evaluate() for kind in (dtype, "float32"))
    assert {tensor.dtype.name for tensor in actual} == {dtype}
    assert_close(actual, expected, 8 * ROUNDING[dtype])


@pytest.mark.parametrize("name, dtype", [("gate", "bfloat16"), ("pool", "float16")])
def test_masked_rows_are_exactly_zero_and_get_no_gradient(dtype, name, backend):
    problem = Problem(name, [3, 6, 17], dtype)
    result, *gradients = (to_numpy(tensor) for tensor in problem.evaluate())
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
        tf.where(dirty.mask[..., None], tensor, np.nan) if tensor.shape.rank == 3 else tensor
        for tensor in dirty.arguments
    ]
    for actual, expected in zip(dirty.evaluate(), clean.evaluate()):
        np.testing.assert_array_equal(to_numpy(actual), to_numpy(expected))


@pytest.mark.parametrize("name, dtype", zip(KINDS, ("float32", "bfloat16", "float32")))
def test_huge_inputs_are_right_and_have_finite_gradients(name, dtype, backend):
    problem = Problem(name, [2, 5, 18], dtype, size=1e4)
    actual, (expected,) = problem.evaluate(), problem.expected(gradients=False)
    bound = 1e-5 if dtype == "float32" else 8 * ROUNDING[dtype]
    assert_close(actual[:1], [expected], bound)
    for gradient in actual[1:]:
        assert np.all(np.isfinite(to_numpy(gradient)))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_elu_far_below_zero_is_minus_one_and_flat(dtype, backend):
    x, bias = tf.constant([[-1e4, -1e4, -104.0, -88.0]], dtype), tf.zeros([4], dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = bias_activation(x, bias, tf.keras.activations.elu)
    np.testing.assert_array_equal(to_numpy(y), -np.ones([1, 4]))
    np.testing.assert_array_equal(to_numpy(tape.gradient(y, x)), np.zeros([1, 4]))


@pytest.mark.parametrize(
    "dtype, shape, number",
    [
        ("float32", [], 2),
        ("bfloat16", [0], 2),
        ("float16", [2, 3, 17], 1),
        ("bfloat16", [40, 300], 3),
    ],
)
def test_copies_are_the_tensor_and_their_gradients_add_up(shape, number, dtype, backend):
    generator = np.random.default_rng(5)
    x, *factors = (
        tf.cast(tf.constant(generator.normal(size=shape)), dtype) for _ in range(1 + number)
    )
    with tf.GradientTape() as tape:
        tape.watch(x)
        tensors = copies(x, number)
        total = sum(tf.reduce_sum(tensor * factor) for tensor, factor in zip(tensors, factors))
    for tensor in tensors:
        np.testing.assert_array_equal(to_numpy(tensor), to_numpy(x))
    factors = np.stack([to_numpy(factor) for factor in factors])
    bound = number * ROUNDING.get(dtype, 2.0**-24) * np.abs(factors).sum(axis=0)
    assert np.all(np.abs(to_numpy(tape.gradient(total, x)) - factors.sum(axis=0)) <= bound)


def test_elu_of_zero_is_exactly_zero(backend):
    zeros = tf.zeros([2, 33])
    y = bias_activation(zeros, zeros[0], tf.keras.activations.elu)
    np.testing.assert_array_equal(y, zeros)


def test_another_function_of_a_known_name_is_not_mistaken_for_it(backend):
    def elu(x):
        return 7.0 * x

    np.testing.assert_array_equal(bias_activation(tf.ones([2, 3]), tf.ones([3]), elu), 14.0)


@pytest.mark.parametrize(
    "name,number",
    [
        ("elu", 0),
        ("relu", 0),
        ("gate", 3),
        ("pool", 0),
        ("pool", 1),
    ],
)
def test_a_nan_stays_where_it_is(name, number, backend):
    clean, dirty = (Problem(name, [3, 4, 18]) for _ in range(2))
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


@pytest.mark.parametrize("name", KINDS)
def test_compiled_for_unknown_shapes_it_is_the_same(name, backend):
    problem = Problem(name, [3, 4, 17])
    signature = (
        tf.TensorSpec([None, None], tf.bool),
        [tf.TensorSpec([None] * tensor.shape.rank, tensor.dtype) for tensor in problem.arguments],
    )
    compiled = tf.function(problem.evaluate, input_signature=signature)
    assert_close(compiled(problem.mask, problem.arguments), problem.evaluate(), 1e-6)
