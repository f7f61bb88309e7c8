"""Second derivatives: native operations refuse them, and TensorFlow computes the portable ones."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import BasicLSTM
from disan_tf.ops import directional_attention, portable
from disan_tf.ops.co_attention_scores import additive_scores
from disan_tf.ops.elementwise import bias_activation, copies, fusion_gate, softmax_pool
from tests.support.layers.weights import built
from tests.support.ops.backends import needs_native

pytestmark = needs_native
MASK = tf.constant([[True, False, True, True]])
TOKENS = [1, 4, 2]
OPERATIONS = {
    "attention": (lambda *x: directional_attention(*x, MASK, direction="backward"), [TOKENS] * 3),
    "activation": (lambda *x: bias_activation(*x, tf.keras.activations.elu), [TOKENS, [2]]),
    "gate": (lambda *x: fusion_gate(*x, MASK), [TOKENS, TOKENS, [2], TOKENS, TOKENS]),
    "pool": (lambda *x: softmax_pool(*x, MASK), [TOKENS] * 2),
    "scores": (additive_scores, [TOKENS, [1, 3, 2], [2]]),
    "recurrence": (lambda x: built(BasicLSTM(2), TOKENS, 1)(x, mask=MASK), [TOKENS]),
}


def _inputs(name):
    return [tf.random.stateless_normal(s, [5, k]) for k, s in enumerate(OPERATIONS[name][1])]


def _slopes(function, inputs):
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        total = tf.reduce_sum(function(*inputs) ** 2)
    return tf.add_n([tf.reduce_sum(part) for part in tape.gradient(total, inputs)])


def _second_derivatives(name, inputs):
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        slopes = _slopes(OPERATIONS[name][0], inputs)
    return tape.gradient(slopes, inputs)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_native_operation_names_the_portable_form(name):
    with pytest.raises(NotImplementedError, match=r"inside `with disan_tf\.ops\.portable\(\):`"):
        _second_derivatives(name, _inputs(name))
    with portable():
        assert all(np.isfinite(part).all() for part in _second_derivatives(name, _inputs(name)))


@pytest.mark.parametrize("name", ["attention", "activation", "recurrence"])
def test_forward_mode_is_refused_by_its_name(name):
    inputs = _inputs(name)

    def forward():
        with tf.autodiff.ForwardAccumulator(inputs[0], tf.ones_like(inputs[0])) as accumulator:
            return accumulator.jvp(OPERATIONS[name][0](*inputs))

    with pytest.raises(NotImplementedError, match=r"forward mode \(tf\.autodiff\.ForwardAccumul"):
        forward()
    with portable():
        slopes = forward()
        noise = tf.random.stateless_normal(slopes.shape, [1, 2])
        with tf.GradientTape() as tape:
            tape.watch(inputs[0])
            total = tf.reduce_sum(noise * OPERATIONS[name][0](*inputs))
        expected = tf.reduce_sum(tape.gradient(total, inputs[0]))
        np.testing.assert_allclose(tf.reduce_sum(noise * slopes), expected, rtol=1e-4, atol=1e-6)


def test_portable_scores_have_no_forward_mode():
    inputs = _inputs("scores")
    accumulator = tf.autodiff.ForwardAccumulator(inputs[0], tf.ones_like(inputs[0]))
    refused = pytest.raises(NotImplementedError, match="no forward mode .*with tf.GradientTape")
    with portable(), refused, accumulator:
        additive_scores(*inputs)


def test_copies_have_second_derivatives():
    x = tf.constant([2.0, -1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        slopes = _slopes(lambda x: tf.multiply(*copies(x, 2)), [x])
    np.testing.assert_allclose(tape.gradient(slopes, x), 12 * x**2)  # of x^4


def _equation(head, dependent, value):
    """DiSAN Eq. 15 and 11 in float64, towards later tokens."""
    head, dependent, value = (tf.cast(x, tf.float64) for x in (head, dependent, value))
    scores = 5 * tf.tanh((dependent[:, None] + head[:, :, None]) / 5)
    later = np.triu(np.ones([4, 4]), 1) * MASK.numpy()
    weights = tf.exp(scores) * later[None, :, :, None]
    context = tf.reduce_sum(weights * value[:, None], axis=2)
    return tf.math.divide_no_nan(context, tf.reduce_sum(weights, axis=2))


def test_portable_second_derivatives_are_those_of_the_equation(monkeypatch):
    inputs = _inputs("attention")
    with portable():
        actual = _second_derivatives("attention", inputs)
    monkeypatch.setitem(OPERATIONS, "attention", (_equation, [TOKENS] * 3))
    expected = _second_derivatives("attention", inputs)
    for ours, theirs in zip(actual, expected):
        assert np.any(theirs)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-5 * np.abs(theirs).max())
