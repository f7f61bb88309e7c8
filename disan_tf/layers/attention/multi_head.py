"""Multi-head self-attention, and the encoding of positions that it needs."""

from typing import Optional

import numpy as np
import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least
from disan_tf.layers.base import BaseLayer, LayerOptions
from disan_tf.layers.keras_layer import Activation, activation_of
from disan_tf.layers.linear import cast_weight, project, weight_decay
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import token_mask
from disan_tf.ops import masked_softmax
from disan_tf.ops.elementwise import bias_activation
from disan_tf.ops.masked_softmax import wide_dtype


def positional_encoding(length: tf.Tensor, dim: int, dtype: tf.DType = tf.float32) -> tf.Tensor:
    """Computes the sinusoids <dtype>[length, dim] of Vaswani et al. (2017), Sec. 3.5.

    PE[position, 2i]     = sin(position / 10000^(2i / dim))
    PE[position, 2i + 1] = cos(position / 10000^(2i / dim))

    An odd `dim` ends with a sine.
    """
    features = np.arange(dim)
    frequencies = 10000.0 ** (-2.0 * (features // 2) / dim)
    wide = wide_dtype(dtype)  # bfloat16 cannot represent 257
    positions = tf.cast(tf.range(length), wide)
    angles = tf.expand_dims(positions, 1) * tf.constant(frequencies, wide)
    return tf.cast(tf.where(features % 2 == 0, tf.sin(angles), tf.cos(angles)), dtype)


@serializable
class MultiHeadSelfAttention(BaseLayer):
    """Multi-head self-attention, ReSAN Eq. 35 to 37 (Vaswani et al. 2017).

    attend(q, k, v) = sum_j softmax_j(<q, k_j> / sqrt(units)) v_j                (35)
    s = concat(H_1; ...; H_heads)                                                (36)
    H_i = attend(W^q_i x, W^k_i x, W^v_i x)                                      (37)

    Unlike in Keras' MultiHeadAttention, queries, keys and values come from one sequence. As in the
    authors' code, no matrix follows the heads. Dropout acts on x (one mask for queries, keys and
    values) and on the attention weights; a token attends to itself too. All matrices are one
    variable, [3, heads, dim, units], which makes Glorot's limit small:
    sqrt(6 / (3 heads (dim + units))).

    Args:
      heads: number of heads.
      units: size of a head.
      activation: activation of queries, keys and values; the papers have none.
      use_bias: whether queries, keys and values have biases.
      dropout, l2, seed: see `BaseLayer`; all matrices are regularised.

    Returns:
      s, <float>[batch, length, heads * units]; exactly 0 on padding.
    """

    def __init__(
        self,
        heads: int = 8,
        units: int = 75,
        activation: Activation = None,
        use_bias: bool = False,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.heads = check_at_least("heads", heads, 1)
        self.units = check_at_least("units", units, 1)
        self.activation = activation_of(activation)
        self.use_bias = use_bias

    def build(self, input_shape: tf.TensorShape) -> None:
        shape = [3, self.heads, input_shape[-1], self.units]  # queries, keys, values
        options = {"initializer": "glorot_uniform", "regularizer": weight_decay(self.l2)}
        self.kernel = self.add_weight(name="kernel", shape=shape, **options)
        if self.use_bias:
            shape = [3, self.heads, self.units]
            self.bias = self.add_weight(name="bias", shape=shape, initializer="zeros")
        self.input_dropout = self.add_dropout("input_dropout")
        self.attention_dropout = self.add_dropout("attention_dropout")
        super().build(input_shape)

    def output_size(self, dim: int) -> int:
        return self.heads * self.units

    def call(
        self, x: tf.Tensor, mask: Optional[tf.Tensor] = None, training: Optional[bool] = None
    ) -> tf.Tensor:
        mask = token_mask(x, mask)
        queries, keys, values = self._project(self.input_dropout(x, training=training))
        weights = tf.cast(_weights(queries, keys, mask), x.dtype)
        context = tf.matmul(self.attention_dropout(weights, training=training), values)
        context = tf.transpose(context, [0, 2, 1, 3])  # [batch, length, heads, units]
        return tf.reshape(context, [*tf.unstack(tf.shape(x))[:2], self.heads * self.units])

    def attention_weights(self, x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> tf.Tensor:
        """Computes the softmaxes without dropout, <float32>[batch, query, key, heads]."""
        mask = token_mask(x, mask)
        queries, keys, _ = self._project(x)
        return tf.transpose(_weights(queries, keys, mask), [0, 2, 3, 1])

    def _project(self, x: tf.Tensor) -> list[tf.Tensor]:
        """Computes queries, keys and values, all <float>[batch, heads, length, units]."""
        kernel = tf.transpose(cast_weight(self.kernel, x.dtype), [2, 0, 1, 3])
        product = project(x, tf.reshape(kernel, [x.shape[-1], 3 * self.heads * self.units]))
        if self.use_bias:
            product = bias_activation(product, tf.reshape(self.bias, [-1]), self.activation)
        else:
            product = self.activation(product)
        split = [*tf.unstack(tf.shape(x))[:2], 3, self.heads, self.units]
        return tf.unstack(tf.transpose(tf.reshape(product, split), [2, 0, 3, 1, 4]))


def _weights(queries: tf.Tensor, keys: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Computes the softmaxes <float32>[batch, heads, query, key]; 0 if query or key is padding."""
    if queries.dtype == tf.float16:  # products above 65,504 overflow
        queries, keys = (tf.cast(x, tf.float32) for x in (queries, keys))
    logits = tf.matmul(queries, keys, transpose_b=True) / queries.shape[-1] ** 0.5
    pairs = tf.expand_dims(mask, 2) & tf.expand_dims(mask, 1)
    return masked_softmax(logits, tf.expand_dims(pairs, 1), axis=-1)
