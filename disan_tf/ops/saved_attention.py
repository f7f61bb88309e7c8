"""Directional attention for SavedModels: portable TensorFlow alone, without a custom gradient.

A process without this package can load the model. The forward pass needs O(batch * length * dim)
memory. TensorFlow derives the gradient, whose memory grows with the length's square. Short texts
are computed head by head, exactly (`disan_tf.ops.tokenwise`), with a tanh for each pair if the
heads lie far from zero; long texts in linear time, to within 1e-4, unless their heads lie too far
apart. XLA, whose slices have fixed sizes, computes all pairs with a tanh.

For a long text, the weight e^(c tanh((a + b) / c)) of a head a and a dependent b is interpolated
in a. With z(a) = tanh((a - m) / 2c), where m is the middle of the heads and Z the largest |z|,

  e^(c tanh((a + b) / c)) ~= e^(c z(a)) sum_r L_r(z(a) / Z) K_r(b)                             (1)
  K_r(b) = e^(c tanh((x_r + b) / c) - c z(x_r))

with Lagrange's polynomials L_r over the Chebyshev nodes u_r = cos(pi (r + 1/2) / R) and
x_r = m + 2c artanh(Z u_r). Two things lower the rank R that an error needs: the map z moves the
poles of the tanh away, and the factor e^(c z) takes half of the weight's growth. Measured for c = 5
and heads in [-6, 6], R is the rank of the best approximation (by singular values). The weight's
relative error depends only on c and on the half-width w = max |a - m|, not on the dependents b, and
so does the error of its derivative.

Sums over the dependents before a head, or after it, are then running sums over the tokens. With the
first factor of (1) in L_r,

  N_j = sum_r L_r(a_j) sum_(i<j) K_r(b_i) v_i,   D_j = sum_r L_r(a_j) sum_(i<j) K_r(b_i)     (2)

and s_j = N_j / D_j. Blocks of tokens pass the running sums on; memory is O(batch * length * dim).
Within a block the sums are products with a triangle of ones, with the errors of TF32 on a GPU
unless `tf.config.experimental.enable_tensor_float_32_execution(False)` is called.
"""

import functools

import numpy as np
import tensorflow as tf

from disan_tf.ops.blockwise import unblock
from disan_tf.ops.masked_softmax import positional_mask, selected_rows
from disan_tf.ops.tokenwise import is_exact, rows_of, tokens_first, tokenwise_forward
from disan_tf.ops.tracing import is_compiled

SHORTEST = 128  # number of tokens from which on interpolation is faster
BLOCK_NUMBERS = 1 << 19  # numbers in one tensor of a block
RANKS = (8, 12, 16, 20, 24, 28, 32)
_ERROR = 3e-5  # the interpolation's part of 1e-4; N / D and rounding have the rest
_ROUNDING = 4e-5


def saved_attention(head, dependent, value, mask, *, direction, head_mask=None, scale=5.0):
    """Computes DiSAN Eq. 15 and 11; for the arguments see `directional_attention`."""
    if head_mask is None:
        head_mask = tf.ones_like(mask)
    inputs = selected_rows(head, dependent, value, mask, head_mask)
    chosen = head_mask[:, :, None]
    if is_compiled() or inputs[0].dtype == tf.float64:
        context = _by_heads(*inputs, mask, direction, scale)
    else:
        kernel = Interpolation(tf.stop_gradient(inputs[0]), chosen, scale)
        context = tf.cond(
            kernel.is_close & (tf.shape(head)[1] >= SHORTEST),
            lambda: interpolate(kernel, *inputs, mask, direction),
            lambda: _exactly(*inputs, mask, direction, scale),
        )
    context = tf.ensure_shape(context, value.shape)
    return tf.cast(tf.where(chosen, context, 0.0), value.dtype)


def _exactly(head, dependent, value, mask, direction, scale):
    """Computes the exact context, without a tanh for a pair if the heads lie near zero."""
    inputs = (head, dependent, value, mask, direction, scale)
    return tf.cond(
        is_exact(head, scale), lambda: tokenwise_forward(*inputs)[0], lambda: _by_heads(*inputs)
    )


