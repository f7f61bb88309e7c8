"""Second derivatives: those of the native operations are those of the portable forms."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.encoders import ENCODERS, DiSAN
from disan_tf.layers import BasicLSTM, BasicRNN
from disan_tf.layers.packing import real_tokens
from disan_tf.ops import directional_attention, portable
from disan_tf.ops.co_attention_scores import additive_scores
from disan_tf.ops.dropout import apply_mask, keep_mask
from disan_tf.ops.elementwise import (
    LeakyReLU,
    bias_activation,
    copies,
    fusion_gate,
    softmax_pool,
)
from tests.support.layers.weights import built
from tests.support.ops.backends import needs_native

pytestmark = needs_native
MASK = tf.constant([[True, True, False, True, True], [False] * 5, [True, False, True, True, False]])
TOKENS = [*MASK.shape, 6]  # [batch, length, dim]


def _noise(shape, seed, dtype=tf.float32):
    return tf.random.stateless_normal(shape, [5, seed], dtype=dtype)


def _second_derivatives(function, inputs):
    """The result, its first derivatives, and the derivatives of a function of these.

    The first derivatives are squared and have weights, so that all of their entries matter.
    """
    with tf.GradientTape() as outer:
        outer.watch(inputs)
        with tf.GradientTape() as inner:
            inner.watch(inputs)
            result = function(*inputs)
            total = tf.reduce_sum(_noise(result.shape, 90, result.dtype) * tf.square(result))
        first = inner.gradient(total, inputs, unconnected_gradients="zero")
        penalty = sum(
            tf.reduce_sum(_noise(part.shape, 91 + k, part.dtype) * tf.square(part))
            for k, part in enumerate(first)
        )
    return [result, *first, *outer.gradient(penalty, inputs, unconnected_gradients="zero")]


def _assert_equal(actual, expected, tolerance=2e-5):
    for number, (ours, theirs) in enumerate(zip(actual, expected)):
        size = max(1.0, np.abs(theirs).max())
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * size, err_msg=number)


def _assert_equals_portable(function, inputs, is_traced=True):
    actual = _second_derivatives(function, inputs)
    with portable():
        expected = _second_derivatives(function, inputs)
    _assert_equal(actual, expected)
    if is_traced:
        traced = tf.function(_second_derivatives)(function, inputs)
        _assert_equal(traced, actual)


def _dropout(x):
    keep = keep_mask(tf.size(x), tf.constant([1, 2], tf.int64), 0.25)
    return apply_mask(x, keep, 0.25) ** 2


def _copies(x):
    first, second, third = copies(x, 3)
    return first * second + tf.sin(third)


OPERATIONS = {
    "forward": (
        lambda *inputs: directional_attention(*inputs, MASK, direction="forward"),
        [TOKENS] * 3,
    ),
    "backward": (
        lambda *inputs: directional_attention(
            *inputs, MASK, direction="backward", head_mask=tf.reverse(MASK, [1]), scale=3.0
        ),
        [TOKENS] * 3,
    ),
    "diagonal": (
        lambda *inputs: directional_attention(*inputs, MASK, direction="diagonal"),
        [TOKENS] * 3,
    ),
    "linear": (
        lambda *inputs: directional_attention(*inputs, MASK, direction="forward", form="linear"),
        [TOKENS] * 3,
    ),
    "dropout": (_dropout, [TOKENS]),
    "copies": (_copies, [TOKENS]),
    **{
        name: (
            lambda x, bias, activation=activation: bias_activation(x, bias, activation),
            [TOKENS, [6]],
        )
        for name, activation in {
            "bias": tf.keras.activations.linear,
            "elu": tf.keras.activations.elu,
            "relu": tf.keras.activations.relu,
            "leaky_relu": LeakyReLU(0.25),
        }.items()
    },
    "gate": (
        lambda *inputs: fusion_gate(*inputs, MASK),
        [TOKENS, TOKENS, [6], TOKENS, TOKENS],
    ),
    "pool": (lambda logits, x: softmax_pool(logits, x, MASK), [TOKENS] * 2),
    "scores": (additive_scores, [TOKENS, [3, 4, 6], [6]]),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation(name):
    function, shapes = OPERATIONS[name]
    inputs = [_noise(shape, k) for k, shape in enumerate(shapes)]
    _assert_equals_portable(function, inputs, is_traced=name != "linear")  # which takes 20 s


def test_linear_attention_of_a_document():
    """Here the second derivatives are interpolated too."""
    mask = tf.sequence_mask([130, 70])
    inputs = [_noise([*mask.shape, 2], k) for k in range(3)]
    actual, expected = (
        _second_derivatives(
            lambda *inputs, form=form: directional_attention(
                *inputs, mask, direction="forward", form=form
            ),
            inputs,
        )
        for form in ("linear", "plain")
    )
    _assert_equal(actual, expected, tolerance=1e-4)


def test_attention_in_float64_has_its_slopes():
    """A step of 1e-5 and differences of first derivatives give eight digits."""
    inputs = [_noise([1, 4, 2], k, tf.float64) for k in range(3)]
    mask = tf.constant([[True, False, True, True]])

    def slopes(*inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            context = directional_attention(*inputs, mask, direction="backward")
            total = tf.reduce_sum(context**2)
        return tf.add_n([tf.reduce_sum(part) for part in tape.gradient(total, inputs)])

    with tf.GradientTape() as tape:
        tape.watch(inputs)
        total = slopes(*inputs)
    for k, second in enumerate(tape.gradient(total, inputs)):
        for index in np.ndindex(*inputs[k].shape):
            step = np.zeros(inputs[k].shape)
            step[index] = 1e-5
            ends = [
                slopes(*inputs[:k], inputs[k] + sign * step, *inputs[k + 1 :]) for sign in (1, -1)
            ]
            assert abs((ends[0] - ends[1]) / 2e-5 - second[index]) < 1e-8


def test_half_precision_is_near_float32():
    for name in ("forward", "gate", "pool", "elu"):
        function, shapes = OPERATIONS[name]
        inputs = [tf.cast(_noise(shape, k), tf.bfloat16) for k, shape in enumerate(shapes)]
        actual = _second_derivatives(function, inputs)
        expected = _second_derivatives(function, [tf.cast(x, tf.float32) for x in inputs])
        _assert_equal([tf.cast(x, tf.float32) for x in actual], expected, tolerance=0.1)


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("kind", [BasicLSTM, BasicRNN])
def test_a_recurrence(kind, backward, is_packed):
    layer = kind(6, backward=backward)
    layer.build([None, None, 5])

    def call(x, kernel, bias):
        del kernel, bias  # variables, which the layer reads
        return layer(real_tokens(x, MASK) if is_packed else x, mask=MASK)

    layer.bias.assign(_noise(layer.bias.shape, 7))
    inputs = [_noise([*MASK.shape, 5], 8), layer.kernel, layer.bias]
    _assert_equals_portable(call, inputs)


SMALL = {"multi_head": {"heads": 2}, "dsa": {"attentions": 2, "layers": 1, "first_units": 3}}


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder(name):
    options = {} if "source2token" in name or name == "additive" else {"units": 4}
    encoder = built(ENCODERS[name](**options, **SMALL.get(name, {})), [None, None, 5], 3, size=0.3)

    def call(x, *weights):
        del weights  # variables, which the encoder reads
        if name == "drcn":
            second = tf.reverse(x, [1]), tf.reverse(MASK, [1])
            vectors = encoder.encode_pair(x, second[0], MASK, second[1])
            return tf.concat(vectors, axis=-1)
        return encoder(x, mask=MASK)

    inputs = [_noise([*MASK.shape, 5], 1), *encoder.trainable_weights]
    inputs = [x for x in inputs if x.dtype == tf.float32]
    _assert_equals_portable(call, inputs, is_traced=False)


def test_hessians_in_a_traced_function():
    x = _noise([1, 3, 4], 2)

    @tf.function
    def hessian(encoder, x):
        return tf.hessians(tf.reduce_sum(tf.square(encoder(x))), x)[0]

    actual, expected = (
        hessian(built(DiSAN(2, attention_form=form), x.shape, 3, size=0.3), x).numpy()
        for form in ("native", "plain")
    )
    assert np.abs(actual).max() > 0.1
    np.testing.assert_allclose(actual, expected, atol=1e-5)
    np.testing.assert_allclose(actual, np.transpose(actual, [3, 4, 5, 0, 1, 2]), atol=1e-5)


def test_a_tape_around_a_traced_function_that_differentiates():
    x = _noise([2, 3, 4], 2)
    encoder = built(DiSAN(2), x.shape, 3, size=0.3)

    def slopes(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(encoder(x))
        return tape.gradient(total, x)

    def penalty(slopes):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(slopes(x) ** 2)
        return tape.gradient(total, x)

    with portable():
        expected = penalty(slopes)
    np.testing.assert_allclose(penalty(tf.function(slopes)), expected, atol=1e-5)


def test_a_first_derivative_computes_nothing_for_a_second():
    """The graph of a step has no operation that only a second derivative needs."""
    layer = built(BasicLSTM(4), [None, None, 3], 1)

    @tf.function(input_signature=[tf.TensorSpec([None, None, 3])])
    def step(x):
        mask = tf.ones(tf.shape(x)[:2], tf.bool)
        with tf.GradientTape() as tape:
            tape.watch(x)
            h = layer(x, mask=mask)
            u = fusion_gate(h, h, tf.ones([4]), h, h, mask)
        return tape.gradient(u, [x, *layer.trainable_weights])

    types = [operation.type for operation in step.get_concrete_function().graph.get_operations()]
    assert types.count("DisanFusionGateGradient") == types.count("DisanRecurrenceGradient") == 1
    assert not {"While", "StatelessWhile"} & set(types)
    assert "Mul" not in types[types.index("DisanFusionGateGradient") :]


def test_a_gradient_penalty_trains_a_step():
    encoder = DiSAN(6, dropout=0.25)
    x = _noise([*MASK.shape, 5], 1)
    optimizer = tf.keras.optimizers.SGD(0.1)
    encoder.build(x.shape)
    before = [weight.numpy() for weight in encoder.trainable_weights]

    @tf.function
    def step():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(x)
                vectors = encoder(x, mask=MASK, training=True)
            slopes = inner.gradient(vectors, x)
            loss = tf.reduce_sum(vectors) + tf.reduce_sum(tf.square(slopes))
        weights = encoder.trainable_weights
        gradients = outer.gradient(loss, weights)
        optimizer.apply_gradients(zip(gradients, weights))
        return gradients

    gradients = step()
    assert all(np.isfinite(gradient).all() and np.any(gradient) for gradient in gradients[:-1])
    changed = [np.any(b != w.numpy()) for b, w in zip(before, encoder.trainable_weights)]
    assert sum(changed) >= len(changed) - 1  # the last bias is the same for all tokens
