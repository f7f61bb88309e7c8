"""Adadelta against the authors' TensorFlow 1, and the options around it."""

from functools import partial

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.ops.native import runtime
from disan_tf.training.optimizers import OPTIMIZERS, adadelta, adagrad, rmsprop
from disan_tf.training.steps import apply_gradients
from tests.support.golden import official
from tests.support.ops.backends import BACKENDS, needs_native
from tests.support.runs.training import load_config, optimizer_of

FILES = official.names("adadelta_tf1*.npz")
SLOTS = {"accum": "accum_grad", "accum_update": "accum_var"}


def _check_steps(arrays, kind, start, weights, gradients):
    """Eight steps: 2 ulp from the file, and the bits of TensorFlow 1's optimizer here.

    The file's `accum_update` is bound less tightly: it sums squares of steps, and a step holds a
    reciprocal square root that processors approximate differently in the last bits (5 ulp seen
    where weights and `accum` had 0; the file itself is 5 ulp from the formula in float64, the
    native step 4). In portable TensorFlow, and on sparse gradients, all bits are TensorFlow 1's.
    """
    same_bits = not runtime.is_used() or kind == "sparse"
    variable, optimizer = tf.Variable(arrays[start]), adadelta(0.5)
    their_variable = tf.Variable(arrays[start])
    theirs = tf.compat.v1.train.AdadeltaOptimizer(0.5)
    for step, gradient_of in enumerate(gradients):
        optimizer.apply_gradients([(gradient_of(variable), variable)])
        theirs.apply_gradients([(gradient_of(their_variable), their_variable)])
        accum, accum_update = (
            optimizer.get_slot(variable, name).numpy() for name in SLOTS.values()
        )
        np.testing.assert_array_max_ulp(variable.numpy(), arrays[weights][step], maxulp=2)
        np.testing.assert_array_max_ulp(accum, arrays[f"{kind}/accum"][step], maxulp=2)
        np.testing.assert_allclose(accum_update, arrays[f"{kind}/accum_update"][step], rtol=1e-6)
        if same_bits:
            np.testing.assert_array_equal(variable, their_variable)
            for name, slot in SLOTS.items():
                ours = optimizer.get_slot(variable, slot)
                np.testing.assert_array_equal(ours, theirs.get_slot(their_variable, name))


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


def _adadelta_formula(gradient, squares, steps):
    """Zeiler's algorithm 1 in float64."""
    squares = 0.95 * squares + 0.05 * np.square(gradient)
    move = np.sqrt((steps + 1e-8) / (squares + 1e-8)) * gradient
    return 0.5 * move, squares, 0.95 * steps + 0.05 * np.square(move)


def _rmsprop_formula(gradient, squares):
    """Hinton's lecture in float64, with PyTorch's constants."""
    rho = float(np.float32(0.99))
    squares = rho * squares + (1 - rho) * gradient**2
    return 0.5 * gradient / (np.sqrt(squares) + 1e-8), squares


@pytest.mark.parametrize("world", BACKENDS)
@pytest.mark.parametrize("size", [1, 17, 100_003])
@pytest.mark.parametrize(
    "make, formula, slots",
    [
        (adadelta, _adadelta_formula, ["accum_grad", "accum_var"]),
        (rmsprop, _rmsprop_formula, ["rms"]),
    ],
)
def test_a_step_is_that_of_the_formula(make, formula, slots, size, world):
    """From any slots; a value that was read stays as it was."""
    generator = np.random.default_rng(size)
    weight, gradient = generator.normal(size=(2, size)).astype(np.float32)
    start = np.exp(generator.normal(-9, 4, size=(len(slots), size))).astype(np.float32)
    with world():
        variable, optimizer = tf.Variable(weight), make(0.5)
        optimizer._create_all_weights([variable])
        slots = [optimizer.get_slot(variable, name) for name in slots]
        for slot, value in zip(slots, start):
            slot.assign(value)
        held = variable.read_value()
        optimizer.apply_gradients([(tf.constant(gradient), variable)])
    np.testing.assert_array_equal(held, weight)
    move, *expected = formula(*(array.astype(np.float64) for array in (gradient, *start)))
    error = np.abs(variable - (weight - move))
    assert np.all(error <= 4e-7 * (np.abs(weight) + 2 * np.abs(move)))
    for slot, value in zip(slots, expected):
        np.testing.assert_allclose(slot, value, rtol=1e-6)


