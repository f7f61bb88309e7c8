"""Directional self-attention (DiSA): token vectors that depend on their context and its order."""

from typing import Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least
from disan_tf.layers.base import BaseLayer, LayerOptions
from disan_tf.layers.keras_layer import Activation, activation_of
from disan_tf.layers.linear import cast_weight, project
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import token_mask
from disan_tf.ops import attention_weights, directional_attention
from disan_tf.ops.directional_attention import Form
from disan_tf.ops.elementwise import bias_activation, copies, fusion_gate
from disan_tf.ops.masked_softmax import Direction, at_least_float32, check_scale


@serializable
class FusionGate(BaseLayer):
    """Dimension-wise fusion gate, DiSAN Eq. 19 and 20.

    F = sigmoid(W1 s + W2 h + b)                             (19)
    u = F * h + (1 - F) * s                                  (20)

    This differs from the paper because b is the sum of three biases, as in the authors' code.
    Three biases give the paper's parameter counts, and Adadelta updates them separately.
    Dropout acts on the inputs of W1 and W2, not on the mixed h and s.

    Args:
      dropout, l2, seed: see `BaseLayer`; W1 and W2 are regularised.

    Call arguments:
      h: <float>[batch, length, dim], the input of the attention.
      s: <float>[batch, length, dim], the output of the attention.
      mask: <bool>[batch, length] or None; where it is False u is exactly 0.
      training: whether dropout acts.
    """

    def build(self, h_shape: tf.TensorShape, s_shape: Optional[tf.TensorShape] = None) -> None:
        dim = h_shape[-1]
        self.token_map = self.add_linear("token_map", dim, dim)  # W2
        self.context_map = self.add_linear("context_map", dim, dim)  # W1
        self.bias = self.add_weight(name="bias", shape=[dim], initializer="zeros")
        super().build(h_shape)

    def compute_output_shape(
        self, h_shape: tf.TensorShape, s_shape: Optional[tf.TensorShape] = None
    ) -> tf.TensorShape:
        return super().compute_output_shape(h_shape)

    def input_axes(self) -> dict[str, tuple[str, ...]]:
        return {"h": ("batch", "length", "dim"), "s": ("batch", "length", "dim")}

    def gate(self, h: tf.Tensor, s: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        """Computes F of Eq. 19, <float>[batch, length, dim]."""
        token, context, bias = self._summands(h, s, training)
        return tf.sigmoid(token + context + bias)

    def output_size(self, dim: int) -> int:
        return dim

    def call(
        self,
        h: tf.Tensor,
        s: tf.Tensor,
        mask: Optional[tf.Tensor] = None,
        training: Optional[bool] = None,
    ) -> tf.Tensor:
        mask = tf.ones(tf.shape(h)[:-1], tf.bool) if mask is None else mask
        h, to_token = copies(h, 2)
        s, to_context = copies(tf.cast(s, h.dtype), 2)  # Keras 2 casts the first input alone
        return fusion_gate(*self._summands(to_token, to_context, training), h, s, mask)

    def _summands(
        self, h: tf.Tensor, s: tf.Tensor, training: Optional[bool]
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Computes W2 h, W1 s and b."""
        token = self.token_map.product(h, training)
        context = self.context_map.product(s, training)
        bias = self.token_map.dense.bias + self.context_map.dense.bias + self.bias
        return token, context, tf.cast(bias, h.dtype)


@serializable
class DirectionalSelfAttention(BaseLayer):
    """A DiSA block, DiSAN Eq. 14 to 20.

    h = activation(W_h x + b_h)                                              (14)
    f(h_i, h_j) = c tanh((W1 h_i + W2 h_j + b1) / c) + M_ij                  (15)
    M_ij = 0 if i != j (diagonal), i < j (forward) or i > j (backward),
           else minus infinity                                               (16, 17, 18)
    s_j = sum_i softmax_i(f(h_i, h_j)) * h_i                                 (11)
    F = sigmoid(W_f1 s + W_f2 h + b_f)                                       (19)
    u = F * h + (1 - F) * s                                                  (20)

    As in the authors' code, W1 and W2 share one dropped copy of h and are not regularised; the h
    that is averaged (11) and the h that is mixed (20) are not dropped. A token that may attend to
    no other has s = 0.

    Args:
      units: d_h of the paper; None = the size of x.
      direction: "forward", "backward" or "diagonal".
      activation: activation of Eq. 14.
      scale: c of Eq. 15, above 0 and at most 40.
      attention_form: form of `disan_tf.ops.directional_attention`.
      dropout, l2, seed: see `BaseLayer`; W_h, W_f1 and W_f2 are regularised.

    Returns:
      u, <float>[batch, length, units]; exactly 0 on padding.
    """

    def __init__(
        self,
        units: Optional[int] = None,
        direction: Direction = "forward",
        activation: Activation = "elu",
        scale: float = 5.0,
        attention_form: Form = "auto",
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)
        self.direction = direction
        self.activation = activation_of(activation)
        self.scale = check_scale(scale)
        self.attention_form = attention_form

    def build(self, input_shape: tf.TensorShape) -> None:
        dim = input_shape[-1]
        units = self.units or dim
        self.input_map = self.add_linear("input_map", dim, units, activation=self.activation)
        self.attention_dropout = self.add_dropout("attention_dropout")
        self.dependent_map = self.add_projection("dependent_map", units, units)  # W1
        self.head_map = self.add_projection("head_map", units, units)  # W2
        bias = {"name": "attention_bias", "shape": [units], "initializer": "zeros"}
        self.attention_bias = self.add_weight(**bias)  # b1
        shape = [None, None, units]
        self.fusion_gate = self.add_child(FusionGate, "fusion_gate", shape, seed=self.seed)
        super().build(input_shape)

    def output_size(self, dim: int) -> int:
        return self.units or dim

    def call(
        self, x: tf.Tensor, mask: Optional[tf.Tensor] = None, training: Optional[bool] = None
    ) -> tf.Tensor:
        mask = token_mask(x, mask)
        h, value, head, dependent = self._project(x, training)  # Eq. 14
        s = self._attend_to(head, dependent, value, mask, mask)  # Eq. 15 to 18, and 11
        return self.fusion_gate(h, s, mask=mask, training=training)  # Eq. 19, 20

    def _attend_to(
        self,
        head: tf.Tensor,
        dependent: tf.Tensor,
        value: tf.Tensor,
        dependents: tf.Tensor,
        heads: tf.Tensor,
    ) -> tf.Tensor:
        """Computes s of the heads <bool>[batch, length], over the dependents."""
        return directional_attention(
            head,
            dependent,
            value,
            dependents,
            direction=self.direction,
            head_mask=heads,
            scale=self.scale,
            form=self.attention_form,
        )

    def attend(self, x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> dict[str, tf.Tensor]:
        """Computes the attention weights and gates, without dropout.

        Returns:
          A dictionary: "attention" <float32>[batch, head, dependent, units], which is 0 if the head
          or the dependent is padding; "gate" (F of Eq. 19) <float32>[batch, length, units]; and
          "output" (u) <float>[batch, length, units].
        """
        mask = token_mask(x, mask)
        weights, h, s = self._soft_attention(x, mask, mask)
        return {"attention": weights, **self._gated(h, s, mask)}

    def _soft_attention(
        self, x: tf.Tensor, dependents: tf.Tensor, heads: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Computes the attention weights, and h and s <float>[batch, length, units]."""
        h, _, head, dependent = self._project(x)
        weights = attention_weights(
            head, dependent, dependents, direction=self.direction, head_mask=heads, scale=self.scale
        )
        s = tf.einsum("bjif,bif->bjf", weights, tf.cast(h, weights.dtype))
        return weights, h, tf.cast(s, h.dtype)

    def _gated(self, h: tf.Tensor, s: tf.Tensor, mask: tf.Tensor) -> dict[str, tf.Tensor]:
        """Computes F, and u, which is 0 outside the mask."""
        gate = self.fusion_gate.gate(h, s)
        u = tf.where(mask[:, :, None], gate * h + (1.0 - gate) * s, 0.0)
        return {"gate": at_least_float32(gate), "output": u}

    def _project(
        self, x: tf.Tensor, training: Optional[bool] = None
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
        """Computes h twice, W2 h + b1 and W1 h, all <float>[batch, length, units]."""
        h = self.input_map(x, training=training)  # Eq. 14, [batch, length, units]
        h, value, dropped = copies(h, 3)
        dropped = self.attention_dropout(dropped, training=training)
        # W1 h_i and W2 h_j of Eq. 15 in one product: both see the same dropped h.
        maps = self.dependent_map, self.head_map
        kernel = tf.concat([cast_weight(m.kernel, h.dtype) for m in maps], axis=1)
        products = project(dropped, kernel)
        dependent, head = tf.split(products, 2, axis=-1)
        head = bias_activation(head, self.attention_bias, tf.keras.activations.linear)
        return h, value, head, dependent
