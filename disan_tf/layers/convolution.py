"""Convolutions over tokens, single and densely connected."""

from collections.abc import Sequence
from typing import Any, Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_above_zero, check_at_least, check_layers, check_widths
from disan_tf.layers.base import BaseLayer, LayerOptions
from disan_tf.layers.dropout import Dropout, Positions, site_seed
from disan_tf.layers.keras_layer import Activation, Initializer, activation_of, initializer_of
from disan_tf.layers.linear import (
    InitScale,
    cast_weight,
    he_normal,
    project,
    variance_factor,
)
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import token_mask
from disan_tf.ops.elementwise import LeakyReLU, bias_activation, copies
from disan_tf.ops.masked_softmax import at_least_float32


@serializable
class Convolution(BaseLayer):
    """Keras' Conv1D with padding "same" and a mask: outside the sentence, x counts as 0.

    y_j = activation(W [x_(j-before); ...; x_(j+after)] + b) for every token j

    where before = (width - 1) // 2 and after = width // 2, so that there are `width` tokens in a
    window. Since x is 0 where the mask is False, more padding changes nothing, and a sentence may
    be shorter than the window. A masked token between real tokens still occupies a
    position in the windows. The fan-in of W is width * dim, its fan-out width * units.

    Args:
      units: number of feature maps (Keras: filters).
      width: tokens in a window (Keras: kernel_size).
      activation: Keras activation or None.
      kernel_initializer: for W, a Keras initializer or its name; b is initialised to 0.
      dropout, l2, seed: see `BaseLayer`; dropout acts on x and W is regularised.

    Returns:
      y, <float>[batch, length, units]; exactly 0 on padding.
    """

    def __init__(
        self,
        units: int,
        width: int,
        activation: Activation = None,
        kernel_initializer: Initializer = "glorot_uniform",
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)
        self.width = check_at_least("width", width, 1)
        self.activation = activation_of(activation)
        self.kernel_initializer = initializer_of(kernel_initializer)

    def build(self, input_shape: tf.TensorShape) -> None:
        shape = [self.width, input_shape[-1], self.units]
        self.kernel = self.add_uncast_weight("kernel", shape, self.kernel_initializer, self.l2)
        self.bias = self.add_uncast_weight("bias", [self.units], "zeros")
        self.input_dropout = self.add_dropout("input_dropout")
        super().build(input_shape)

    def output_size(self, dim: int) -> int:
        return self.units

    def call(
        self, x: tf.Tensor, mask: Optional[tf.Tensor] = None, training: Optional[bool] = None
    ) -> tf.Tensor:
        mask = token_mask(x, mask)
        real, zero = tf.expand_dims(mask, -1), tf.zeros([], x.dtype)
        x = self.input_dropout(tf.where(real, x, zero), training=training)
        return tf.where(real, self.convolve(x), zero)

    def convolve(self, x: tf.Tensor, activation: Any = None) -> tf.Tensor:
        """Computes y <float>[batch, length, units] without mask and dropout.

        x <float>[batch, length, dim] must be 0 on padding, unless the width is 1; y is not 0 there.
        """
        kernel = cast_weight(self.kernel, x.dtype)
        # For one token a plain product is faster than conv1d in bfloat16.
        product = project(x, kernel[0]) if self.width == 1 else _same_convolution(x, kernel)
        return bias_activation(product, self.bias, activation or self.activation)


