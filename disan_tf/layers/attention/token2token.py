"""Attention from each token to all tokens, without or with their order."""

from typing import Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least
from disan_tf.layers.attention.token_attention import VanillaAttention
from disan_tf.layers.base import BaseLayer, LayerOptions
from disan_tf.layers.keras_layer import Activation, activation_of
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import masked_mean, token_mask, weighted_sums
from disan_tf.ops import masked_softmax
from disan_tf.ops.elementwise import copies
from disan_tf.ops.masked_softmax import Direction, admissible_pairs, at_least_float32


@serializable
class Token2Token(BaseLayer):
    """Multi-dimensional token2token self-attention, DiSAN Eq. 10 and 11, ELMo-DiSAN Eq. 6 and 7.

    f(x_i, x_j) = W^T activation(W1 x_i + W2 x_j + b1) + b                   (10)
    P^j = softmax over the tokens i of f(x_i, x_j), for every feature
    s_j = sum_i P^j_i * x_i                                                  (11)

    A token attends to itself too; with a direction, P^j is over the tokens i that Eq. 16 to 18
    allow, and a token that may attend to no other has s = 0.

    The papers use the reduced form alone, `DirectionalSelfAttention` (Eq. 15: W = c I, and tanh of
    its argument divided by c), in memory O(length * dim). The general form mixes features between
    activation and softmax, so it needs length^2 products with W, and tensors of [batch, length,
    length, dim]: 123 MB in float32 at batch 64, length 40 and dim 300.

    Args:
      activation: activation of Eq. 10.
      direction: "forward", "backward" or "diagonal", see `disan_tf.ops.masked_softmax`; None = all
        pairs of tokens, as in Eq. 10.
      dropout, l2, seed: see `BaseLayer`; dropout acts on the inputs of W1, W2 and W, which are
        regularised.

    Returns:
      s, <float>[batch, length, dim]; exactly 0 on padding.
    """

    def __init__(
        self,
        activation: Activation = "elu",
        direction: Optional[Direction] = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.activation = activation_of(activation)
        self.direction = direction

    def build(self, input_shape: tf.TensorShape) -> None:
        dim = input_shape[-1]
        self.dependent_map = self.add_linear("dependent_map", dim, dim, activation=self.activation)
        self.head_map = self.add_linear("head_map", dim, dim, use_bias=False)  # W2
        self.score_map = self.add_linear("score_map", dim, dim)
        super().build(input_shape)

    def output_size(self, dim: int) -> int:
        return dim

    def call(
        self, x: tf.Tensor, mask: Optional[tf.Tensor] = None, training: Optional[bool] = None
    ) -> tf.Tensor:
        mask = token_mask(x, mask)
        x, to_logits = copies(x, 2)
        weights = self.attention_weights(to_logits, mask, training)
        real = tf.where(mask[:, :, None], tf.cast(x, weights.dtype), 0.0)  # 0 times NaN is NaN
        return tf.cast(tf.reduce_sum(weights * real[:, None], axis=2), x.dtype)  # Eq. 11

    def attention_weights(
        self, x: tf.Tensor, mask: Optional[tf.Tensor] = None, training: Optional[bool] = None
    ) -> tf.Tensor:
        """Computes P, <float32>[batch, head, dependent, dim]; sums to 1 over the dependents."""
        mask = token_mask(x, mask)
        pairs = self._pairs(mask)
        return masked_softmax(self.logits(x, training), pairs[..., None], axis=2)

    def logits(self, x: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        """Computes f(x_i, x_j) of Eq. 10, <float>[batch, head, dependent, dim]."""
        to_dependent, to_head = copies(x, 2)
        dependent = self.dependent_map.product(to_dependent, training)[:, None]
        head = self.head_map(to_head, training=training)[:, :, None]
        return self.score_map(self.dependent_map.activate(dependent + head), training=training)

    def _pairs(self, mask: tf.Tensor) -> tf.Tensor:
        """Returns whether head j may attend to dependent i, <bool>[batch, head, dependent]."""
        if self.direction is None:
            return mask[:, :, None] & mask[:, None, :]
        return admissible_pairs(mask, self.direction, head_mask=mask)


@serializable
class IntraAttention(BaseLayer):
    """Inner attention of Liu et al. (2016), ReSAN Eq. 42 and 43.

    f(x_i, x) = w^T tanh(W1 x_i + W2 mean(x))                (42)
    p = softmax over the tokens i of f(x_i, x)
    s = sum_i p_i x_i                                        (43)

    The mean is over the real tokens; x must be finite on padding too.

    Args:
      units: size of W1 x_i; None = the size of x.
      dropout, l2, seed: see `VanillaAttention`.

    Returns:
      s, <float>[batch, dim]; exactly 0 for a sentence without tokens.
    """

    keeps_tokens = False

    def __init__(self, units: Optional[int] = None, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)

    def build(self, input_shape: tf.TensorShape) -> None:
        options = {"units": self.units, "activation": "tanh"}
        self.attention = self.add_child(VanillaAttention, "attention", input_shape, **options)
        super().build(input_shape)

    def output_size(self, dim: int) -> int:
        return dim

    def call(
        self, x: tf.Tensor, mask: Optional[tf.Tensor] = None, training: Optional[bool] = None
    ) -> tf.Tensor:
        mask = token_mask(x, mask)
        return self.attention(x, masked_mean(x, mask), mask=mask, training=training)

    def attention_weights(self, x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> tf.Tensor:
        """Computes p without dropout, <float32>[batch, length, 1]; sums to 1 over the tokens."""
        mask = token_mask(x, mask)
        return self.attention.attention_weights(x, masked_mean(x, mask), mask)


@serializable
class SelfAlignment(BaseLayer):
    """Multiplicative token2token attention, "self-alignment" of ReSAN's Table 5.

    f(x_i, x_j) = <W1 x_i, W2 x_j>                           (DiSAN 6, ReSAN 31, with q = x_j)
    p_j = softmax over the tokens i != j of f(x_i, x_j)
    s_j = sum_i p_ji x_i

    As in Hu et al. (2017), no token attends to itself; in their model W1 and W2 are the identity.
    x must be finite on padding too.

    Args:
      units: size of W1 x_i; None = the size of x.
      dropout, l2, seed: see `BaseLayer`; dropout acts on the inputs of W1 and W2, which are
        regularised.

    Returns:
      s, <float>[batch, length, dim]; exactly 0 on padding, and in a sentence of one token.
    """

    def __init__(self, units: Optional[int] = None, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)

    def build(self, input_shape: tf.TensorShape) -> None:
        dim = input_shape[-1]
        units = self.units or dim
        self.dependent_map = self.add_linear("dependent_map", dim, units, use_bias=False)  # W1
        self.head_map = self.add_linear("head_map", dim, units, use_bias=False)  # W2
        super().build(input_shape)

    def output_size(self, dim: int) -> int:
        return dim

    def call(
        self, x: tf.Tensor, mask: Optional[tf.Tensor] = None, training: Optional[bool] = None
    ) -> tf.Tensor:
        return weighted_sums(self.attention_weights(x, token_mask(x, mask), training), x)

    def attention_weights(
        self, x: tf.Tensor, mask: Optional[tf.Tensor] = None, training: Optional[bool] = None
    ) -> tf.Tensor:
        """Computes p, <float32>[batch, head, dependent], which sums to 1 over the dependents."""
        mask = token_mask(x, mask)
        dependent, head = (
            at_least_float32(linear(x, training=training))
            for linear in (self.dependent_map, self.head_map)
        )
        logits = tf.matmul(head, dependent, transpose_b=True)
        pairs = admissible_pairs(mask, "diagonal", head_mask=mask)
        return masked_softmax(logits, pairs, axis=2)
