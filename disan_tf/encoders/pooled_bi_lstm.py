"""Bi-LSTM, then its last states or static self-attention: baselines of DSA's Table 2."""

import tensorflow as tf

from disan_tf.common.options import check_choice
from disan_tf.encoders.bi_lstm import BiLSTMEncoder
from disan_tf.layers.attention.static import StaticSelfAttention
from disan_tf.layers.children import build_child
from disan_tf.layers.masks import token_mask
from disan_tf.layers.serialization import serializable

POOLINGS = ("last", "self_attention")


@serializable
class PooledBiLSTMEncoder(BiLSTMEncoder):
    """A `BasicLSTM` in each direction, then its last states or static self-attention.

    Parameters of 300 units in each direction on 300-dimensional vectors: 1,442,400 for the last
    states, 1,803,600 for self-attention.

    Args:
      pooling: "last", [forward state of the last token; backward state of the first token], or
        "self_attention", DSA Eq. 1 on the states (`StaticSelfAttention`).
      units, attention_form, dropout, l2, seed: see `BiRecurrentEncoder`.

    Call arguments:
      x: <float>[batch, length, dim], word vectors.
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      The sentence vector, <float>[batch, 2 * units]; exactly 0 for a sentence without tokens.

    Raises:
      ValueError: an unknown `pooling`.

    Example:
      >>> encoder = PooledBiLSTMEncoder("last", units=3)
      >>> encoder(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 6])
    """

    def __init__(self, pooling: str = "last", **kwargs):
        super().__init__(**kwargs)
        self.pooling = check_choice("pooling", pooling, POOLINGS)

    def build_pool(self, dim):
        if self.pooling == "self_attention":
            options = {**self.child_options("self_attention"), "dropout": 0.0}
            self.self_attention = StaticSelfAttention(None, **options)
            build_child(self.self_attention, [None, None, dim])

    def pool(self, states, mask, training=None):
        if self.pooling == "self_attention":
            return self.self_attention(states, mask=mask, training=training)
        ends = tf.cast(_ends(mask), states.dtype)
        forward, backward = tf.split(states, 2, axis=-1)
        last = tf.reduce_sum(forward * ends[:, :, :1], axis=1)
        first = tf.reduce_sum(backward * ends[:, :, 1:], axis=1)
        return tf.concat([last, first], axis=-1)

    def attend(self, x, mask=None):
        """Finds the tokens that the sentence vector comes from, without dropout.

        Returns:
          For "self_attention" the result of `StaticSelfAttention.attend`; for "last", "ends"
          <float32>[batch, length, 2], 1 at the last token and at the first.
        """
        mask = token_mask(x, mask)
        if self.pooling == "self_attention":
            return self.self_attention.attend(self.states(x, mask), mask)
        return {"ends": tf.cast(_ends(mask), tf.float32)}


def _ends(mask):
    """Returns whether a token is the last and the first real token, <bool>[batch, length, 2]."""
    real = tf.cast(mask, tf.float32)  # which a GPU compares; it leaves integers to the host
    last = mask & (tf.cumsum(real, axis=1, reverse=True) == 1.0)
    first = mask & (tf.cumsum(real, axis=1) == 1.0)
    return tf.stack([last, first], axis=-1)
