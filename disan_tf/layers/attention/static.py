"""Static self-attention, whose weight vector does not depend on the sentence."""

from typing import Optional

from disan_tf.common.options import check_above_zero, check_at_least
from disan_tf.layers.attention.token_attention import TokenAttention
from disan_tf.layers.dropout import site_seed
from disan_tf.layers.initializers import he_normal
from disan_tf.layers.masks import token_mask
from disan_tf.layers.pooling import average_tokens
from disan_tf.layers.serialization import serializable
from disan_tf.ops.elementwise import LeakyReLU


@serializable
class StaticSelfAttention(TokenAttention):
    """Static self-attention, DSA Eq. 1, the paper's baseline for `DynamicSelfAttention`.

    xhat_i = LeakyReLU(W x_i + b)                                      (6)
    a = softmax over the words i of v^T tanh(W' xhat_i + b')           (1)
    s = sum_i a_i xhat_i

    The paper's Eq. 1 has no bias b'; its W and W' are of one size. All matrices are initialised by
    the rule of He et al. (2015), biases to 0.

    600 units on 300-dimensional words: 541,800 parameters.

    Args:
      units: size of xhat_i and of W' xhat_i; None = xhat_i is x_i itself.
      negative_slope: slope of LeakyReLU.
      activation: activation of Eq. 1.
      dropout, l2, seed: see `BaseLayer`; dropout acts on the inputs of W, W' and v; W and W' are
        regularised. The paper has no dropout here.

    Call arguments:
      x: <float>[batch, length, dim], finite on padding too; or, with `sentences`, the tokens of all
        sentences, <float>[tokens, dim].
      mask: <bool>[batch, length], True = real token.
      sentences: see `DynamicSelfAttention`; with `sentences` the maps need not read padding.
      training: whether dropout acts.

    Returns:
      s, <float>[batch, units]; exactly 0 for a sentence without tokens.

    Raises:
      ValueError: fewer than one unit, or a slope that is not above 0.

    Example:
      >>> StaticSelfAttention(units=3)(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 3])
    """

    pool = staticmethod(average_tokens)

    keeps_tokens = False

    def __init__(
        self, units: Optional[int] = 600, negative_slope: float = 0.01, activation="tanh", **kwargs
    ):
        super().__init__(activation, **kwargs)
        self.units = check_at_least("units", units, 1)
        self.negative_slope = check_above_zero("negative_slope", negative_slope)

    def build(self, input_shape):
        units = self.units or input_shape[-1]
        if self.units:
            self.projection = self._add_map("projection", input_shape[-1], units)  # W, b
        self.token_map = self._add_map(  # W', b'
            "token_map", units, units, activation=self.activation
        )
        self.score_map = self._add_map("score_map", units, 1, use_bias=False, l2=0.0)  # v
        super().build(input_shape)

    def _add_map(self, name, *sizes, **options):
        initializer = he_normal(site_seed(self.seed, name))
        return self.add_linear(name, *sizes, kernel_initializer=initializer, **options)

    def output_size(self, dim):
        return self.units or dim

    def call(self, x, mask=None, sentences=None, training=None):
        return self._compress(self._project(x, training), token_mask(x, mask), training, sentences)

    def attend(self, x, mask=None, sentences=None):
        """Computes the weights a without dropout, "attention" <float32>[batch, length, 1]."""
        x = x if sentences is None else sentences(x)
        return {"attention": self.attention_weights(x, mask)}

    def attention_weights(self, x, mask=None):
        """Computes a without dropout, <float32>[batch, length, 1]; sums to 1 over the tokens."""
        return super().attention_weights(self._project(x), mask)

    def _project(self, x, training=None):
        """Computes xhat of Eq. 6, shaped like x except for `units`."""
        if not self.units:
            return x
        product = self.projection.product(x, training)
        return self.projection.activate(product, LeakyReLU(self.negative_slope))