def _by_heads(head, dependent, value, mask, direction, scale):
    """Computes the exact context head by head, with a tanh for each pair."""
    shape = tf.shape(head)
    length, positions = shape[1], tf.range(shape[1])
    steps = tf.maximum(length, 1)  # one, with a head of zeros, for a batch without tokens
    heads, dependents = tokens_first(head * (1 / scale)), tokens_first(dependent * (1 / scale))
    heads, values = tf.pad(heads, [[0, steps - length], [0, 0]]), tokens_first(value)
    real = tokens_first(tf.broadcast_to(tf.cast(mask, head.dtype)[:, :, None], shape))

    def body(j, contexts):
        start, end = (0, None) if is_compiled() else rows_of(j, length, direction)
        tanh = tf.tanh(dependents[start:end] + tf.gather(heads, j))
        weights = tf.exp(scale * tanh) * real[start:end]  # no maximum: |tanh| <= 1
        if is_compiled() or direction == "diagonal":
            pairs = positional_mask(tf.reshape(j, [1]), positions[start:end], direction)
            weights *= tf.cast(pairs, head.dtype)[0, :, None]
        context = tf.math.divide_no_nan(
            tf.reduce_sum(weights * values[start:end], axis=0), tf.reduce_sum(weights, axis=0)
        )
        return j + 1, contexts.write(j, context)

    options = {"parallel_iterations": 1, "maximum_iterations": steps}
    arrays = (0, tf.TensorArray(head.dtype, size=steps))
    _, contexts = tf.while_loop(lambda j, _: j < steps, body, arrays, **options)
    contexts = tf.reshape(contexts.stack()[:length], tf.gather(shape, [1, 0, 2]))
    return tf.transpose(contexts, [1, 0, 2])


def nodes(rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns u_r and the numerators of L_r's barycentric formula, both <float64>[rank]."""
    angles = np.pi * (np.arange(rank) + 0.5) / rank
    return np.cos(angles), np.sin(angles) * (-1.0) ** np.arange(rank)


@functools.cache
def widest(scale: float) -> tuple[float, ...]:
    """Returns for each of `RANKS` the largest half-width of the heads with a small enough error.

    The half-widths do not decrease with the rank. A bisection finds them in half a second a scale.
    """
    widths = []
    for rank in RANKS:
        low, high = widths[-1] if widths else 0.0, 4.0 * scale
        for _ in range(10):
            middle = (low + high) / 2
            error, amplification = _errors(rank, middle, scale)
            # float32 rounds a weight to about (4 + c) 2^-24 of itself.
            rounding = amplification * (4.0 + scale) * 2.0**-24
            is_close = error <= _ERROR and rounding <= _ROUNDING
            low, high = (middle, high) if is_close else (low, middle)
        widths.append(low)
    return tuple(widths)


def _errors(rank, width, scale):
    """Returns the largest relative error of (1), and the ratio of its absolute terms to its sum."""
    u, numerators = nodes(rank)
    half = np.tanh(width / (2 * scale))  # Z
    at = np.cos(np.pi * np.arange(2 * rank + 1) / (2 * rank))  # nodes, the middles and the ends
    distance = at[:, None] - u
    terms = numerators / np.where(distance == 0.0, 1e-300, distance)
    basis = terms / terms.sum(axis=1, keepdims=True) * np.exp(scale * half * distance)
    dependents = np.linspace(-width - 4 * scale, width + 4 * scale, 121)
    at_nodes, exact = (
        np.tanh(np.arctanh(half * points)[:, None] * 2 + dependents / scale) for points in (u, at)
    )
    weights, exact_weights = np.exp(scale * at_nodes), np.exp(scale * exact)
    errors = [
        basis @ weights / exact_weights - 1.0,
        basis @ (weights * (1.0 - at_nodes**2)) / exact_weights - (1.0 - exact**2),
    ]
    return np.abs(errors).max(), (np.abs(basis) @ weights / exact_weights).max()


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
        """Returns K_r, 0 outside the mask, shaped as in `of_heads`."""
        centred = (dependent + self._middle)[:, :, None]  # first: both may be large and opposite
        tanh = tf.tanh((centred + self._nodes) / self.scale)
        weights = tf.exp(self.scale * tanh - self._offset)
        return weights * tf.cast(mask, tf.float32)[:, :, None, None]


def interpolate(kernel, head, dependent, value, mask, direction):
    """Returns s_j of (2), <float32>[batch, length, dim]."""

    def block(before, head, dependent, value, mask):
        basis = kernel.of_heads(head)
        weights = kernel.of_dependents(dependent, mask)
        columns = [weights, weights * value[:, :, None]]
        return [tf.reduce_sum(basis * sums, axis=2) for sums in before(columns)]

    arrays = [head, dependent, value, mask]
    sides = {"forward": [False], "backward": [True], "diagonal": [False, True]}[direction]
    scans = [_scan(block, kernel.rank, arrays, reverse) for reverse in sides]
    denominator, context = (tf.add_n(sums) for sums in zip(*scans))
    return tf.math.divide_no_nan(context, denominator)


def _scan(compute, rank, arrays, reverse):
    """Calls `compute` for blocks of tokens, with running sums over earlier or later tokens.

    `compute` gets (before, *blocks of the arrays) and returns two <float32>[batch, size, dim]; they
    are joined to [batch, length, dim]. before(columns) replaces two tensors <float32>[batch, size,
    rank, dim] by running sums over all earlier tokens, or over all later tokens with `reverse`.
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

    totals = [tf.zeros([batch, 1, rank, dim])] * 2
    results = [tf.TensorArray(tf.float32, size=blocks) for _ in range(2)]
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
