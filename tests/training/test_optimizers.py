"""Adadelta against the authors' TensorFlow 1, and the options around it."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.ops.native import runtime
from disan_tf.training.optimizers import adadelta, build_optimizer, rmsprop
from disan_tf.training.steps import apply_gradients
from tests.support.golden import official
from tests.support.ops.backends import BACKENDS, needs_native
from tests.support.runs.training import load_config

FILES = official.names("adadelta_tf1*.npz")
SLOTS = {"accum": "accum_grad", "accum_update": "accum_var"}


class TensorFlow1:
    """The authors' optimizer, run beside ours on this machine."""

    def __init__(self, start):
        self.variable = tf.Variable(start)
        self.optimizer = tf.compat.v1.train.AdadeltaOptimizer(0.5)

    def step(self, gradient_of):
        self.optimizer.apply_gradients([(gradient_of(self.variable), self.variable)])

    def slot(self, name):
        return self.optimizer.get_slot(self.variable, name).numpy()


def _check_steps(arrays, kind, start, weights, gradients):
    """Eight steps: 2 ulp from the file, and the bits of TensorFlow 1's optimizer here.

    The file's `accum_update` is bound less tightly: it sums squares of steps, and a step holds a
    reciprocal square root that processors approximate differently in the last bits (5 ulp seen
    where weights and `accum` had 0; the file itself is 5 ulp from the formula in float64, the
    native step 4). In portable TensorFlow, and on sparse gradients, all bits are TensorFlow 1's.
    """
    same_bits = not runtime.is_used() or kind == "sparse"
    variable, optimizer = tf.Variable(arrays[start]), adadelta(0.5)
    theirs = TensorFlow1(arrays[start])
    for step, gradient_of in enumerate(gradients):
        optimizer.apply_gradients([(gradient_of(variable), variable)])
        theirs.step(gradient_of)
        accum, accum_update = (
            optimizer.get_slot(variable, name).numpy() for name in SLOTS.values()
        )
        np.testing.assert_array_max_ulp(variable.numpy(), arrays[weights][step], maxulp=2)
        np.testing.assert_array_max_ulp(accum, arrays[f"{kind}/accum"][step], maxulp=2)
        np.testing.assert_allclose(accum_update, arrays[f"{kind}/accum_update"][step], rtol=1e-6)
        if not same_bits:
            continue
        np.testing.assert_array_equal(variable.numpy(), theirs.variable.numpy())
        np.testing.assert_array_equal(accum, theirs.slot("accum"))
        np.testing.assert_array_equal(accum_update, theirs.slot("accum_update"))


@pytest.mark.parametrize("world", BACKENDS)
@pytest.mark.parametrize("name", FILES)
def test_dense_gradients_move_weights_as_in_tensorflow_1(name, world):
    arrays, _ = official.load(name)
    gradients = [lambda _, g=gradient: tf.constant(g) for gradient in arrays["dense/grads"]]
    with world():
        _check_steps(arrays, "dense", "dense/w0", "dense/w_after", gradients)


def _sparse_gradient(variable, ids, cotangents):
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(tf.gather(variable, ids) * cotangents)
    gradient = tape.gradient(total, variable)
    assert isinstance(gradient, tf.IndexedSlices)
    return gradient


@pytest.mark.parametrize("name", FILES)
def test_sparse_gradients_move_rows_as_in_tensorflow_1(name):
    arrays, _ = official.load(name)
    gradients = [
        lambda variable, i=ids, c=cotangents: _sparse_gradient(variable, i, c)
        for ids, cotangents in zip(arrays["sparse/ids"], arrays["sparse/cotangents"])
    ]
    _check_steps(arrays, "sparse", "sparse/E0", "sparse/E_after", gradients)


def test_rows_outside_the_batch_keep_value_and_slots():
    variable, optimizer = tf.Variable(tf.ones([5, 3])), adadelta(0.5)
    optimizer.apply_gradients([(tf.ones([5, 3]), variable)])
    tensors = [variable, *(optimizer.get_slot(variable, name) for name in SLOTS.values())]
    before = [tensor.numpy() for tensor in tensors]
    optimizer.apply_gradients([(_sparse_gradient(variable, [1, 3, 3], tf.ones([3, 3])), variable)])
    for tensor, old in zip(tensors, before):
        np.testing.assert_array_equal(tensor.numpy()[[0, 2, 4]], old[[0, 2, 4]])
        assert not np.any(tensor.numpy()[[1, 3]] == old[[1, 3]])


