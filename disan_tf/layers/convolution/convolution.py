"""A convolution over the tokens of a sentence."""

import tensorflow as tf

from disan_tf.common.options import check_at_least
from disan_tf.layers.base import BaseLayer
from disan_tf.layers.linear import project
from disan_tf.layers.masks import token_mask
from disan_tf.layers.precision import cast_weight
from disan_tf.layers.serialization import serializable
from disan_tf.ops.elementwise import bias_activation


@serializable
class Convolution(BaseLayer):
    """Keras' Conv1D with padding "same" and a mask: outside the sentence, x counts as 0.

    y_j = activation(W [x_(j-before); ...; x_(j+after)] + b) for every token j

    where before = (width - 1) // 2 and after = width // 2, so that there are `width` tokens in a
    window. Since x is 0 where the mask is False, more padding changes nothing, and a sentence may
    be shorter than the window. The fan-in of W is width * dim, its fan-out width * units.

    Args:
      units: number of feature maps (Keras: filters).
      width: tokens in a window (Keras: kernel_size).
      activation: Keras activation or None.
      kernel_initializer: for W, a Keras initializer or its name; b is initialised to 0.
      dropout, l2, seed: see `BaseLayer`; dropout acts on x and W is regularised.

    Call arguments:
      x: <float>[batch, length, dim].
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      y, <float>[batch, length, units]; exactly 0 on padding.

    Raises:
      ValueError: fewer than one unit, or a width under 1.

    Example:
      >>> Convolution(3, width=5)(tf.ones([2, 4, 8]), mask=tf.ones([2, 4], tf.bool)).shape
      TensorShape([2, 4, 3])
    """

    def __init__(
        self, units: int, width: int, activation=None, kernel_initializer="glorot_uniform", **kwargs
    ):
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)
        self.width = check_at_least("width", width, 1)
        self.activation = tf.keras.activations.get(activation)
        self.kernel_initializer = tf.keras.initializers.get(kernel_initializer)

    def build(self, input_shape):
        shape = [self.width, input_shape[-1], self.units]
        self.kernel = self.add_uncast_weight("kernel", shape, self.kernel_initializer, self.l2)
        self.bias = self.add_uncast_weight("bias", [self.units], "zeros")
        self.input_dropout = self.add_dropout("input_dropout")
        super().build(input_shape)

    def output_size(self, dim):
        return self.units

    def call(self, x, mask=None, training=None):
        mask = token_mask(x, mask)
        real, zero = tf.expand_dims(mask, -1), tf.zeros([], x.dtype)
        x = self.input_dropout(tf.where(real, x, zero), training=training)
        return tf.where(real, self.convolve(x), zero)

    def convolve(self, x, activation=None):
        """Computes the convolution without mask and dropout.

        Args:
          x: <float>[batch, length, dim]; it must be 0 on padding, unless the width is 1.
          activation: None = the layer's own.

        Returns:
          y, <float>[batch, length, units]; not 0 on padding.
        """
        kernel = cast_weight(self.kernel, x.dtype)
        # For one token a plain product is faster than conv1d in bfloat16.
        product = project(x, kernel[0]) if self.width == 1 else _same_convolution(x, kernel)
        return bias_activation(product, self.bias, activation or self.activation)


def _same_convolution(x, kernel):
    """Computes `tf.nn.conv1d` with padding "SAME", and avoids two errors of TensorFlow.

    In bfloat16, TensorFlow 2.19's kernels for processors with AMX were wrong by 134 % for 5 tokens
    and a window of 12. Sentences shorter than the window therefore get zeros up to the window's
    width, and the surplus of the result is cut off; longer sentences are neither copied nor changed
    by a bit. For a batch without rows, `tf.nn.conv1d` keeps the channels of x; here the result has
    `units` channels.
    """
    length, (width, _, units) = tf.shape(x)[1], kernel.shape
    if x.dtype == tf.bfloat16:
        x = tf.pad(x, [[0, 0], [0, tf.maximum(width - length, 0)], [0, 0]])
    y = tf.nn.conv1d(x, kernel, stride=1, padding="SAME")
    y = tf.reshape(y, [tf.shape(x)[0], tf.shape(x)[1], units])
    return y if x.dtype != tf.bfloat16 else tf.slice(y, [0, 0, 0], [-1, length, -1])
