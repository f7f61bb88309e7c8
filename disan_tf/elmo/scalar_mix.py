"""The mix of a biLM's layers into one vector per token."""

import tensorflow as tf

from disan_tf.common.options import check_at_least
from disan_tf.layers.keras_layer import UNCAST
from disan_tf.layers.serialization import ConfiguredLayer, serializable


@serializable
class ScalarMix(ConfiguredLayer):
    """The mix gamma * sum_j s_j h_j, with s_j from a softmax (ELMo-DiSAN paper, Eq. 13).

    The logits of s start at 0, so that all layers weigh the same, and gamma at 1. With `normalize`
    each layer is first shifted and scaled to mean 0 and variance 1 over all features of all real
    tokens of the batch, as in the official code; the result then depends on the batch.

    Args:
      layers: number of layers, the token layer included.
      normalize: see above.
      l2: weight of the sum of the squared logits in the loss; Peters et al. (2018) call it lambda.

    Call arguments:
      x: <float>[batch, length, layers, dim].
      mask: <bool>[batch, length], True = real token.

    Returns:
      <float>[batch, length, dim]; exactly 0 on padding.

    Raises:
      ValueError: layers below 1.
    """

    EPSILON = 1e-12

    def __init__(self, layers: int = 3, normalize: bool = False, l2: float = 0.0, **kwargs):
        super().__init__(**kwargs)
        self.layers = check_at_least("layers", layers, 1)
        self.normalize = normalize
        self.l2 = check_at_least("l2", l2, 0)

    def build(self, input_shape):
        regularizer = tf.keras.regularizers.L2(self.l2) if self.l2 else None
        options = {"dtype": "float32", **UNCAST}
        self.logits = self.add_weight(
            name="logits",
            shape=[self.layers],
            initializer="zeros",
            regularizer=regularizer,
            **options,
        )
        self.gamma = self.add_weight(name="gamma", shape=[], initializer="ones", **options)
        super().build(input_shape)

    def call(self, x, mask):
        if self.normalize:
            x = self._normalized(x, mask)
        weights = self.gamma * tf.nn.softmax(self.logits)
        mixed = tf.einsum("bljd,j->bld", x, tf.cast(weights, x.dtype))
        return tf.where(mask[:, :, None], mixed, tf.zeros([], mixed.dtype))

    def _normalized(self, x, mask):
        real = tf.cast(mask, tf.float32)[:, :, None, None]
        full = tf.where(mask[:, :, None, None], tf.cast(x, tf.float32), 0.0)
        count = tf.maximum(1.0, tf.reduce_sum(real)) * float(x.shape[-1])
        mean = tf.reduce_sum(full, [0, 1, 3], keepdims=True) / count
        variance = tf.reduce_sum(tf.square((full - mean) * real), [0, 1, 3], keepdims=True) / count
        return tf.cast((full - mean) * tf.math.rsqrt(variance + self.EPSILON), x.dtype)