def test_rows_outside_the_batch_keep_value_and_mean_square_under_rmsprop():
    variable, optimizer = tf.Variable(np.ones([3, 2], np.float32)), rmsprop(0.1)
    rows = tf.IndexedSlices(tf.constant([[1.0, -2.0]]), tf.constant([1]), tf.constant([3, 2]))
    optimizer.apply_gradients([(rows, variable)])
    np.testing.assert_allclose(variable[1], [0.0, 2.0], atol=1e-5)  # g / sqrt(.01 g^2) is 10
    assert (variable.numpy()[[0, 2]] == 1.0).all()
    assert (optimizer.get_slot(variable, "rms").numpy()[[0, 2]] == 0.0).all()


@needs_native
def test_the_native_step_refuses_a_gradient_of_another_shape():
    variable, optimizer = tf.Variable(tf.ones([3])), adadelta(0.5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="weight has shape"):
        optimizer.apply_gradients([(tf.ones([4]), variable)])


@pytest.mark.parametrize(
    "moving_average, dtype, clip_norm, square",
    [(0.9, "mixed_float16", 10.0, 100), (0.0, "float32", 0.0, 1_000_000)],
)
def test_gradients_are_clipped_under_averages_and_loss_scaling(
    moving_average, dtype, clip_norm, square
):
    """Adagrad adds the square of the gradient that moves the weight to its first sum."""
    config = load_config("bilm", "tiny")
    config.dtype, config.train.moving_average = dtype, moving_average
    variable = tf.Variable([1.0])
    optimizer = optimizer_of(config, [variable])
    scale = optimizer.loss_scale if dtype == "mixed_float16" else 1.0
    norm, skipped = apply_gradients(
        optimizer, [scale * tf.constant([1000.0])], [variable], clip_norm
    )
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    adagrad = getattr(inner, "_optimizer", inner)
    (accumulator,) = [weight for weight in adagrad.weights if weight.shape == [1]]
    assert float(accumulator) == pytest.approx(1 / 400 + square, rel=1e-6)
    assert float(norm) == pytest.approx(1000) and float(skipped) == 0


@pytest.mark.parametrize("jit_compile", [True, False])
def test_a_row_that_occurs_several_times_is_clipped_by_its_sum(jit_compile):
    table = tf.Variable(tf.zeros([3, 2]))
    values, rows = tf.constant([[3.0, 0], [0, 4], [3, 0], [0, 4]]), tf.constant([2, 0, 2, 2])
    gradient = tf.IndexedSlices(values, rows, tf.constant([3, 2]))
    optimizer = adagrad(1.0, start=1e12)  # a gradient that is 1e6 times as long as its step
    step = partial(apply_gradients, optimizer, clip_norm=1.0)
    norm, _ = tf.function(step, jit_compile=jit_compile)([gradient], [table])
    assert float(norm) == pytest.approx(np.sqrt(6**2 + 4**2 + 4**2))
    assert float(tf.norm(table)) == pytest.approx(1e-6)


def test_the_bilm_makes_the_steps_of_the_official_training():
    train = load_config("bilm").train
    gradient = tf.constant([0.3, -0.01, 0.6])
    weights = [tf.Variable(tf.zeros([3])) for _ in range(2)]
    ours = OPTIMIZERS[train.optimizer](train.learning_rate, **train.optimizer_options)
    official = tf.keras.optimizers.legacy.Adagrad(0.2, initial_accumulator_value=1.0, epsilon=0.0)
    for scale in (1.0, 0.1):
        apply_gradients(ours, [scale * gradient], weights[:1], train.clip_norm)
        apply_gradients(official, [20 * scale * gradient], weights[1:], clip_norm=10.0)
        np.testing.assert_allclose(*weights, rtol=1e-5)
