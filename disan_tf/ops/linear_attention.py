"""Directional attention in time O(length), in portable TensorFlow, exact to within 1e-4.

The weight of a pair is nearly a sum of R products L_r(head) K_r(dependent) (`interpolation`, 1,
with its first factor in L_r). The sums over the dependents before a head, or after it, are then
running sums over the tokens:

  N_j = sum_r L_r(a_j) sum_(i<j) K_r(b_i) v_i,   D_j = sum_r L_r(a_j) sum_(i<j) K_r(b_i)     (2)

and s_j = N_j / D_j. Blocks of tokens pass the running sums on; memory is O(batch * length * dim).
Within a block the sums are products with a triangle of ones. They have the errors of TF32 if a GPU
multiplies float32 as TF32; `tf.config.experimental.enable_tensor_float_32_execution(False)` ends
this.
"""

import numpy as np
import tensorflow as tf

from disan_tf.ops.blockwise import lean_backward, lean_forward, unblock
from disan_tf.ops.direction_mask import selected_rows
from disan_tf.ops.interpolation import RANKS, nodes, widest

# Numbers in one tensor of a block.
BLOCK_NUMBERS = 1 << 19
# Tokens below which the lean form is as fast; with 256 tokens it takes 2.6 times as long.
SHORTEST = 128


def linear_attention(head, dependent, value, mask, *, direction, head_mask=None, scale=5.0):
    """Computes DiSAN Eq. 15 and 11; for the arguments see `directional_attention`.

    Context and gradients are within 1e-4 of the exact ones, relative to the largest value of the
    feature. Short batches, and batches with heads too far apart in one feature, are computed
    exactly.
    """
    if head_mask is None:
        head_mask = tf.ones_like(mask)
    chosen = head_mask[:, :, None]
    inputs = selected_rows(head, dependent, value, mask, head_mask)
    kernel = Interpolation(tf.stop_gradient(inputs[0]), chosen, scale)
    is_used = kernel.is_close & (tf.shape(head)[1] >= SHORTEST)
    context = _attend(kernel, is_used, *inputs, mask, direction)
    return tf.cast(tf.where(chosen, context, 0.0), value.dtype)


def _attend(kernel, is_used, head, dependent, value, mask, direction):
    """Computes the context and its gradient, interpolated if `is_used` and otherwise exactly."""
    options = (mask, direction, kernel.scale)

    @tf.custom_gradient
    def attend(head, dependent, value):
        inputs = (head, dependent, value)
        context, denominator, slope = tf.cond(
            is_used,
            lambda: interpolate(kernel, *inputs, mask, direction, with_slopes=True),
            lambda: (*lean_forward(*inputs, *options), tf.zeros([1, 1, 1])),
        )

        def gradient(upstream):
            return tf.cond(
                is_used,
                lambda: _backward(
                    kernel, upstream, *inputs, context, denominator, slope, mask, direction
                ),
                lambda: lean_backward(upstream, *inputs, context, denominator, *options),
            )

        return context, gradient

    context = attend(head, dependent, value)
    context.set_shape(value.shape)
    return context


class Interpolation:
    """The two factors of a weight, for blocks of tokens.

    Args:
      head: <float32>[batch, length, dim].
      chosen: <bool>[batch, length, 1], True = receives context; other tokens have no influence.
      scale: c.

    Attributes:
      rank: R, <int32>[]; the smallest of `RANKS` that suffices for all heads.
      is_close: <bool>[], whether such a rank exists.
    """

    def __init__(self, head, chosen, scale):
        low = tf.reduce_min(tf.where(chosen, head, head.dtype.max), axis=1, keepdims=True)
        high = tf.reduce_max(tf.where(chosen, head, head.dtype.min), axis=1, keepdims=True)
        some = low <= high
        self._middle = tf.where(some, low / 2 + high / 2, 0.0)  # m, [batch, 1, dim]
        width = tf.where(some, high / 2 - low / 2, 0.0)  # w
        self.scale = scale
        too_narrow = ~(tf.reduce_max(width) <= tf.constant(widest(scale)))
        number = tf.math.count_nonzero(too_narrow, dtype=tf.int32)
        self.is_close = number < len(RANKS)
        number = tf.minimum(number, len(RANKS) - 1)
        self.rank = tf.constant(RANKS)[number]
        self._u, self._numerators = (
            tf.constant(table, tf.float32)[number, : self.rank, None] for table in _tables()
        )  # <float32>[rank, 1]
        # Z; where all heads are nearly equal, nodes a little farther apart do no harm.
        self._half = tf.maximum(tf.tanh(width / (2 * scale)), 1e-3)
        offset = self._half * self._u  # z(x_r), [batch, rank, dim]
        self._offset = scale * offset[:, None]
        self._nodes = (2 * scale * tf.atanh(offset))[:, None]  # x_r - m, [batch, 1, rank, dim]

    def of_heads(self, head):
        """Returns e^(c z) L_r, <float32>[batch, length, rank, dim], for a block of heads."""
        z = tf.tanh((head - self._middle) / (2 * self.scale))
        position = tf.clip_by_value(z / self._half, -1.0, 1.0)  # heads outside are not chosen
        distance = position[:, :, None] - self._u
        terms = self._numerators / tf.where(distance == 0.0, 1e-30, distance)
        factor = tf.exp(self.scale * z) / tf.reduce_sum(terms, axis=2)
        return terms * factor[:, :, None]

    def of_dependents(self, dependent, mask):
        """Returns K_r, 0 outside the mask, and the derivative of K_r, shaped as in `of_heads`."""
        centred = (dependent + self._middle)[:, :, None]  # first: both may be large and opposite
        tanh = tf.tanh((centred + self._nodes) / self.scale)
        weights = tf.exp(self.scale * tanh - self._offset)
        weights *= tf.cast(mask, tf.float32)[:, :, None, None]
        return weights, weights * (1.0 - tf.square(tanh))


