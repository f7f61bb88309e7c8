"""Bi-LSTMs with other ways to one vector than source2token, baselines of DSA's Table 2."""

import tensorflow as tf

from disan_tf.encoders.bi_lstm import BiLSTMEncoder
from disan_tf.layers.attention.static import SelfAttention

POOLINGS = ("last", "self_attention")


class PooledBiLSTMEncoder(BiLSTMEncoder):
    """An LSTM in each direction, then its last states or static self-attention.

    "last" is [forward state of the last token; backward state of the first], "self_attention"
    DSA's Eq. 1 on the states. 300 units each way on 300-dimensional vectors: 1,442,400 parameters
    and 1,803,600.

    Args:
      pooling: "last" or "self_attention".
      units, attention_form, dropout, l2, seed: see `BiRecurrentEncoder`.

    Call arguments:
      x: <float>[batch, length, dim], word vectors.
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      The sentence's vector, <float>[batch, 2 * units]; exactly 0 for a sentence without tokens.

    Raises:
      ValueError: an unknown `pooling`.
    """

    def __init__(self, pooling: str = "last", **kwargs):
        super().__init__(**kwargs)
        if pooling not in POOLINGS:
            raise ValueError(f"pooling={pooling!r}; choose {' or '.join(POOLINGS)}.")
        self.pooling = pooling

    def build_pool(self, dim):
        if self.pooling == "self_attention":
            options = {**self.child_options("self_attention"), "dropout": 0.0}
            self.self_attention = SelfAttention(None, **options)
            self.self_attention.build([None, None, dim])

    def pool(self, states, mask, training=None):
        if self.pooling == "self_attention":
            return self.self_attention(states, mask=mask, training=training)
        ends = tf.cast(_ends(mask), states.dtype)
        forward, backward = tf.split(states, 2, axis=-1)
        last = tf.reduce_sum(forward * ends[:, :, :1], axis=1)
        first = tf.reduce_sum(backward * ends[:, :, 1:], axis=1)
        return tf.concat([last, first], axis=-1)

    def attend(self, x, mask):
        """Where the vector comes from, without dropout.

        Returns:
          Of static attention what `SelfAttention.attend` gives; of last states "ends" <float32>
          [batch, length, 2], 1 at the last token and at the first.
        """
        if self.pooling == "self_attention":
            return self.self_attention.attend(self.states(x, mask), mask)
        return {"ends": tf.cast(_ends(mask), tf.float32)}

    def get_config(self):
        return {**super().get_config(), "pooling": self.pooling}


def _ends(mask):
    """Whether a token is the last real one, and the first, <bool>[batch, length, 2]."""
    real = tf.cast(mask, tf.int32)
    last = mask & (tf.cumsum(real, axis=1, reverse=True) == 1)
    first = mask & (tf.cumsum(real, axis=1) == 1)
    return tf.stack([last, first], axis=-1)
