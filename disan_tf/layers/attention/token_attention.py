"""Attention that weighs the tokens of a sentence, with or without a query."""

from typing import Callable, Literal, Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least
from disan_tf.layers.base import BaseLayer, LayerOptions
from disan_tf.layers.keras_layer import Activation, activation_of
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import average_tokens, token_mask
from disan_tf.ops import masked_softmax
from disan_tf.ops.elementwise import copies, softmax_pool
from disan_tf.ops.masked_softmax import at_least_float32


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

    Returns:
      s, <float>[batch, dim]; exactly 0 for a sentence without tokens.
    """

    pool = staticmethod(softmax_pool)  # (logits, x, mask) -> s

    keeps_tokens = False

    def __init__(self, activation: Activation = "elu", **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.activation = activation_of(activation)

    def output_size(self, dim: int) -> int:
        return dim

    def call(
        self, x: tf.Tensor, mask: Optional[tf.Tensor] = None, training: Optional[bool] = None
    ) -> tf.Tensor:
        return self._compress(x, token_mask(x, mask), training)

    def _compress(
        self,
        x: tf.Tensor,
        mask: tf.Tensor,
        training: Optional[bool],
        sentences: Optional[Callable[[tf.Tensor], tf.Tensor]] = None,
    ) -> tf.Tensor:
        """Computes s of Eq. 4; for `sentences` see `DynamicSelfAttention`."""
        x, to_logits = copies(x, 2)
        logits = self.logits(to_logits, training)
        if sentences is not None:
            x, logits = sentences(x), sentences(logits)
        return self.pool(logits, x, mask)

    def attention_weights(self, x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> tf.Tensor:
        """Computes P without dropout, <float32>, shaped like `logits`; sums to 1 over tokens."""
        mask = token_mask(x, mask)
        return masked_softmax(self.logits(x), tf.expand_dims(mask, -1), axis=1)

    def logits(self, x: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        """Computes f(x_i), <float>[batch, length, units of `score_map`]."""
        return self.score_map(self.token_map(x, training=training), training=training)


@serializable
class Source2Token(TokenAttention):
    """Multi-dimensional source2token self-attention, DiSAN Eq. 12 and 13.

    f(x_i) = W^T activation(W1 x_i + b1) + b                 (12)
    P = softmax over the tokens i of f(x_i), for every feature
    s = sum_i P_i * x_i                                      (13)

    Args:
      activation: activation of Eq. 12.
      dropout, l2, seed: see `BaseLayer`; dropout acts on the inputs of W1 and W, which are
        regularised.

    Returns:
      s, <float>[batch, dim]; exactly 0 for a sentence without tokens.
    """

    def build(self, input_shape: tf.TensorShape) -> None:
        dim = input_shape[-1]
        self.token_map = self.add_linear("token_map", dim, dim, activation=self.activation)
        self.score_map = self.add_linear("score_map", dim, dim)
        super().build(input_shape)


@serializable
class AdditiveSelfAttention(TokenAttention):
    """Additive attention that compresses a sequence, DiSAN Eq. 1 to 5 without their query.

    f(x_i) = w^T activation(W x_i + b)                       (5)
    p = softmax over the tokens i of f(x_i)                  (1 to 3)
    s = sum_i p_i x_i                                        (4)

    The bias b is in the authors' code; w has no bias.

    Args:
      units: size of W x_i; None = the size of x.
      activation: activation of Eq. 5.
      dropout, l2, seed: see `BaseLayer`; dropout acts on the inputs of W and w; only W is
        regularised.

    Returns:
      s, <float>[batch, dim]; exactly 0 for a sentence without tokens.
    """

    pool = staticmethod(average_tokens)

    def __init__(
        self,
        units: Optional[int] = None,
        activation: Activation = "elu",
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(activation, **kwargs)
        self.units = check_at_least("units", units, 1)

    def build(self, input_shape: tf.TensorShape) -> None:
        dim = input_shape[-1]
        units = self.units or dim
        self.token_map = self.add_linear("token_map", dim, units, activation=self.activation)
        self.score_map = self.add_linear("score_map", units, 1, use_bias=False, l2=0.0)  # w
        super().build(input_shape)


class QueryAttention(TokenAttention):
    """Base of attentions whose weights depend on a query, DiSAN Eq. 1 to 4.

    a = [f(x_1, q), ..., f(x_n, q)],  P = softmax(a) over the tokens    (1 to 3)
    s = sum_i P_i * x_i                                                 (4)

    A subclass also builds `query_map` and overrides `logits`. For the arguments see
    `MultiDimAttention`.
    """

    def __init__(
        self,
        activation: Activation = "elu",
        query_dim: Optional[int] = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(activation, **kwargs)
        self.query_dim = check_at_least("query_dim", query_dim, 1)

    def input_axes(self) -> dict[str, tuple[str, ...]]:
        query_dim = str(self.query_dim or "dim")
        return {"x": ("batch", "length", "dim"), "query": ("batch or 1", query_dim)}

    def compute_output_shape(
        self, x_shape: tf.TensorShape, query_shape: Optional[tf.TensorShape] = None
    ) -> tf.TensorShape:
        return super().compute_output_shape(x_shape)

    def call(
        self,
        x: tf.Tensor,
        query: tf.Tensor,
        mask: Optional[tf.Tensor] = None,
        training: Optional[bool] = None,
    ) -> tf.Tensor:
        x, to_logits = copies(x, 2)
        return self.pool(self.logits(to_logits, query, training), x, token_mask(x, mask))

    def attention_weights(
        self, x: tf.Tensor, query: tf.Tensor, mask: Optional[tf.Tensor] = None
    ) -> tf.Tensor:
        """Computes P without dropout, <float32>, shaped like `logits`; sums to 1 over tokens."""
        mask = token_mask(x, mask)
        return masked_softmax(self.logits(x, query), tf.expand_dims(mask, -1), axis=1)

    def logits(self, x: tf.Tensor, query: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        """Computes f(x_i, q), <float>[batch, length, units], with one unit for each weight."""
        raise NotImplementedError


@serializable
class MultiDimAttention(QueryAttention):
    """Multi-dimensional attention of a query to a sequence, DiSAN Eq. 7 to 9.

    f(x_i, q) = W^T activation(W1 x_i + W2 q + b1) + b       (8; 7 without biases)
    P = softmax over the tokens i of f(x_i, q), for every feature
    s = sum_i P_i * x_i                                      (9)

    Without W2 q this is `Source2Token`.

    Args:
      activation: activation of Eq. 8.
      query_dim: size of the query; None = the size of x, as in the paper.
      dropout, l2, seed: see `BaseLayer`; dropout acts on the inputs of W1, W2 and W, which are
        regularised.

    Call arguments:
      x, mask, training: see `BaseLayer`.
      query: <float>[batch, query_dim], the second argument.

    Returns:
      s, <float>[batch, dim]; exactly 0 for a sentence without tokens.
    """

    def build(self, x_shape: tf.TensorShape, query_shape: Optional[tf.TensorShape] = None) -> None:
        dim = x_shape[-1]
        query_dim = self.query_dim or dim
        self.query_map = self.add_linear("query_map", query_dim, dim, use_bias=False)  # W2
        self.token_map = self.add_linear("token_map", dim, dim, activation=self.activation)
        self.score_map = self.add_linear("score_map", dim, dim)
        super().build(x_shape)

    def logits(self, x: tf.Tensor, query: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        """Computes f(x_i, q) of Eq. 8, <float>[batch, length, dim]."""
        query = tf.expand_dims(self.query_map(query, training=training), 1)
        hidden = self.token_map.activate(self.token_map.product(x, training) + query)
        return self.score_map(hidden, training=training)


@serializable
class VanillaAttention(QueryAttention):
    """Attention of a query to a sequence, DiSAN Eq. 1 to 6, ReSAN Eq. 26 to 31.

    p = softmax over the tokens i of f(x_i, q)               (DiSAN 1 to 3, ReSAN 26 to 28)
    s = sum_i p_i x_i                                        (DiSAN 4, ReSAN 29)
    f(x_i, q) = w^T activation(W1 x_i + W2 q)   additive     (DiSAN 5, ReSAN 30)
    f(x_i, q) = <W1 x_i, W2 q>            multiplicative     (DiSAN 6, ReSAN 31)

    Args:
      compatibility: f, "additive" or "multiplicative".
      units: size of W1 x_i and W2 q; None = the size of x.
      query_dim: size of the query; None = the size of x.
      activation: activation of the additive f.
      dropout, l2, seed: see `BaseLayer`; dropout acts on the inputs of W1, W2 and w; W1 and W2
        are regularised.

    Call arguments, result: see `MultiDimAttention`.
    """

    pool = staticmethod(average_tokens)

    def __init__(
        self,
        compatibility: Literal["additive", "multiplicative"] = "additive",
        units: Optional[int] = None,
        query_dim: Optional[int] = None,
        activation: Activation = "elu",
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(activation, query_dim, **kwargs)
        self.compatibility = compatibility
        self.units = check_at_least("units", units, 1)

    def build(self, x_shape: tf.TensorShape, query_shape: Optional[tf.TensorShape] = None) -> None:
        dim = x_shape[-1]
        units, query_dim = self.units or dim, self.query_dim or dim
        self.token_map = self.add_linear("token_map", dim, units, use_bias=False)  # W1
        self.query_map = self.add_linear("query_map", query_dim, units, use_bias=False)  # W2
        if self.compatibility == "additive":
            self.score_map = self.add_linear("score_map", units, 1, use_bias=False, l2=0.0)  # w
        super().build(x_shape)

    def logits(self, x: tf.Tensor, query: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        """Computes f(x_i, q), <float>[batch, length, 1]."""
        token = self.token_map(x, training=training)  # [batch, length, units]
        query = self.query_map(query, training=training)
        if self.compatibility == "multiplicative":
            token, query = at_least_float32(token), at_least_float32(query)
            return tf.matmul(token, tf.expand_dims(query, 2))
        return self.score_map(self.activation(token + tf.expand_dims(query, 1)), training=training)
