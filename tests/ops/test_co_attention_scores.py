"""Scores of pairs of words, block by block in portable TensorFlow, against NumPy."""

from unittest import mock

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.ops import co_attention_scores, portable
from disan_tf.ops.co_attention_scores import additive_scores, product_scores
from tests.support.ops.attention_problems import assert_close, assert_gradients_are_slopes, noise

BATCH, LENGTHS, DIM, UNITS = 2, (7, 3), 4, 5
POSITION = BATCH * LENGTHS[1] * DIM  # numbers for one position of the first sentence
FUNCTIONS = [additive_scores, product_scores]


@pytest.fixture(autouse=True)
def _portable():
    with portable():
        yield


def _inputs(function, lengths=LENGTHS, batch=BATCH):
    """Arguments of the function, <float64>, exact in bfloat16."""
    generator = np.random.default_rng(4)
    shapes = [[batch, length, DIM] for length in lengths]
    shapes += [[DIM]] if function is additive_scores else [[DIM, UNITS], [UNITS]]
    return [generator.integers(-6, 7, size=shape) / 4 for shape in shapes]


def _reference(function, first, second, *weights):
    pairs = first[:, :, None], second[:, None]
    if function is additive_scores:
        return np.tanh(pairs[0] + pairs[1]) @ weights[0]
    return np.tanh((pairs[0] * pairs[1]) @ weights[0]) @ weights[1]


def _run(function, inputs, positions=100):
    """The scores, and the gradients of sum(scores * noise), in blocks of `positions`."""
    inputs = [
        tensor if tf.is_tensor(tensor) else tf.constant(tensor, "float32") for tensor in inputs
    ]
    with mock.patch.object(co_attention_scores, "BLOCK_NUMBERS", positions * POSITION):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            scores = function(*inputs)
            total = tf.reduce_sum(scores * noise(scores.shape))
        return [scores, *tape.gradient(total, inputs)]


@pytest.mark.parametrize("positions", [3, 7])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_scores_are_their_definition(function, positions):
    inputs = _inputs(function)
    scores, *_ = _run(function, inputs, positions)
    assert scores.dtype == tf.float32
    assert_close(scores, _reference(function, *inputs), 1e-6)


@pytest.mark.parametrize("positions", [3, 7])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients_are_the_slopes_of_the_definition(function, positions):
    assert_gradients_are_slopes(
        lambda *inputs: _run(function, inputs, positions),
        lambda *inputs: _reference(function, *inputs),
        _inputs(function),
    )


@pytest.mark.parametrize("function", FUNCTIONS)
def test_compiled_with_unknown_lengths_in_several_blocks_it_is_the_same(function):
    inputs = [tf.constant(tensor, tf.float32) for tensor in _inputs(function)]
    sentence = tf.TensorSpec([None, None, DIM])
    signature = [sentence, sentence, *(tf.TensorSpec(tensor.shape) for tensor in inputs[2:])]

    @tf.function(input_signature=signature)
    def compiled(*inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            total = tf.reduce_sum(tf.square(function(*inputs)))
        return [total, *tape.gradient(total, inputs)]

    with mock.patch.object(co_attention_scores, "BLOCK_NUMBERS", 2 * POSITION):
        compiled.get_concrete_function()
    for length in LENGTHS:  # four blocks, and two
        short = [inputs[0][:, :length], *inputs[1:]]
        expected = compiled.python_function(*short)
        for actual, whole in zip(compiled(*short), expected):
            assert_close(actual, whole, 2e-6)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_features_of_all_pairs_are_never_held_at_once(function):
    inputs = _inputs(function)
    units = inputs[-1].size
    with mock.patch.object(tf, "tanh", wraps=tf.tanh) as tanh:
        _run(function, inputs, positions=2)
    blocks = [call.args[0].shape.as_list() for call in tanh.call_args_list]
    assert blocks == 2 * [[BATCH, size, LENGTHS[1], units] for size in (2, 2, 2, 1)]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_half_precision_is_near_float32(function, dtype):
    exact = _inputs(function)
    half = [tf.constant(tensor, dtype) for tensor in exact[:-1]] + [
        tf.constant(exact[-1], "float32")
    ]
    actual = _run(function, half)
    assert actual[0].dtype == tf.float32
    assert [gradient.dtype for gradient in actual[1:]] == [tensor.dtype for tensor in half]
    for ours, expected in zip(actual, _run(function, exact)):
        assert_close(ours, expected, {"bfloat16": 0.06, "float16": 0.006}[dtype])


@pytest.mark.parametrize("batch,lengths", [(2, (0, 3)), (2, (3, 0)), (0, (3, 2))])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_without_pairs_there_is_no_gradient(function, batch, lengths):
    inputs = _inputs(function, lengths, batch)
    scores, *gradients = _run(function, inputs)
    assert scores.shape == [batch, *lengths]
    for gradient, tensor in zip(gradients, inputs):
        np.testing.assert_array_equal(gradient, np.zeros(tensor.shape))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_huge_inputs_stay_finite(function):
    inputs = [1e4 * tensor for tensor in _inputs(function)]
    for tensor in _run(function, inputs):
        assert np.isfinite(tensor).all()


@pytest.mark.parametrize("positions,compiled", [(0.1, True), (1, False), (100, True)])
def test_chosen_pairs_have_the_scores_and_gradients_of_all(positions, compiled):
    """In blocks of one pair, of six, and of more pairs than there are."""
    inputs = [tf.constant(array, tf.float32) for array in _inputs(product_scores)]
    pairs = np.random.default_rng(5).random([BATCH, *LENGTHS]) < 0.4

    def chosen(*inputs):
        return product_scores(*inputs, pairs=tf.constant(pairs))

    def all_but_others(*inputs):
        return tf.where(pairs, product_scores(*inputs), 0.0)

    chosen = tf.function(chosen) if compiled else chosen
    for actual, expected in zip(_run(chosen, inputs, positions), _run(all_but_others, inputs)):
        assert_close(actual, expected.numpy(), 1e-6)


@pytest.mark.parametrize("shape", [(2, 7, 3), (0, 7, 3), (2, 7, 0)])
def test_without_a_chosen_pair_all_scores_and_gradients_are_0(shape):
    batch, *lengths = shape
    inputs = _inputs(product_scores, lengths, batch)

    @tf.function
    def chosen(*inputs):
        return product_scores(*inputs, pairs=tf.zeros(shape, tf.bool))

    shapes = [shape, *(array.shape for array in inputs)]
    for result, expected in zip(_run(chosen, inputs), shapes):
        assert result.shape == expected and not np.any(result)
