"""Dynamic self-attention: the sentence itself says which of its words matter."""

import tensorflow as tf

from disan_tf.layers.base import BaseLayer
from disan_tf.layers.dropout import site_seed
from disan_tf.layers.initializers import he_normal
from disan_tf.ops import masked_softmax
from disan_tf.ops.elementwise import LeakyReLU


class DynamicSelfAttention(BaseLayer):
    """Dynamic self-attention, DSA Eq. 6, 7 and Algorithm 1.

    For the words i and the attentions j = 1 ... m, from q_ij = 0, `iterations` times:

    xhat_j|i = LeakyReLU(W_j x_i + b_j)                 (Eq. 6)
    a_ij = softmax over the words i of q_ij             (line 4)
    s_j = sum_i a_ij xhat_j|i                           (line 5)
    z_j = tanh(s_j)                                     (line 6)
    q_ij = q_ij + <xhat_j|i, z_j>                       (line 7)

    and z = [z_1; ...; z_m] of the last iteration (Eq. 7). In the first iteration s_j is the mean of
    the words. Line 7 of the last one changes no z, so it is left out. Lines 4 to 7 are float32 for
    every dtype. W_j starts by the rule of He et al. (2015), b_j at 0.

    300-dimensional words: 180,600 parameters with one attention of 600 units, 722,400 with 8 of
    300.

    Args:
      units: size of each z_j, d_o.
      attentions: how many in parallel, m.
      iterations: r; 1 makes it the tanh of the mean.
      negative_slope: of LeakyReLU.
      dropout, l2, seed: see `BaseLayer`; W is regularised and its input dropped. The paper drops
        nothing here.

    Call arguments:
      x: <float>[batch, length, dim], finite on padding too; or its tokens, <float>[tokens, dim].
      mask: <bool>[batch, length], True = real token.
      sentences: where x are tokens, what makes [batch, length, dim] of them.
      training: whether dropout acts.

    Returns:
      z, <float>[batch, attentions * units]; exactly 0 for a sentence without tokens.

    Raises:
      ValueError: less than one attention or iteration.

    Example:
      >>> attention = DynamicSelfAttention(units=3, attentions=2)
      >>> attention(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 6])
    """

    def __init__(
        self, units: int = 600, attentions: int = 1, iterations: int = 2,
        negative_slope: float = 0.01, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        if attentions < 1:
            raise ValueError(f"attentions={attentions!r}; there is at least 1.")
        if iterations < 1:
            raise ValueError(f"iterations={iterations!r}; there is at least 1.")
        self.units = units
        self.attentions = attentions
        self.iterations = iterations
        self.negative_slope = negative_slope

    def build(self, input_shape):
        self.projection = self.add_linear(  # all W_j and b_j
            "projection", input_shape[-1], self.attentions * self.units,
            kernel_initializer=he_normal(site_seed(self.seed, "projection")),
        )  # fmt: skip
        super().build(input_shape)

    def call(self, x, mask, sentences=None, training=None):
        _, vectors = self._iterate(x, mask, sentences, training)
        z = tf.reshape(vectors[-1], [-1, self.attentions * self.units])  # Eq. 7
        return tf.cast(z, self.compute_dtype)

    def attend(self, x, mask, sentences=None):
        """The weights without dropout, which sum to 1 over the tokens.

        Returns:
          A dictionary of <float32>[batch, length, attentions]: "attention" of the last iteration,
          which the paper draws (Fig. 3 and 4), and "attention_1", "attention_2" and so on of those
          before it. "attention_1" weighs all tokens alike.
        """
        weights, _ = self._iterate(x, mask, sentences)
        *earlier, last = (tf.transpose(a[:, :, 0], [0, 2, 1]) for a in weights)
        named = {f"attention_{number}": a for number, a in enumerate(earlier, 1)}
        return {**named, "attention": last}

    def weight_vectors(self, x, mask, sentences=None):
        """z_j of each iteration without dropout, <float32>[batch, iterations, attentions, units].

        That of the last but one is the dynamic weight vector which the paper's Fig. 2 shows.
        """
        return tf.stack([z[:, :, 0] for z in self._iterate(x, mask, sentences)[1]], axis=1)

    def _iterate(self, x, mask, sentences=None, training=None):
        """Of each iteration a <float32>[batch, attentions, 1, length], and z, ending in units."""
        projected = self._project(x, mask, sentences, training)
        q = tf.zeros(tf.shape(projected)[:3])[:, :, None]  # [batch, attentions, 1, length]
        weights, vectors = [], []
        for iteration in range(self.iterations):
            if iteration:
                q += tf.matmul(vectors[-1], projected, transpose_b=True)  # line 7
            weights.append(masked_softmax(q, mask[:, None, None], axis=-1))  # line 4
            vectors.append(tf.tanh(tf.matmul(weights[-1], projected)))  # lines 5 and 6
        return weights, vectors

    def _project(self, x, mask, sentences, training):
        """xhat of Eq. 6, <float32>[batch, attentions, length, units]."""
        product = self.projection.product(x, training)
        projected = self.projection.activate(product, LeakyReLU(self.negative_slope))
        if sentences is not None:
            projected = sentences(projected)
        split = [*tf.unstack(tf.shape(mask)), self.attentions, self.units]
        # One copy for all iterations; none if there is one attention.
        projected = tf.transpose(tf.reshape(projected, split), [0, 2, 1, 3])
        return tf.cast(projected, tf.float32)

    def get_config(self):
        config = {
            "units": self.units,
            "attentions": self.attentions,
            "iterations": self.iterations,
            "negative_slope": self.negative_slope,
        }
        return {**super().get_config(), **config}
