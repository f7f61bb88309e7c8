"""Dynamic self-attention, and the static one that it is compared with."""

from typing import Any, Callable, Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_above_zero, check_at_least, check_layers
from disan_tf.layers.attention.token_attention import TokenAttention
from disan_tf.layers.base import BaseLayer, LayerOptions
from disan_tf.layers.dropout import site_seed
from disan_tf.layers.keras_layer import Activation
from disan_tf.layers.linear import Linear, he_normal
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import average_tokens, token_mask
from disan_tf.ops import masked_softmax
from disan_tf.ops.elementwise import LeakyReLU
from disan_tf.ops.masked_softmax import at_least_float32


@serializable
class DynamicSelfAttention(BaseLayer):
    """Dynamic self-attention, DSA Eq. 6, 7 and Algorithm 1.

    For the words i and the attentions j = 1, ..., m, with q_ij = 0 at first, r times:

    xhat_j|i = LeakyReLU(W_j x_i + b_j)                      (6)
    a_ij = softmax over the words i of q_ij                  (line 4)
    s_j = sum_i a_ij xhat_j|i                                (line 5)
    z_j = tanh(s_j)                                          (line 6)
    q_ij = q_ij + <xhat_j|i, z_j>                            (line 7)

    z = concat[z_1, ..., z_m] of the last iteration          (7)

    In the first iteration s_j is the mean of the words. Line 7 of the last iteration does not
    affect z and is left out. Lines 4 to 7 are computed in at least float32. W_j is
    initialised by the rule of He et al. (2015), b_j to 0.

    Parameters on 300-dimensional words: 180,600 with one attention of 600 units, 722,400 with 8
    of 300.

    Args:
      units: d_o, the size of every z_j.
      attentions: m, the number of attentions in parallel.
      iterations: r; with r = 1, z_j is the tanh of the words' mean.
      negative_slope: slope of LeakyReLU.
      dropout, l2, seed: see `BaseLayer`; dropout acts on the input of W, which is regularised. The
        paper has no dropout here.

    Call arguments:
      x: <float>[batch, length, dim], finite on padding too; or, with `sentences`, the tokens of all
        sentences, <float>[tokens, dim].
      mask, training: see `BaseLayer`.
      sentences: a function that turns <float>[tokens, units] into <float>[batch, length, units],
        such as `PackedRows.sentences`; None = x already has sentences.

    Returns:
      z, <float>[batch, attentions * units]; exactly 0 for a sentence without tokens.
    """

    keeps_tokens = False

    def __init__(
        self,
        units: int = 600,
        attentions: int = 1,
        iterations: int = 2,
        negative_slope: float = 0.01,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)
        self.attentions = check_at_least("attentions", attentions, 1)
        self.iterations = check_layers("iterations", iterations)
        self.negative_slope = check_above_zero("negative_slope", negative_slope)

    def build(self, input_shape: tf.TensorShape) -> None:
        self.projection = self.add_linear(  # all W_j and b_j
            "projection",
            input_shape[-1],
            self.attentions * self.units,
            kernel_initializer=he_normal(site_seed(self.seed, "projection")),
        )
        super().build(input_shape)

    def output_size(self, dim: int) -> int:
        return self.attentions * self.units

    def call(
        self,
        x: tf.Tensor,
        mask: Optional[tf.Tensor] = None,
        sentences: Optional[Callable[[tf.Tensor], tf.Tensor]] = None,
        training: Optional[bool] = None,
    ) -> tf.Tensor:
        _, vectors = self._iterate(x, token_mask(x, mask), sentences, training)
        z = tf.reshape(vectors[-1], [-1, self.attentions * self.units])  # Eq. 7
        return tf.cast(z, self.compute_dtype)

    def attend(
        self,
        x: tf.Tensor,
        mask: Optional[tf.Tensor] = None,
        sentences: Optional[Callable[[tf.Tensor], tf.Tensor]] = None,
    ) -> dict[str, tf.Tensor]:
        """Computes the weights a_ij without dropout, which sum to 1 over the tokens.

        Returns:
          A dictionary of <float32>[batch, length, attentions]: "attention" of the last iteration
          (the paper's Fig. 3 and 4), and "attention_1", "attention_2" and so on of the earlier
          ones. "attention_1" is uniform.
        """
        mask = token_mask(x, mask)
        weights, _ = self._iterate(x, mask, sentences)
        *earlier, last = (tf.transpose(a[:, :, 0], [0, 2, 1]) for a in weights)
        named = {f"attention_{number}": a for number, a in enumerate(earlier, 1)}
        return {**named, "attention": last}

    def weight_vectors(
        self,
        x: tf.Tensor,
        mask: tf.Tensor,
        sentences: Optional[Callable[[tf.Tensor], tf.Tensor]] = None,
    ) -> tf.Tensor:
        """Computes z_j without dropout, <float32>[batch, iterations, attentions, units].

        The last iteration but one gives the dynamic weight vectors of the paper's Fig. 2.
        """
        return tf.stack([z[:, :, 0] for z in self._iterate(x, mask, sentences)[1]], axis=1)

    def _iterate(
        self,
        x: tf.Tensor,
        mask: tf.Tensor,
        sentences: Optional[Callable[[tf.Tensor], tf.Tensor]] = None,
        training: Optional[bool] = None,
    ) -> tuple[list[tf.Tensor], list[tf.Tensor]]:
        """Returns a <float32>[batch, attentions, 1, length] and z [..., 1, units] per iteration."""
        projected = self._project(x, mask, sentences, training)
        q = tf.expand_dims(
            tf.zeros(tf.shape(projected)[:3], projected.dtype), 2
        )  # [batch, attentions, 1, length]
        mask = tf.expand_dims(tf.expand_dims(mask, 1), 1)  # [batch, 1, 1, length]
        weights: list[tf.Tensor] = []
        vectors: list[tf.Tensor] = []
        for iteration in range(self.iterations):
            if iteration:
                q += tf.matmul(vectors[-1], projected, transpose_b=True)  # line 7
            weights.append(masked_softmax(q, mask, axis=-1))  # line 4
            vectors.append(tf.tanh(tf.matmul(weights[-1], projected)))  # lines 5 and 6
        return weights, vectors

    def _project(
        self,
        x: tf.Tensor,
        mask: tf.Tensor,
        sentences: Optional[Callable[[tf.Tensor], tf.Tensor]],
        training: Optional[bool],
    ) -> tf.Tensor:
        """Computes xhat of Eq. 6, <float32>[batch, attentions, length, units]."""
        product = self.projection.product(x, training)
        projected = self.projection.activate(product, LeakyReLU(self.negative_slope))
        if sentences is not None:
            projected = sentences(projected)
        batch, length = tf.unstack(tf.shape(mask))
        if self.attentions == 1:  # tf2onnx errs in a transposition of an axis of size 1
            projected = tf.reshape(projected, [batch, 1, length, self.units])
        else:  # transposed once for all iterations
            projected = tf.reshape(projected, [batch, length, self.attentions, self.units])
            projected = tf.transpose(projected, [0, 2, 1, 3])
        return at_least_float32(projected)


