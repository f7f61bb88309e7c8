"""Token2token self-attention in its general form: a learned matrix makes the scores."""

from typing import Optional

import tensorflow as tf

from disan_tf.common.options import check_choice
from disan_tf.layers.base import BaseLayer
from disan_tf.layers.masks import token_mask
from disan_tf.layers.serialization import serializable
from disan_tf.ops import masked_softmax
from disan_tf.ops.direction_mask import DIRECTIONS, admissible_pairs
from disan_tf.ops.elementwise import copies


@serializable
class Token2Token(BaseLayer):
    """Multi-dimensional token2token self-attention, DiSAN Eq. 10 and 11, ELMo-DiSAN Eq. 6 and 7.

    f(x_i, x_j) = W^T activation(W1 x_i + W2 x_j + b1) + b                   (10)
    P^j = softmax over the tokens i of f(x_i, x_j), for every feature
    s_j = sum_i P^j_i * x_i                                                  (11)

    A token attends to itself too; with a direction, P^j is over the tokens i that Eq. 16 to 18
    allow, and a token that may attend to no other has s = 0.

    `DirectionalSelfAttention` has the reduced form, Eq. 15: W = c I, and tanh of its argument
    divided by c. The reduced form is computed in memory O(length * dim). The general form mixes
    features between activation and softmax, so it needs tensors of [batch, length, length, dim]:
    memory O(length^2 dim), and length^2 products with W. At batch 64, length 40 and dim 300, such a
    tensor has 123 MB in float32. The papers use the reduced form alone.

    Args:
      activation: activation of Eq. 10.
      direction: "forward", "backward" or "diagonal", see `disan_tf.ops.direction_mask`; None = all
        pairs of tokens, as in Eq. 10.
      dropout, l2, seed: see `BaseLayer`; dropout acts on the inputs of W1, W2 and W, which are
        regularised.

    Call arguments:
      x: <float>[batch, length, dim].
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      s, <float>[batch, length, dim]; exactly 0 on padding.

    Raises:
      ValueError: an unknown direction.

    Example:
      >>> Token2Token()(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 5, 8])

    Reference: Shen et al. (2018), "DiSAN: Directional Self-Attention Network for RNN/CNN-Free
    Language Understanding", Sec. 3.2.
    """

    def __init__(self, activation="elu", direction: Optional[str] = None, **kwargs):
        super().__init__(**kwargs)
        self.activation = tf.keras.activations.get(activation)
        self.direction = check_choice("direction", direction, (None, *DIRECTIONS))

    def build(self, input_shape):
        dim = input_shape[-1]
        self.dependent_map = self.add_linear(  # W1, b1
            "dependent_map", dim, dim, activation=self.activation
        )
        self.head_map = self.add_linear("head_map", dim, dim, use_bias=False)  # W2
        self.score_map = self.add_linear("score_map", dim, dim)  # W, b
        super().build(input_shape)

    def output_size(self, dim):
        return dim

    def call(self, x, mask=None, training=None):
        mask = token_mask(x, mask)
        x, to_logits = copies(x, 2)
        weights = self.attention_weights(to_logits, mask, training)
        real = tf.where(mask[:, :, None], tf.cast(x, tf.float32), 0.0)  # 0 times NaN is NaN
        return tf.cast(tf.reduce_sum(weights * real[:, None], axis=2), x.dtype)  # Eq. 11

    def attention_weights(self, x, mask=None, training=None):
        """Computes P, <float32>[batch, head, dependent, dim]; sums to 1 over the dependents."""
        mask = token_mask(x, mask)
        pairs = self._pairs(mask)
        return masked_softmax(self.logits(x, training), pairs[..., None], axis=2)

    def logits(self, x, training=None):
        """Computes f(x_i, x_j) of Eq. 10, <float>[batch, head, dependent, dim]."""
        to_dependent, to_head = copies(x, 2)
        dependent = self.dependent_map.product(to_dependent, training)[:, None]
        head = self.head_map(to_head, training=training)[:, :, None]
        return self.score_map(self.dependent_map.activate(dependent + head), training=training)

    def _pairs(self, mask):
        """Returns whether head j may attend to dependent i, <bool>[batch, head, dependent]."""
        if self.direction is None:
            return mask[:, :, None] & mask[:, None, :]
        return admissible_pairs(mask, self.direction, head_mask=mask)