def test_adadelta_is_the_legacy_keras_class_bit_for_bit():
    reference = tf.keras.optimizers.legacy.Adadelta(0.5, rho=0.95, epsilon=1e-8)
    generator = np.random.default_rng(0)
    start = generator.normal(size=(7, 3)).astype(np.float32)
    ours, theirs = tf.Variable(start), tf.Variable(start)
    optimizer = adadelta(0.5)
    with runtime.portable():
        for _ in range(5):
            gradient = tf.constant(generator.normal(size=(7, 3)).astype(np.float32))
            optimizer.apply_gradients([(gradient, ours)])
            reference.apply_gradients([(gradient, theirs)])
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


@needs_native
@pytest.mark.parametrize("size", [1, 15, 16, 17, 100_003])
def test_the_native_step_of_adadelta_is_that_of_the_formula(size):
    """Zeiler's algorithm 1 in float64, from any slots; a value that was read stays as it was."""
    generator = np.random.default_rng(size)
    weight, gradient = generator.normal(size=(2, size)).astype(np.float32)
    squares, steps = np.exp(generator.normal(-9, 4, size=(2, size))).astype(np.float32)
    variable, optimizer = tf.Variable(weight), adadelta(0.5)
    optimizer._create_all_weights([variable])
    slots = [optimizer.get_slot(variable, name) for name in SLOTS.values()]
    slots[0].assign(squares)
    slots[1].assign(steps)

    held = variable.read_value()
    optimizer.apply_gradients([(tf.constant(gradient), variable)])
    np.testing.assert_array_equal(held, weight)
    new_squares = 0.95 * squares.astype(np.float64) + 0.05 * np.square(gradient.astype(np.float64))
    move = np.sqrt((steps.astype(np.float64) + 1e-8) / (new_squares + 1e-8)) * gradient
    error = np.abs(variable - (weight - 0.5 * move))
    assert np.all(error <= 3e-7 * (np.abs(weight) + np.abs(move)))
    np.testing.assert_allclose(slots[0], new_squares, rtol=1e-6)
    np.testing.assert_allclose(slots[1], 0.95 * steps + 0.05 * np.square(move), rtol=1e-6)


@needs_native
@pytest.mark.parametrize("size", [1, 15, 16, 17, 100_003])
def test_the_native_step_of_rmsprop_is_that_of_the_formula(size):
    """Hinton's lecture in float64, from any mean square; a value that was read stays as it was."""
    generator = np.random.default_rng(size)
    weight, gradient = generator.normal(size=(2, size)).astype(np.float32)
    squares = np.exp(generator.normal(-9, 4, size=size)).astype(np.float32)
    variable, optimizer = tf.Variable(weight), rmsprop(0.5)
    optimizer._create_all_weights([variable])
    slot = optimizer.get_slot(variable, "rms")
    slot.assign(squares)

    held = variable.read_value()
    optimizer.apply_gradients([(tf.constant(gradient), variable)])
    np.testing.assert_array_equal(held, weight)
    rho = float(np.float32(0.99))
    new_squares = rho * squares.astype(np.float64) + (1 - rho) * gradient.astype(np.float64) ** 2
    move = gradient / (np.sqrt(new_squares) + 1e-8)
    error = np.abs(variable - (weight - 0.5 * move))
    assert np.all(error <= 4e-7 * (np.abs(weight) + np.abs(move)))
    np.testing.assert_allclose(slot, new_squares, rtol=1e-6)


@needs_native
def test_the_native_step_refuses_a_gradient_of_another_shape():
    variable, optimizer = tf.Variable(tf.ones([3])), adadelta(0.5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="weight has shape"):
        optimizer.apply_gradients([(tf.ones([4]), variable)])


@pytest.mark.parametrize("moving_average", [0.0, 0.9])
@pytest.mark.parametrize("dtype", ["float32", "mixed_float16"])
@pytest.mark.parametrize("clip_norm, square", [(0.0, 1_000_000), (10.0, 100)])
def test_gradients_are_clipped_under_averages_and_loss_scaling(
    moving_average, dtype, clip_norm, square
):
    """The first accumulator of Adagrad is 1 + the square of the gradient that moves the weight."""
    config = load_config("bilm", "tiny")
    config.dtype, config.train.moving_average = dtype, moving_average
    variable = tf.Variable([1.0])
    optimizer = build_optimizer(config.train, config.dtype, [variable])
    scale = optimizer.loss_scale if dtype == "mixed_float16" else 1.0
    norm, skipped = apply_gradients(
        optimizer, [scale * tf.constant([1000.0])], [variable], clip_norm
    )
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    adagrad = getattr(inner, "_optimizer", inner)
    (accumulator,) = [weight for weight in adagrad.weights if weight.shape == [1]]
    assert float(accumulator) == pytest.approx(1 + square, rel=1e-5)
    assert float(norm) == pytest.approx(1000) and float(skipped) == 0
