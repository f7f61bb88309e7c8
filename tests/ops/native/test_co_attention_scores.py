"""Native additive scores: values, gradients, extremes, wrong arguments."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.ops.co_attention_scores import additive_scores
from disan_tf.ops.native import runtime
from tests.support.ops.backends import needs_native

pytestmark = needs_native
INVALID = tf.errors.InvalidArgumentError
TOLERANCE = 4e-7  # of a tanh
# Of a derivative: 4.8e-7 is the largest error of 41 seeds in code without fused multiply-adds
# (x86-64-v2), 3.6e-7 with them.
SLOPE_TOLERANCE = 6e-7
INF, NAN = np.inf, np.nan


def _problem(batch, lengths, dim, size=1.0):
    """first, second, vector and the upstream gradient, <float32>."""
    generator = np.random.default_rng(7)
    first, second = (size * generator.normal(size=[batch, length, dim]) for length in lengths)
    vector, upstream = generator.normal(size=dim), generator.normal(size=[batch, *lengths])
    return [array.astype(np.float32) for array in (first, second, vector, upstream)]


def _evaluate(first, second, vector, upstream):
    """The scores and their gradients for first, second and vector."""
    inputs = [tf.convert_to_tensor(array) for array in (first, second, vector)]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        scores = additive_scores(*inputs)
    return [scores, *tape.gradient(scores, inputs, upstream)]


def _reference(first, second, vector, upstream):
    """(value, sum of the sizes of its terms) for the results of `_evaluate`, in float64."""
    first, second, vector, upstream = (
        array.astype(np.float64) for array in (first, second, vector, upstream)
    )
    tanh = np.tanh(first[:, :, None] + second[:, None])

    def results(vector, upstream, tanh, slope):
        return [
            tanh @ vector,
            vector * np.einsum("bij,bijk->bik", upstream, slope),
            vector * np.einsum("bij,bijk->bjk", upstream, slope),
            np.einsum("bij,bijk->k", upstream, tanh),
        ]

    ones = np.ones_like(tanh)
    sizes = results(np.abs(vector), np.abs(upstream), ones, ones)
    return list(zip(results(vector, upstream, tanh, 1.0 - tanh**2), sizes))


def _assert_is_the_definition(*problem):
    tolerances = TOLERANCE, SLOPE_TOLERANCE, SLOPE_TOLERANCE, TOLERANCE
    results = zip(_evaluate(*problem), _reference(*problem), tolerances)
    for actual, (expected, size), tolerance in results:
        assert actual.dtype == tf.float32 and actual.shape == expected.shape
        assert (np.abs(actual - expected) <= tolerance * size).all()


@pytest.mark.parametrize(
    "lengths,dim", [((1, 1), 1), ((2, 9), 7), ((9, 2), 16), ((33, 9), 100), ((1, 33), 200)]
)
def test_values_and_gradients_are_the_definition(lengths, dim):
    _assert_is_the_definition(*_problem(3, lengths, dim))


@pytest.mark.parametrize("size", [1e-3, 6.0, 12.0, 1e4])  # 12: some rows have numbers beyond 20
def test_the_size_of_the_numbers_does_not_matter(size):
    _assert_is_the_definition(*_problem(5, (3, 2), 7, size))


@pytest.mark.parametrize(
    "batch,lengths,dim",
    [(0, (3, 2), 5), (2, (0, 3), 5), (2, (3, 0), 5), (0, (0, 0), 5), (2, (3, 2), 0)],
)
def test_without_pairs_or_features_everything_is_zero(batch, lengths, dim):
    problem = _problem(batch, lengths, dim)
    for actual, like in zip(_evaluate(*problem), [problem[3], *problem[:3]]):
        np.testing.assert_array_equal(actual, np.zeros_like(like))


def _assert_pair(a, b, tanh):
    """The tanh of one pair, and its slope, in a row that has ordinary numbers besides."""
    first = np.float32([[[a, 0.5]], [[0.25, 0.5]]])
    second = np.float32([[[b, -1.0]], [[0.5, 0.125]]])
    vector = np.float32([1.0, 0.0])
    scores, first_gradient, second_gradient, vector_gradient = _evaluate(
        first, second, vector, np.ones([2, 1, 1], np.float32)
    )
    slope, other = 1.0 - tanh**2, np.tanh(0.75)
    np.testing.assert_allclose(scores[:, 0, 0], [tanh, other], atol=TOLERANCE)
    np.testing.assert_allclose(first_gradient[:, 0, 0], [slope, 1.0 - other**2], atol=TOLERANCE)
    np.testing.assert_allclose(second_gradient[:, 0, 0], [slope, 1.0 - other**2], atol=TOLERANCE)
    np.testing.assert_allclose(vector_gradient[0], tanh + other, atol=TOLERANCE)


@pytest.mark.parametrize(
    "a,b",
    [(30.0, -29.0), (1e4, -1e4 + 0.125), (20.001, -20.0), (19.5, -19.25)],
)
def test_numbers_that_cancel_lose_nothing(a, b):
    _assert_pair(a, b, np.tanh(np.float64(np.float32(a)) + np.float64(np.float32(b))))


@pytest.mark.parametrize(
    "a,b,tanh",
    [
        (20.0, 20.0, 1.0),
        (-200.0, -200.0, -1.0),
        (3e38, 3e38, 1.0),
        (1.0, -INF, -1.0),
        (INF, INF, 1.0),
    ],
)
def test_large_numbers_saturate(a, b, tanh):
    _assert_pair(a, b, tanh)


@pytest.mark.parametrize("number, extreme", [(0, 25.0), (1, -1e30), (0, INF), (1, NAN)])
def test_extreme_numbers_of_padding_change_no_bit_elsewhere(number, extreme):
    first, second, vector, upstream = _problem(2, (6, 5), 33)
    np.moveaxis(upstream, 1 + number, 0)[3:] = 0.0
    expected = _evaluate(first, second, vector, upstream)
    (first, second)[number][:, 3:, 7] = extreme
    actual = _evaluate(first, second, vector, upstream)
    kept = np.s_[:, :3] if number == 0 else np.s_[:, :, :3]
    np.testing.assert_array_equal(actual[0][kept], expected[0][kept])
    if not np.isnan(extreme):  # 0 NaN is NaN
        np.testing.assert_array_equal(actual[1], expected[1])
        for gradient, like in zip(actual[2:], expected[2:]):
            np.testing.assert_array_equal(gradient, like)


@pytest.mark.parametrize("a,b", [(NAN, 1.0), (INF, NAN), (INF, -INF)])
def test_nan_stays_nan(a, b):
    _assert_pair(a, b, NAN)


@pytest.mark.parametrize(
    "first,second,scores",
    [
        ([None, 3, 5], [2, None, 5], [None, 3, None]),
        (None, [2, 4, 5], [None, None, 4]),
    ],
)
def test_shapes_are_inferred(first, second, scores):
    signature = tf.TensorSpec(first), tf.TensorSpec(second), tf.TensorSpec([5])
    compiled = tf.function(additive_scores).get_concrete_function(*signature)
    assert compiled.structured_outputs.shape.as_list() == scores


def _arguments():
    """Arguments of the raw operations that fit."""
    shapes = {"first": [2, 3, 5], "second": [2, 4, 5], "vector": [5], "upstream": [2, 3, 4]}
    return {name: tf.ones(shape) for name, shape in shapes.items()}


WRONG_SHAPES = {
    "first": ([], [2, 3], [2, 3, 5, 1]),
    "second": ([], [1, 4, 5], [2, 4, 6]),
    "vector": ([], [4], [5, 1]),
    "upstream": ([], [2, 4, 3], [1, 3, 4]),
}


@pytest.mark.parametrize("name", WRONG_SHAPES)
def test_a_wrong_shape_is_refused_by_name(name):
    operations, arguments = runtime.operations(), _arguments()
    for shape in WRONG_SHAPES[name]:
        wrong = {**arguments, name: tf.ones(shape)}
        with pytest.raises(INVALID, match=rf"\b{name} has shape \[.*, expected \["):
            operations.disan_additive_scores_gradient(**wrong)
        del wrong["upstream"]
        if name != "upstream":
            with pytest.raises(INVALID, match=rf"\b{name} has shape \[.*, expected \["):
                additive_scores(**wrong)


@pytest.mark.parametrize(
    "name,shape", [("second", [1, 4, 5]), ("second", [2, 4, 6]), ("vector", [4]), ("first", [2, 3])]
)
def test_a_wrong_shape_is_refused_when_a_graph_runs(name, shape):
    arguments = _arguments()
    del arguments["upstream"]
    unknown = {key: tf.TensorSpec(None) for key in arguments}
    compiled = tf.function(additive_scores).get_concrete_function(**unknown)
    compiled(**arguments)
    with pytest.raises(INVALID, match=rf"\b{name} has shape \[.*, expected \["):
        compiled(**{**arguments, name: tf.ones(shape)})
