"""Multi-head attention: scaled dot products in several subspaces."""

import tensorflow as tf

from disan_tf.layers.base import BaseLayer
from disan_tf.layers.linear import decay, project
from disan_tf.layers.precision import converted
from disan_tf.ops import masked_softmax
from disan_tf.ops.elementwise import bias_activation


class MultiHeadAttention(BaseLayer):
    """Multi-head self-attention, ReSAN Eq. 35 to 37 (Vaswani et al., 2017).

    H = softmax over the keys of (Wq x)^T (Wk x) / sqrt(units), applied to Wv x; the heads are
    concatenated. As in the authors' code no matrix follows the heads, a token attends to itself
    too, dropout acts on x (one mask for queries, keys and values) and on the attention's weights,
    and all matrices are one variable, [3, heads, dim, units]. That makes Glorot's limit
    sqrt(6 / (3 heads (dim + units))), which is small.

    Args:
      heads: number of subspaces.
      units: size of each.
      activation: of queries, keys and values; the papers have none.
      use_bias: whether queries, keys and values have biases.
      dropout, l2, seed: see `BaseLayer`; all matrices are regularised.

    Call arguments:
      x: <float>[batch, length, dim].
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      <float>[batch, length, heads * units]; exactly 0 on padding.

    Example:
      >>> attention = MultiHeadAttention(heads=2, units=3)
      >>> attention(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 5, 6])
    """

    def __init__(
        self, heads: int = 8, units: int = 75, activation=None, use_bias: bool = False, **kwargs
    ):
        super().__init__(**kwargs)
        self.heads = heads
        self.units = units
        self.activation = tf.keras.activations.get(activation)
        self.use_bias = use_bias

    def build(self, input_shape):
        shape = [3, self.heads, input_shape[-1], self.units]  # queries, keys, values
        self.kernel = self.add_weight("kernel", shape, None, "glorot_uniform", decay(self.l2))
        if self.use_bias:
            self.bias = self.add_weight("bias", [3, self.heads, self.units], None, "zeros")
        self.input_dropout = self.add_dropout("input_dropout")
        self.attention_dropout = self.add_dropout("attention_dropout")
        super().build(input_shape)

    def call(self, x, mask, training=None):
        queries, keys, values = self._project(self.input_dropout(x, training=training))
        weights = tf.cast(_weights(queries, keys, mask), x.dtype)
        context = tf.matmul(self.attention_dropout(weights, training=training), values)
        context = tf.transpose(context, [0, 2, 1, 3])  # [batch, length, heads, units]
        return tf.reshape(context, [*tf.unstack(tf.shape(x))[:2], self.heads * self.units])

    def weights_of(self, x, mask):
        """Each head's softmax without dropout, <float32>[batch, query, key, heads]."""
        queries, keys, _ = self._project(x)
        return tf.transpose(_weights(queries, keys, mask), [0, 2, 3, 1])

    def _project(self, x):
        """Queries, keys and values, <float>[batch, heads, length, units] each."""
        kernel = tf.transpose(converted(self.kernel, x.dtype), [2, 0, 1, 3])
        product = project(x, tf.reshape(kernel, [x.shape[-1], 3 * self.heads * self.units]))
        if self.use_bias:
            product = bias_activation(product, tf.reshape(self.bias, [-1]), self.activation)
        else:
            product = self.activation(product)
        split = [*tf.unstack(tf.shape(x))[:2], 3, self.heads, self.units]
        return tf.unstack(tf.transpose(tf.reshape(product, split), [2, 0, 3, 1, 4]))

    def get_config(self):
        config = {
            "heads": self.heads,
            "units": self.units,
            "activation": tf.keras.activations.serialize(self.activation),
            "use_bias": self.use_bias,
        }
        return {**super().get_config(), **config}


def _weights(queries, keys, mask):
    """<float32>[batch, heads, query, key]; a padded query attends to nothing."""
    logits = tf.matmul(queries, keys, transpose_b=True) / queries.shape[-1] ** 0.5
    pairs = mask[:, :, None] & mask[:, None, :]
    return masked_softmax(logits, pairs[:, None], axis=-1)
