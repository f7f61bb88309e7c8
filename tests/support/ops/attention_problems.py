"""Problems for directional attention, and a NumPy reading of DiSAN Eq. 15 and 11."""

import numpy as np
import tensorflow as tf

from disan_tf.ops import directional_attention


def make_inputs(batch, length, dim, seed=0, size=2.0):
    """head, dependent, value: <float64>[batch, length, dim], exact in float32."""
    generator = np.random.default_rng(seed)
    return [
        (size * generator.normal(size=[batch, length, dim])).astype(np.float32).astype(np.float64)
        for _ in range(3)
    ]


def make_mask(batch, length, seed=0, share=0.7):
    """<bool>[batch, length] with holes."""
    return np.random.default_rng(seed).random([batch, length]) < share


def reference(head, dependent, value, mask, direction, head_mask=None, scale=5.0):
    """Sums over the dependents that the paper's M_ij, the mask and the head's mask leave."""
    admits = {"forward": lambda i, j: i < j, "backward": lambda i, j: i > j}
    admits["diagonal"] = lambda i, j: i != j
    result = np.zeros_like(value)
    for b, j in np.ndindex(mask.shape):
        admitted = [i for i in range(mask.shape[1]) if mask[b, i] and admits[direction](i, j)]
        if not admitted or (head_mask is not None and not head_mask[b, j]):
            continue
        f = scale * np.tanh((dependent[b, admitted] + head[b, j]) / scale)
        p = np.exp(f - f.max(axis=0))
        result[b, j] = np.sum(p / p.sum(axis=0) * value[b, admitted], axis=0)
    return result


def noise(shape):
    """Upstream gradients that are exact in bfloat16."""
    numbers = np.random.default_rng(1).integers(-9, 10, size=shape) / 4
    return tf.constant(numbers, tf.float32)


def attend(form, inputs, mask, dtype="float32", **options):
    """Context, and the gradients of sum(context * noise) for head, dependent and value."""
    inputs = [tf.cast(tensor, dtype) for tensor in inputs]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        context = directional_attention(*inputs, tf.constant(mask), form=form, **options)
        total = tf.reduce_sum(context * tf.cast(noise(context.shape), context.dtype))
    return [context, *tape.gradient(total, inputs)]


def unread_rows(form, dtype):
    """Asserts that rows which are not selected are never read.

    Returns:
      [context, gradients], and for each which rows are selected.
    """
    mask, heads = make_mask(3, 9, share=0.5), make_mask(3, 9, seed=1, share=0.5)
    options = {"direction": "diagonal", "head_mask": heads}
    clean = make_inputs(3, 9, 20)
    dirty = [
        np.where(rows[:, :, None], tensor, np.nan)
        for tensor, rows in zip(clean, [heads, mask, mask])
    ]
    expected, actual = (attend(form, inputs, mask, dtype, **options) for inputs in (clean, dirty))
    for ours, others in zip(actual, expected):
        np.testing.assert_array_equal(ours, others)
    return actual, [heads, heads, mask, mask]


def assert_nan_spreads_as_in_the_plain_form(form, argument):
    """The context has NaN where the plain form has it, if one number of an argument is NaN."""
    inputs, mask = make_inputs(2, 6, 20), np.ones([2, 6], bool)
    inputs[argument][1, 2, 7] = np.nan
    contexts = [attend(each, inputs, mask, direction="backward")[0] for each in (form, "plain")]
    np.testing.assert_array_equal(*map(np.isnan, contexts))


def compiled_step(attention, dim, **options):
    """A function (mask, *inputs) -> [context, gradients], and the same compiled for any length."""

    def step(mask, *inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            context = attention(*inputs, mask)
            total = tf.reduce_sum(tf.square(context))
        return [context, *tape.gradient(total, inputs)]

    signature = [tf.TensorSpec([None, None], tf.bool)]
    signature += [tf.TensorSpec([None, None, dim], tf.float32)] * 3
    return step, tf.function(step, input_signature=signature, **options)


def assert_gradients_are_slopes(evaluate, exact, inputs):
    """The gradients of `evaluate` are the slopes of `exact` in random directions.

    Args:
      evaluate: inputs -> [result, gradient of sum(result * noise) for every input].
      exact: inputs -> result, by NumPy.
      inputs: <float64>[...] arrays.
    """
    result, *gradients = evaluate(*inputs)
    upstream = noise(result.shape).numpy()
    for number, gradient in enumerate(gradients):
        step = np.random.default_rng(2).normal(size=inputs[number].shape)
        ends = []
        for sign in (1e-6, -1e-6):
            moved = [*inputs]
            moved[number] = inputs[number] + sign * step
            ends.append(np.sum(upstream * exact(*moved)))
        slope = (ends[0] - ends[1]) / 2e-6
        assert abs(slope) > 1e-3
        np.testing.assert_allclose(np.sum(gradient * step), slope, rtol=1e-5, atol=1e-6)


def assert_close(actual, expected, bound):
    """|a - b| <= bound * max(1, |b|), and no NaN."""
    actual, expected = (np.asarray(tf.cast(array, tf.float64)) for array in (actual, expected))
    error = np.abs(actual - expected) / np.maximum(1.0, np.abs(expected))
    assert np.isfinite(actual).all() and np.max(error, initial=0.0) <= bound, np.max(error)