@serializable
class StaticSelfAttention(TokenAttention):
    """Static self-attention, DSA Eq. 1, the paper's baseline for `DynamicSelfAttention`.

    xhat_i = LeakyReLU(W x_i + b)                                      (6)
    a = softmax over the words i of v^T tanh(W' xhat_i + b')           (1)
    s = sum_i a_i xhat_i

    The paper's Eq. 1 has no bias b'; its W and W' are of one size. All matrices are initialised by
    the rule of He et al. (2015), biases to 0.

    600 units on 300-dimensional words: 541,800 parameters.

    Args:
      units: size of xhat_i and of W' xhat_i; None = xhat_i is x_i itself.
      negative_slope: slope of LeakyReLU.
      activation: activation of Eq. 1.
      dropout, l2, seed: see `BaseLayer`; dropout acts on the inputs of W, W' and v; W and W' are
        regularised. The paper has no dropout here.

    Call arguments: see `DynamicSelfAttention`.

    Returns:
      s, <float>[batch, units]; exactly 0 for a sentence without tokens.
    """

    pool = staticmethod(average_tokens)

    def __init__(
        self,
        units: Optional[int] = 600,
        negative_slope: float = 0.01,
        activation: Activation = "tanh",
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(activation, **kwargs)
        self.units = check_at_least("units", units, 1)
        self.negative_slope = check_above_zero("negative_slope", negative_slope)

    def build(self, input_shape: tf.TensorShape) -> None:
        units = self.units or input_shape[-1]
        if self.units:
            self.projection = self._add_map("projection", input_shape[-1], units)  # W, b
        self.token_map = self._add_map(  # W', b'
            "token_map", units, units, activation=self.activation
        )
        self.score_map = self._add_map("score_map", units, 1, use_bias=False, l2=0.0)  # v
        super().build(input_shape)

    def _add_map(self, name: str, *sizes: Any, **options: Any) -> Linear:
        initializer = he_normal(site_seed(self.seed, name))
        return self.add_linear(name, *sizes, kernel_initializer=initializer, **options)

    def output_size(self, dim: int) -> int:
        return self.units or dim

    def call(
        self,
        x: tf.Tensor,
        mask: Optional[tf.Tensor] = None,
        sentences: Optional[Callable[[tf.Tensor], tf.Tensor]] = None,
        training: Optional[bool] = None,
    ) -> tf.Tensor:
        return self._compress(self._project(x, training), token_mask(x, mask), training, sentences)

    def attend(
        self,
        x: tf.Tensor,
        mask: Optional[tf.Tensor] = None,
        sentences: Optional[Callable[[tf.Tensor], tf.Tensor]] = None,
    ) -> dict[str, tf.Tensor]:
        """Computes the weights a without dropout, "attention" <float32>[batch, length, 1]."""
        x = x if sentences is None else sentences(x)
        return {"attention": self.attention_weights(x, mask)}

    def attention_weights(self, x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> tf.Tensor:
        """Computes a without dropout, <float32>[batch, length, 1]; sums to 1 over the tokens."""
        return super().attention_weights(self._project(x), mask)

    def _project(self, x: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        """Computes xhat of Eq. 6, shaped like x except for `units`."""
        if not self.units:
            return x
        product = self.projection.product(x, training)
        return self.projection.activate(product, LeakyReLU(self.negative_slope))