def _same_convolution(x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    """Computes `tf.nn.conv1d` with padding "SAME", and avoids three errors of TensorFlow.

    If x has no rows or no tokens, the result of `tf.nn.conv1d` in a graph has as many channels as
    x, and the gradient of a float16 kernel is NaN. In bfloat16, TensorFlow 2.19's kernels for
    processors with AMX were wrong by 134 % for 5 tokens and a window of 12. Therefore x is padded
    with zeros to at least one row and one token, in bfloat16 to the width of the window. The
    surplus of the result is cut off.
    """
    (rows, length, _), (width, dim, units) = tf.unstack(tf.shape(x)), kernel.shape
    least = width if x.dtype == tf.bfloat16 else 1
    more_rows, more_tokens = tf.maximum(1 - rows, 0), tf.maximum(least - length, 0)
    x = tf.pad(x, [[0, more_rows], [0, more_tokens], [0, 0]])
    # In TFLite, padding of a computed size hides the number of channels.
    x = tf.reshape(x, [rows + more_rows, length + more_tokens, dim])
    y = tf.nn.conv1d(x, kernel, stride=1, padding="SAME")
    return tf.slice(y, [0, 0, 0], [rows, length, units])


MIN_SQUARED_NORM = 1e-12  # a shorter vector is not normalised: its gradient would explode


@serializable
class DenselyConnectedCNN(BaseLayer):
    """The densely connected CNN of Yoon, Lee and Lee (2018), DSA Eq. 2 to 5.

    Every h(x) = LeakyReLU(dropout(W [window of x] + b)) has weights of its own. The function Phi_k
    is, for l = 2, ..., L,

    X^1 = h^1(X^0)                                      (2)
    X^l = h^l(concat[X^(l-1), ..., X^1])                (3)
    Phi_k(X^0) = concat[X^L, ..., X^1]                  (4)

    with windows of k tokens in h^2 to h^L; and one convolution with windows of one token

    X^c = h^c(concat[Phi_k1(X^0), Phi_k2(X^0), X^0])    (5)

    compresses two (or more) Phi_k. At the end every x_i^c is divided by its L2 norm, in at
    least float32; a vector whose norm is under 1e-6 becomes 0 and gets no gradient.

    LeakyReLU commutes with dropout, so dropout acts on the result of LeakyReLU. A convolution reads
    X^l = 0 on padding. W is initialised by `he_normal`, with the `variance_factor` of its
    dropout, and b to 0.

    Parameters on 300-dimensional words: 197,250 for k = 3, 298,500 for k = 5 and 315,300 in h^c,
    in all 811,050. With `first_width=None` they are 1,081,050, which fits the paper's totals,
    although the paper gives h^1 "kernel size 1".

    Args:
      layers: L.
      first_units: d_1, the size of X^1.
      units: d_l, the size of every other X^l.
      widths: the k of every Phi_k.
      compressed_units: d_c, the size of x_i^c.
      first_width: tokens in a window of h^1; None = k.
      negative_slope: slope of LeakyReLU; PyTorch's default is 0.01.
      init_scale: see `variance_factor`.
      dropout, l2, seed: see `BaseLayer`; every W is regularised.

    Call arguments:
      x, mask, training: see `BaseLayer`; x is X^0.
      places: places of the tokens in the global batch, see `Dropout`.

    Returns:
      X^c, <float>[batch, length, compressed_units]; exactly 0 on padding.
    """

    def __init__(
        self,
        layers: int = 4,
        first_units: int = 150,
        units: int = 75,
        widths: Sequence[int] = (3, 5),
        compressed_units: int = 300,
        first_width: Optional[int] = 1,
        negative_slope: float = 0.01,
        init_scale: InitScale = "keep",
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.layers = check_layers("layers", layers)
        self.first_units = check_at_least("first_units", first_units, 1)
        self.units = check_at_least("units", units, 1)
        self.widths = check_widths("widths", widths)
        check_layers("len(widths) * layers", layers * len(self.widths))
        self.compressed_units = check_at_least("compressed_units", compressed_units, 1)
        self.first_width = check_at_least("first_width", first_width, 1)
        self.negative_slope = check_above_zero("negative_slope", negative_slope)
        self.init_scale = init_scale

    def build(self, input_shape: tf.TensorShape) -> None:
        # Keras leaves lists of lists out of weights files: first every Phi_k, then h^c.
        self.convolutions: list[Convolution] = []
        self.output_dropouts: list[Dropout] = []
        dim = input_shape[-1]
        for tower, width in enumerate(self.widths):
            self._add_h(f"tower_{tower}_h_1", dim, self.first_units, self.first_width or width)
            for layer in range(1, self.layers):
                inputs = self.first_units + (layer - 1) * self.units
                self._add_h(f"tower_{tower}_h_{layer + 1}", inputs, self.units, width)
        tower_units = self.first_units + (self.layers - 1) * self.units
        self._add_h("h_c", len(self.widths) * tower_units + dim, self.compressed_units, width=1)
        super().build(input_shape)

    def _add_h(self, name: str, input_dim: int, units: int, width: int) -> None:
        """Adds the convolution and the dropout of one h."""
        self.output_dropouts.append(self.add_dropout(f"{name}_dropout"))
        factor = variance_factor(self.init_scale, self.dropout)
        initializer = he_normal(site_seed(self.seed, f"{name}_kernel"), factor)
        options = {"dropout": 0.0, "kernel_initializer": initializer}
        shape = [None, None, input_dim]
        self.convolutions.append(self.add_child(Convolution, name, shape, units, width, **options))

    @property
    def reach(self) -> int:
        """The greatest distance of a token in a window from the window's centre."""
        return max(*self.widths, self.first_width or 1) // 2

    def output_size(self, dim: int) -> int:
        return self.compressed_units

    def call(
        self,
        x: tf.Tensor,
        mask: Optional[tf.Tensor] = None,
        places: Optional[Positions] = None,
        training: Optional[bool] = None,
    ) -> tf.Tensor:
        mask = token_mask(x, mask)
        real = tf.expand_dims(mask, -1)
        words = tf.where(real, x, tf.zeros([], x.dtype))  # X^0
        *inputs, words = copies(words, len(self.widths) + 1)
        features = []
        for tower, x in enumerate(inputs):
            features += self._phi(tower, x, real, places, training)
        compressed = self._h(-1, tf.concat([*features, words], axis=-1), places, training)  # Eq. 5
        return l2_normalized(compressed, real)

    def _phi(
        self,
        tower: int,
        x: tf.Tensor,
        real: tf.Tensor,
        places: Optional[Positions],
        training: Optional[bool],
    ) -> list[tf.Tensor]:
        """Computes [X^L, ..., X^1] of one Phi_k, Eq. 2 to 4; X^L is not 0 on padding."""
        results: list[list[tf.Tensor]] = []  # X^l, ..., X^1, each with one copy for every later use
        for layer in range(self.layers):
            if layer:
                x = tf.concat([unused.pop() for unused in results], axis=-1)
            x = self._h(tower * self.layers + layer, x, places, training)
            uses = self.layers - layer  # in the later layers and in h^c
            if uses > 1:
                x = tf.where(real, x, tf.zeros([], x.dtype))
            results.insert(0, list(copies(x, uses)))
        return [unused.pop() for unused in results]

    def _h(
        self, index: int, x: tf.Tensor, places: Optional[Positions], training: Optional[bool]
    ) -> tf.Tensor:
        """Computes LeakyReLU(dropout(W [window of x] + b))."""
        x = self.convolutions[index].convolve(x, LeakyReLU(self.negative_slope))
        return self.output_dropouts[index](x, training=training, places=places)


def l2_normalized(x: tf.Tensor, real: tf.Tensor) -> tf.Tensor:
    """Computes x / ||x|| along the last axis where `real` <bool>[..., 1] is True, else 0."""
    wide = at_least_float32(x)
    square = tf.reduce_sum(tf.square(wide), axis=-1, keepdims=True)
    scale = tf.math.rsqrt(tf.maximum(square, MIN_SQUARED_NORM))
    scale = tf.where(real & (square > MIN_SQUARED_NORM), scale, 0.0)
    return tf.cast(wide * scale, x.dtype)
