"""Fused operations: native, portable, and NumPy agree in values and in all gradients."""

import numpy as np
import pytest
import tensorflow as tf
from fused_problems import ACTIVATIONS, NAMES, NATIVE, Problem, assert_close, to_numpy
from worlds import WORLDS, needs_native

from disan_tf.ops import portable
from disan_tf.ops.fused import bias_activation, fusion_gate

DIMS = (1, 15, 16, 17, 300, 600)  # around the lanes of a vector, and the sizes of the paper
# Relative errors of one rounding: 8 and 11 bits.
ROUNDING = {"bfloat16": 2.0**-8, "float16": 2.0**-11}


@pytest.fixture(params=WORLDS)
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
    for shape in shapes if name in ("gate", "pool") else [*shapes, [3, dim], [dim], [2, 1, 3, dim]]:
        problem = Problem(name, shape)
        actual, expected = problem.evaluate(), _portable(problem)
        assert_close(actual[:1], expected[:1], 1e-6)
        assert_close(actual[1:], expected[1:], 5e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [[0, 4, 5], [2, 0, 5], [0, 0, 5], [2, 3, 0]])
def test_nothing_comes_of_nothing(shape, name, world):
    if name in ACTIVATIONS:
        shapes = [shape, shape[1:]] if shape[1] == 0 else [shape]
    else:
        shapes = [shape]
    for each in shapes:
        result, *gradients = (to_numpy(it) for it in Problem(name, each).evaluate())
        assert result.shape == ((shape[0], shape[2]) if name == "pool" else tuple(each))
        assert not np.any(result)
        for gradient, argument in zip(gradients, Problem(name, each).arguments):
            np.testing.assert_array_equal(gradient, np.zeros(argument.shape))


@needs_native
@pytest.mark.parametrize("name", NATIVE)
@pytest.mark.parametrize("dim", [5, 16, 300])
def test_native_bfloat16_rounds_what_it_stores_and_nothing_else(dim, name):
    """A result is rounded once. A gradient is rounded once, and uses the stored result or gate:
    each of the terms that are added up may be off by one rounding of its largest factors."""
    problem = Problem(name, [3, 8, dim], "bfloat16")
    exact = Problem(name, [3, 8, dim])
    rows = np.prod([3, 8])
    for number, (ours, theirs) in enumerate(zip(problem.evaluate(), exact.evaluate())):
        assert ours.dtype == tf.bfloat16
        theirs = to_numpy(theirs)
        stored = 0.0
        if number and name in ("elu", "gate"):
            largest = np.max(np.abs(to_numpy(exact.arguments[3]) - to_numpy(exact.arguments[4]))
                             ) if name == "gate" else 1.0  # fmt: skip
            stored = 2.25 * max(1.0, largest) * (rows if theirs.ndim == 1 else 1)
        bound = ROUNDING["bfloat16"] * (np.abs(theirs) + stored) + 1e-6
        assert np.all(np.abs(to_numpy(ours) - theirs) <= bound), number


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
    if name == "gate":
        gradients += [result]
    else:
        assert not np.any(result[0]) and np.all(np.any(result[1:], axis=1))
    assert not problem.mask.all()
    for gradient in gradients:
        if gradient.ndim == 3:
            assert not np.any(gradient[~problem.mask])
            assert np.all(np.any(gradient[problem.mask], axis=1))


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
