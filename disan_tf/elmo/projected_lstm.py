"""A long short-term memory network whose output is projected and clipped."""

from typing import Optional

import tensorflow as tf

from disan_tf.common.checks import check_at_least
from disan_tf.layers.base import BaseLayer
from disan_tf.layers.linear import project, weight_decay
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import token_mask
from disan_tf.ops.masked_softmax import at_least_float32
from disan_tf.ops.recurrence import FORGET_BIAS, scan_tokens
from disan_tf.ops.tracing import ensure_shape

States = tuple[tf.Tensor, tf.Tensor]


@serializable
class ProjectedLSTM(BaseLayer):
    """TensorFlow 1's LSTMCell with a projection (Sak et al. 2014), in one direction.

    [i; j; f; o] = W [x_t; h_(t-1)] + b
    c_t = clip(sigmoid(f + 1) * c_(t-1) + sigmoid(i) * tanh(j), cell_clip)
    h_t = clip(W_P (sigmoid(o) * tanh(c_t)), projection_clip)

    If `cells` equals `units` there is neither W_P nor its clip, as in the official code. Where the
    mask is False the states do not change and h is 0. Products have the layer's precision, states
    are at least float32.

    Args:
      units: size of h.
      cells: size of c; at least `units`.
      backward: whether the last token is read first.
      cell_clip, projection_clip: greatest absolute value of c and h; 0 clips nothing.
      dropout, l2, seed: see `BaseLayer`; nothing is dropped here, W and W_P are regularised.

    Call arguments:
      x, mask: see `BaseLayer`.
      states: c <float>[batch, cells] and h <float>[batch, units] before the first token that is
        read; None = zeros.

    Returns:
      h, <float>[batch, length, units], exactly 0 on padding; and the states after the last token,
      or `states` if there are no tokens.
    """

    def __init__(
        self,
        units: int,
        cells: int,
        backward: bool = False,
        cell_clip: float = 0.0,
        projection_clip: float = 0.0,
        **kwargs,
    ):
        super().__init__(autocast=False, **kwargs)  # states are at least float32
        if cells < units:
            raise ValueError(f"cells={cells} must be at least units, {units}.")
        self.units = check_at_least("units", units, 1)
        self.cells = cells
        self.backward = backward
        self.cell_clip = check_at_least("cell_clip", cell_clip, 0)  # 0 clips nothing
        self.projection_clip = check_at_least("projection_clip", projection_clip, 0)

    def build(self, input_shape):
        dim, l2 = input_shape[-1], weight_decay(self.l2)
        shapes = {"kernel": [dim + self.units, 4 * self.cells]}
        if self.cells > self.units:
            shapes["projection"] = [self.cells, self.units]
        for name, shape in shapes.items():
            options = {"initializer": "glorot_uniform", "regularizer": l2}
            setattr(self, name, self.add_weight(name=name, shape=shape, **options))
        self.bias = self.add_uncast_weight("bias", [4 * self.cells], "zeros")
        super().build(input_shape)

    def call(self, x, mask=None, states: Optional[States] = None):
        x, mask = tf.cast(x, self.compute_dtype), token_mask(x, mask)
        kernels = tf.split(tf.cast(self.kernel, x.dtype), [x.shape[-1], self.units])
        product = at_least_float32(project(x, kernels[0])) + self.bias
        sizes = self.cells, self.units
        states = states or tuple(tf.zeros([tf.shape(x)[0], n], product.dtype) for n in sizes)
        c, h = self._loop(product, mask, states, kernels[1])
        last = slice(0, 1) if self.backward else slice(-1, None)
        both = zip(states, (c, h))
        after = tuple(tf.concat([[start], all_[last]], axis=0)[-1] for start, all_ in both)
        h = ensure_shape(tf.transpose(h, [1, 0, 2]), [*mask.shape, self.units])
        h = tf.where(mask[:, :, None], h, tf.zeros([], h.dtype))
        return tf.cast(h, x.dtype), after

    def _loop(self, product, mask, states, kernel):
        """Computes c and h after each token, <float>[length, batch, ...]."""
        projection = None
        if self.cells > self.units:
            projection = tf.cast(self.projection, kernel.dtype)

        def advance(old, token):
            product, real = token
            new = self._step(old, product, kernel, projection)
            return tuple(tf.where(real, *pair) for pair in zip(new, old))

        steps = tf.transpose(product, [1, 0, 2]), tf.transpose(mask)[:, :, None]
        return scan_tokens(advance, steps, states, self.backward)

    def _step(self, states, product, kernel, projection):
        c, h = states
        gates = product + at_least_float32(tf.matmul(tf.cast(h, kernel.dtype), kernel))
        i, j, f, o = tf.split(gates, 4, axis=-1)
        c = tf.sigmoid(f + FORGET_BIAS) * c + tf.sigmoid(i) * tf.tanh(j)
        c = _clipped(c, self.cell_clip)
        h = tf.sigmoid(o) * tf.tanh(c)
        if projection is None:
            return c, h
        h = at_least_float32(tf.matmul(tf.cast(h, kernel.dtype), projection))
        return c, _clipped(h, self.projection_clip)


def _clipped(x, limit):
    return tf.clip_by_value(x, -limit, limit) if limit else x
