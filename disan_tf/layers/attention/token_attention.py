"""The base class of attentions that compress a sequence without a query."""

import tensorflow as tf

from disan_tf.layers.base import BaseLayer
from disan_tf.layers.masks import token_mask
from disan_tf.ops import masked_softmax
from disan_tf.ops.elementwise import copies, softmax_pool


class TokenAttention(BaseLayer):
    """Base of attentions that compress a sequence into one vector, DiSAN Eq. 1 to 4.

    a = [f(x_1), ..., f(x_n)],  P = softmax(a) over the tokens    (1 to 3)
    s = sum_i P_i * x_i                                           (4)

    A subclass builds `token_map` and `score_map`, whose composition is f. By default the class
    expects a score for every feature of a token; a subclass with one score per token sets `pool` to
    `average_tokens`.

    Args:
      activation: activation between the two maps.
      dropout, l2, seed: see `BaseLayer`.

    Call arguments:
      x: <float>[batch, length, dim].
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      s, <float>[batch, dim]; exactly 0 for a sentence without tokens.
    """

    pool = staticmethod(softmax_pool)  # (logits, x, mask) -> s

    keeps_tokens = False

    def __init__(self, activation="elu", **kwargs):
        super().__init__(**kwargs)
        self.activation = tf.keras.activations.get(activation)

    def output_size(self, dim):
        return dim

    def call(self, x, mask=None, training=None):
        return self._compress(x, token_mask(x, mask), training)

    def _compress(self, x, mask, training, sentences=None):
        """Computes s of Eq. 4; for `sentences` see `DynamicSelfAttention`."""
        x, to_logits = copies(x, 2)
        logits = self.logits(to_logits, training)
        if sentences is not None:
            x, logits = sentences(x), sentences(logits)
        return self.pool(logits, x, mask)

    def attention_weights(self, x, mask=None):
        """Computes P without dropout, <float32>, shaped like `logits`; sums to 1 over tokens."""
        mask = token_mask(x, mask)
        return masked_softmax(self.logits(x), tf.expand_dims(mask, -1), axis=1)

    def logits(self, x, training=None):
        """Computes f(x_i), <float>[batch, length, units of `score_map`]."""
        return self.score_map(self.token_map(x, training=training), training=training)