def interpolate(kernel, head, dependent, value, mask, direction, with_slopes=False):
    """Returns s_j and D_j, and if `with_slopes`, D_j times the derivative of s_j by a_j.

    All are <float32>[batch, length, dim].
    """

    def block(before, head, dependent, value, mask):
        basis = kernel.of_heads(head)
        weights, slopes = kernel.of_dependents(dependent, mask)
        value = value[:, :, None]
        columns = [weights, weights * value]
        if with_slopes:
            columns += [slopes, slopes * value]
        return [tf.reduce_sum(basis * sums, axis=2) for sums in before(columns)]

    count, arrays = 4 if with_slopes else 2, [head, dependent, value, mask]
    sides = {"forward": [False], "backward": [True], "diagonal": [False, True]}[direction]
    scans = [_scan(block, count, kernel.rank, arrays, reverse) for reverse in sides]
    denominator, context, *rest = (tf.add_n(sums) for sums in zip(*scans))
    context = tf.math.divide_no_nan(context, denominator)
    if not with_slopes:
        return context, denominator
    slope, pulled = rest
    return context, denominator, pulled - context * slope


def _backward(
    kernel, upstream, head, dependent, value, context, denominator, slope, mask, direction
):
    """Computes the gradients for head, dependent and value; the last two are sums over heads.

    With h_j = g_j / D_j: dv_i = sum_r K_r(b_i) G_r and db_i = sum_r K'_r(b_i) (v_i G_r - Q_r),
    where G_r = sum_j L_r(a_j) h_j and Q_r = sum_j L_r(a_j) h_j s_j.
    """

    def block(before, scaled, head, dependent, value, context, mask):
        basis = kernel.of_heads(head) * scaled[:, :, None]
        weights, slopes = kernel.of_dependents(dependent, mask)
        plain, pulled = before((basis, basis * context[:, :, None]))
        slopes *= value[:, :, None] * plain - pulled
        return [tf.reduce_sum(terms, axis=2) for terms in (slopes, weights * plain)]

    scaled = tf.math.divide_no_nan(upstream, denominator)  # h_j
    arrays = [scaled, head, dependent, value, context, mask]
    sides = {"forward": [True], "backward": [False], "diagonal": [False, True]}[direction]
    scans = [_scan(block, 2, kernel.rank, arrays, reverse) for reverse in sides]
    return scaled * slope, *(tf.add_n(sums) for sums in zip(*scans))


def _scan(compute, count, rank, arrays, reverse):
    """Calls `compute` for blocks of tokens, with running sums over earlier or later tokens.

    Args:
      compute: (before, *blocks of the arrays) -> `count` results <float32>[batch, size, dim], where
        before(columns) replaces `count` tensors <float32>[batch, size, rank, dim] by running sums
        over all earlier tokens, or over all later tokens with `reverse`.

    Returns:
      The results, <float32>[batch, length, dim].
    """
    batch, length, dim = tf.unstack(tf.shape(arrays[0]))
    size = tf.clip_by_value(BLOCK_NUMBERS // tf.maximum(batch * rank * dim, 1), 1, length)
    blocks = (length + size - 1) // size
    rows = blocks * size - length
    arrays = [tf.pad(a, [[0, 0], [0, rows], *([[0, 0]] * (len(a.shape) - 2))]) for a in arrays]
    # A product with a triangle of ones takes a third of the time of `tf.cumsum`.
    places = tf.range(size)
    earlier = places[:, None] < places if reverse else places[:, None] > places
    earlier, last = tf.cast(earlier, tf.float32), 0 if reverse else size - 1

    def body(step, totals, results):
        block = blocks - 1 - step if reverse else step
        new = []

        def before(columns):
            sums = []
            for total, column in zip(totals, columns):
                inside = tf.matmul(earlier, tf.reshape(column, [batch, size, rank * dim]))
                sums.append(total + tf.reshape(inside, [batch, size, rank, dim]))
                whole = (sums[-1][:, last] + column[:, last])[:, None]
                new.append(tf.ensure_shape(whole, total.shape))
            return sums

        parts = [array[:, block * size : (block + 1) * size] for array in arrays]
        outputs = compute(before, *parts)
        results = [array.write(block, output) for array, output in zip(results, outputs)]
        return step + 1, new, results

    totals = [tf.zeros([batch, 1, rank, dim])] * count
    results = [tf.TensorArray(tf.float32, size=blocks) for _ in range(count)]
    _, _, results = tf.while_loop(
        lambda step, *_: step < blocks, body, [0, totals, results], parallel_iterations=1
    )
    return [unblock(array, arrays[0], blocks, size)[:, :length] for array in results]


def _tables():
    """Returns the `nodes` of all ranks, padded with 0: two <float64>[len(RANKS), largest rank]."""
    tables = np.zeros([2, len(RANKS), RANKS[-1]])
    for number, rank in enumerate(RANKS):
        tables[:, number, :rank] = nodes(rank)
    return tables
