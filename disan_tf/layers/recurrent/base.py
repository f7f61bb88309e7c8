"""The base class of recurrent layers: the loop over tokens, padding, dropout, precision."""

import tensorflow as tf

from disan_tf.common.options import check_at_least
from disan_tf.layers.base import BaseLayer
from disan_tf.layers.linear import project
from disan_tf.layers.masks import token_mask
from disan_tf.layers.packing import scatter_tokens
from disan_tf.ops.elementwise import bias_activation
from disan_tf.ops.native import runtime
from disan_tf.ops.recurrence import recurrence, scan_tokens
from disan_tf.ops.xla import ensure_shape


class Recurrent(BaseLayer):
    """Base of recurrent layers that read in one direction and return all states.

    They follow TensorFlow 1's cells, which the authors use, rather than Keras' layers: W is one
    matrix for [x_t; h_(t-1)], initialised by Glorot's rule as a whole, and h_0 is 0. Where the mask
    is False the state does not change and h is 0, so padding may stand anywhere. Dropout acts on x
    alone, with independent masks for all tokens. The recurrence is float32; the product with x, of
    all tokens at once, has the layer's precision.

    A subclass creates its weights in `build` before it calls `super().build`. It defines `step`,
    and `split_weights` unless it has exactly one `kernel` and one `bias`.

    Keras' `Bidirectional` wraps these layers too. A layer with `go_backwards` reads the reversed
    sentence and returns its states, h of the last token first, which the wrapper reverses. Its
    dropout masks differ from those of the layer without. The modes that Keras' own recurrent layers
    have besides (states as results or arguments, the last h alone) are refused.

    Args:
      units: size of h.
      backward: whether the last token is read first.
      go_backwards: whether the tokens and the states are reversed, as in Keras.
      dropout, l2, seed: see `BaseLayer`; the joint matrices are regularised.

    Call arguments:
      x: <float>[batch, length, dim], or its `real_tokens`, <float>[tokens, dim].
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.
      initial_state: None, which Keras' `Bidirectional` passes; h_0 is 0.

    Returns:
      h, <float>[batch, length, units]; exactly 0 on padding.

    Raises:
      ValueError: fewer than one unit, a mode of Keras that the layer lacks, or an `initial_state`.
    """

    cell = ""  # the cell of `disan_tf.ops.recurrence` that computes `step`, if there is one
    states: int  # number of <float32>[batch, units] that a step passes on; h is the last

    # The modes of Keras' recurrent layers, which its wrappers read.
    return_sequences, return_state, stateful = True, False, False

    def __init__(self, units: int, backward: bool = False, go_backwards: bool = False, **kwargs):
        for mode in ("return_sequences", "return_state", "stateful"):
            only = getattr(Recurrent, mode)
            if kwargs.pop(mode, only) != only:
                raise ValueError(
                    f"{mode}={not only} must be {only}: {type(self).__name__} returns h of every "
                    "token, and keeps no state between calls."
                )
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)
        self.backward = backward
        self.go_backwards = go_backwards

    def build(self, input_shape):
        name = "reversed_input_dropout" if self.go_backwards else "input_dropout"
        self.input_dropout = self.add_dropout(name)
        super().build(input_shape)

    def add_kernel(self, name: str, input_dim: int, gates: int) -> tf.Variable:
        """Adds a joint matrix W, <float32>[input_dim + units, gates * units]."""
        shape = [input_dim + self.units, gates * self.units]
        return self.add_uncast_weight(name, shape, "glorot_uniform", self.l2)

    def add_bias(self, name: str, gates: int, initializer: str) -> tf.Variable:
        """Adds a bias b, <float32>[gates * units]."""
        return self.add_uncast_weight(name, [gates * self.units], initializer)

    def split_weights(self, input_dim: int) -> tuple:
        """Returns the matrix that multiplies x, the bias, and the matrices of h for `step`."""
        input_kernel, state_kernel = tf.split(self.kernel, [input_dim, self.units])
        return input_kernel, self.bias, state_kernel

    def step(self, states: tuple, product: tf.Tensor, *kernels: tf.Tensor) -> tuple:
        """Computes the states after a token.

        Args:
          states: states before the token, <float32>[batch, units].
          product: x_t times its matrix, plus the bias, <float32>[batch, gates * units].
          kernels: the matrices of h, see `split_weights`.
        """
        raise NotImplementedError

    def output_size(self, dim):
        return self.units

    def call(self, x, mask=None, training=None, initial_state=None):
        if initial_state is not None:
            raise ValueError(
                f"initial_state must be None: {type(self).__name__} begins with states of 0."
            )
        mask = token_mask(x, mask)
        input_kernel, *others = self.split_weights(x.shape[-1])
        bias, *state_kernels = (tf.cast(weight, tf.float32) for weight in others)
        x = self.input_dropout(x, training=training)
        product = project(x, tf.cast(input_kernel, x.dtype))  # of all tokens
        # The reversed sentence, read from its end, is the sentence from its beginning.
        backward = self.backward != self.go_backwards
        if self.cell and runtime.is_used():
            options = {"cell": self.cell, "backward": backward}
            h = recurrence(product, bias, mask, *state_kernels, **options)
        else:
            h = self._scan(product, bias, mask, backward, *state_kernels)
        if self.go_backwards:
            h = tf.reverse(h, [1])
        return ensure_shape(h, [*mask.shape, self.units])

    def _scan(self, product, bias, mask, backward, *kernels):
        """Computes h <float>[batch, length, units], one `step` after another."""
        dtype = product.dtype
        product = bias_activation(tf.cast(product, tf.float32), bias, tf.keras.activations.linear)
        if product.shape.rank == 2:
            product = scatter_tokens(product, mask)
        length = tf.shape(mask)[1]
        padding = tf.maximum(0, 1 - length)  # tf.scan refuses an empty sequence
        product = tf.pad(product, [[0, 0], [0, padding], [0, 0]])
        real = tf.transpose(tf.pad(mask, [[0, 0], [0, padding]]))[:, :, None]
        steps = tf.transpose(product, [1, 0, 2]), real
        zeros = tf.zeros([tf.shape(product)[0], self.units])

        def advance(old, token):
            product, real = token
            new = self.step(old, product, *kernels)
            return tuple(tf.where(real, *pair) for pair in zip(new, old))

        *_, h = scan_tokens(advance, steps, (zeros,) * self.states, backward)
        h = tf.cast(tf.transpose(h, [1, 0, 2])[:, :length], dtype)
        return tf.where(mask[:, :, None], h, tf.zeros([], dtype))
