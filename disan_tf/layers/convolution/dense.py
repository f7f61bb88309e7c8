"""Convolutions that each see the results of all before them."""

from collections.abc import Sequence
from typing import Optional

import tensorflow as tf

from disan_tf.layers.base import BaseLayer
from disan_tf.layers.convolution.convolution import Convolution
from disan_tf.layers.dropout import site_seed
from disan_tf.layers.initializers import he_normal, variance_factor
from disan_tf.ops.elementwise import LeakyReLU, copies

SMALLEST_SQUARE = 1e-12  # of a norm that can divide


class DenselyConnectedCNN(BaseLayer):
    """The CNN with dense connection of Yoon, Lee and Lee (2018), DSA Eq. 2 to 5.

    With h = LeakyReLU(dropout(W [window] + b)), a convolution with weights of its own at every
    place, each tower k has, for l = 2, ..., L,

    X^1 = h^1(X^0)                                      (Eq. 2)
    X^l = h^l(concat[X^(l-1), ..., X^1])                (Eq. 3)
    Phi_k = concat[X^L, ..., X^1]                       (Eq. 4)

    where h^2 to h^L have windows of k tokens; and then

    X^c = h^c(concat[Phi_k1, Phi_k2, X^0])              (Eq. 5)

    where h^c has windows of one token, and each x_i^c is divided by its L2 norm, in float32 for
    every dtype. A norm under 1e-6 gives 0, and no gradient.

    LeakyReLU commutes with dropout, which therefore acts on its result. All are 0 on padding where
    a convolution sees them. W starts by `he_normal`, times the square root of `variance_factor`; b
    at 0.

    300-dimensional words: 197,250 and 298,500 parameters in the towers and 315,300 in h^c, in all
    811,050. With first_width=None 1,081,050, which fits the paper's totals, though it says "kernel
    size 1" of h^1.

    Args:
      layers: L.
      first_units: size of X^1, d_1.
      units: size of the other X^l, d_l.
      widths: k of each tower.
      compressed_units: size of x_i^c, d_c.
      first_width: tokens in a window of h^1; None = k.
      negative_slope: of LeakyReLU; 0.01 is PyTorch's default.
      init_scale: see `variance_factor`.
      dropout, l2, seed: see `BaseLayer`; every W is regularised, the result of every h dropped.

    Call arguments:
      x: <float>[batch, length, dim], word vectors.
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      X^c, <float>[batch, length, compressed_units]; exactly 0 on padding.

    Raises:
      ValueError: less than one layer, no widths, a width under 1, or an unknown `init_scale`.

    Example:
      >>> DenselyConnectedCNN()(tf.ones([2, 4, 8]), mask=tf.ones([2, 4], tf.bool)).shape
      TensorShape([2, 4, 300])
    """

    def __init__(
        self, layers: int = 4, first_units: int = 150, units: int = 75,
        widths: Sequence[int] = (3, 5), compressed_units: int = 300,
        first_width: Optional[int] = 1, negative_slope: float = 0.01, init_scale: str = "keep",
        **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        if layers < 1:
            raise ValueError(f"layers={layers!r}; a tower has at least 1.")
        if not widths or min(widths) < 1:
            raise ValueError(f"widths={widths!r}; name at least one, each at least 1.")
        if first_width is not None and first_width < 1:
            raise ValueError(f"first_width={first_width!r}; a window has at least 1 token.")
        self.layers = layers
        self.first_units = first_units
        self.units = units
        self.widths = tuple(widths)
        self.compressed_units = compressed_units
        self.first_width = first_width
        self.negative_slope = negative_slope
        self.init_scale = init_scale

    def build(self, input_shape):
        # Lists of lists would be left out of Keras' weights files: tower after tower, then h^c.
        self.convolutions, self.output_dropouts = [], []
        dim = input_shape[-1]
        for tower, width in enumerate(self.widths):
            self._add_h(f"tower_{tower}_h_1", dim, self.first_units, self.first_width or width)
            for layer in range(1, self.layers):
                inputs = self.first_units + (layer - 1) * self.units
                self._add_h(f"tower_{tower}_h_{layer + 1}", inputs, self.units, width)
        tower_units = self.first_units + (self.layers - 1) * self.units
        self._add_h("h_c", len(self.widths) * tower_units + dim, self.compressed_units, width=1)
        super().build(input_shape)

    def _add_h(self, name, input_dim, units, width):
        """The weights of one h, and its dropout."""
        self.output_dropouts.append(self.add_dropout(f"{name}_dropout"))
        factor = variance_factor(self.init_scale, self.dropout)
        convolution = Convolution(
            units, width, l2=self.l2, name=name, dtype=self.dtype_policy,
            kernel_initializer=he_normal(site_seed(self.seed, f"{name}_kernel"), factor),
        )  # fmt: skip
        convolution.build([None, None, input_dim])
        self.convolutions.append(convolution)

    @property
    def reach(self) -> int:
        """How many tokens away another token may stand and still be in a window."""
        return max(*self.widths, self.first_width or 1) // 2

    def call(self, x, mask, training=None):
        real = mask[:, :, None]
        words = tf.where(real, x, tf.zeros([], x.dtype))  # X^0
        *tower_words, words = copies(words, len(self.widths) + 1)
        features = []
        for tower, x in enumerate(tower_words):
            features += self._phi(tower, x, real, training)
        compressed = self._h(-1, tf.concat([*features, words], axis=-1), training)  # Eq. 5
        return normalized(compressed, real)

    def _phi(self, tower, x, real, training):
        """[X^L, ..., X^1] of a tower, Eq. 2 to 4; X^L is not 0 on padding."""
        results = []  # of the layers so far, the last first: a copy for each use to come
        for layer in range(self.layers):
            if layer:
                x = tf.concat([copies_left.pop() for copies_left in results], axis=-1)
            x = self._h(tower * self.layers + layer, x, training)
            uses = self.layers - layer  # by the later layers and by h^c
            if uses > 1:
                x = tf.where(real, x, tf.zeros([], x.dtype))
            results.insert(0, list(copies(x, uses)))
        return [copies_left.pop() for copies_left in results]

    def _h(self, place, x, training):
        """LeakyReLU(dropout(W [window] + b))."""
        x = self.convolutions[place].convolve(x, LeakyReLU(self.negative_slope))
        return self.output_dropouts[place](x, training=training)

    def get_config(self):
        config = {
            "layers": self.layers,
            "first_units": self.first_units,
            "units": self.units,
            "widths": list(self.widths),
            "compressed_units": self.compressed_units,
            "first_width": self.first_width,
            "negative_slope": self.negative_slope,
            "init_scale": self.init_scale,
        }
        return {**super().get_config(), **config}


def normalized(x: tf.Tensor, real: tf.Tensor) -> tf.Tensor:
    """x / ||x|| along the last axis where `real`, <bool>[..., 1], says so, else 0."""
    wide = tf.cast(x, tf.float32)
    square = tf.reduce_sum(tf.square(wide), axis=-1, keepdims=True)
    # The gradient of a norm near 0 would be as large as the norm is small.
    scale = tf.math.rsqrt(tf.maximum(square, SMALLEST_SQUARE))
    scale = tf.where(real & (square > SMALLEST_SQUARE), scale, 0.0)
    return tf.cast(wide * scale, x.dtype)
