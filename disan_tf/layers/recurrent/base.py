"""What layers that read a sequence token by token have in common."""

import tensorflow as tf

from disan_tf.layers.base import BaseLayer
from disan_tf.layers.linear import decay, project
from disan_tf.layers.packing import placed_tokens
from disan_tf.ops.elementwise import bias_activation
from disan_tf.ops.native import runtime
from disan_tf.ops.recurrence import recurrence


class Recurrent(BaseLayer):
    """Base of recurrent layers that read in one direction.

    Where the mask is False the state stays as it was and h is 0, so padding may stand anywhere.
    As in the authors' code dropout acts on x alone, with a mask of its own for each entry of each
    step, and Glorot's rule sees the joined matrices, of [x; h]. The recurrence is float32; the
    product with x, for all steps at once, has the layer's precision.

    A subclass creates its weights in `build`, before it calls the base's, and defines `step`, and
    `split_weights` where it has more than one `kernel` and one `bias`.

    Args:
      units: size of h.
      backward: whether the last token is read first.
      dropout, l2, seed: see `BaseLayer`; the joined matrices are regularised.

    Call arguments:
      x: <float>[batch, length, dim], or [tokens, dim], the `real_tokens` of it.
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      h, <float>[batch, length, units]; exactly 0 on padding.
    """

    cell = ""  # of `disan_tf.ops.recurrence`, if that has the layer's steps
    states: int  # how many <float32>[batch, units] one step hands to the next; h is the last

    def __init__(self, units: int, backward: bool = False, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.backward = backward

    def build(self, input_shape):
        self.input_dropout = self.add_dropout("input_dropout")
        super().build(input_shape)

    def add_kernel(self, name: str, input_dim: int, gates: int) -> tf.Variable:
        """A joined matrix, <float32>[input_dim + units, gates * units]."""
        shape = [input_dim + self.units, gates * self.units]
        return self.add_weight(
            name, shape, None, "glorot_uniform", decay(self.l2), experimental_autocast=False
        )

    def add_bias(self, name: str, gates: int, initializer: str) -> tf.Variable:
        """A bias, <float32>[gates * units]."""
        return self.add_weight(
            name, [gates * self.units], None, initializer, experimental_autocast=False
        )

    def split_weights(self, input_dim: int) -> tuple:
        """The matrix of x, the bias, and the matrices of h that `step` gets.

        Here those of a layer with one joined matrix.
        """
        input_kernel, state_kernel = tf.split(self.kernel, [input_dim, self.units])
        return input_kernel, self.bias, state_kernel

    def step(self, states: tuple, product: tf.Tensor, *kernels: tf.Tensor) -> tuple:
        """The states after one token, of those before it and of its product with x."""
        raise NotImplementedError

    def call(self, x, mask, training=None):
        input_kernel, bias, *state_kernels = self.split_weights(x.shape[-1])
        product = self._input_product(x, input_kernel, bias, training)
        if x.shape.rank == 2:
            product = placed_tokens(product, mask)
        if self.cell and runtime.is_used():
            h = recurrence(product, mask, *state_kernels, cell=self.cell, backward=self.backward)
        else:
            h = self._loop(product, mask, *state_kernels)
        h = tf.ensure_shape(tf.cast(h, x.dtype), [*mask.shape, self.units])
        return tf.where(mask[:, :, None], h, tf.zeros([], h.dtype))

    def _loop(self, product, mask, *kernels):
        """The states h <float32>[batch, length, units], token by token."""
        length = tf.shape(mask)[1]
        padding = tf.cast(length == 0, tf.int32)  # a scan without a step is an error
        product = tf.pad(product, [[0, 0], [0, padding], [0, 0]])
        mask = tf.pad(mask, [[0, 0], [0, padding]])
        steps = tf.transpose(product, [1, 0, 2]), tf.transpose(mask)[:, :, None]
        nothing = tf.zeros([tf.shape(product)[0], self.units])

        def advance(old, token):
            product, real = token
            new = self.step(old, product, *kernels)
            return tuple(tf.where(real, *pair) for pair in zip(new, old))

        *_, h = tf.scan(advance, steps, (nothing,) * self.states, reverse=self.backward)
        return tf.transpose(h, [1, 0, 2])[:, :length]

    def _input_product(self, x, kernel, bias, training):
        """dropout(x) W + b for every token, <float32>[..., gates * units]."""
        x = self.input_dropout(x, training=training)
        product = tf.cast(project(x, tf.cast(kernel, x.dtype)), tf.float32)
        return bias_activation(product, bias, tf.keras.activations.linear)

    def get_config(self):
        return {**super().get_config(), "units": self.units, "backward": self.backward}
