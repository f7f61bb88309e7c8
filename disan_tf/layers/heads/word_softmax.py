"""The losses of a language model that predicts words."""

import numpy as np
import tensorflow as tf

from disan_tf.layers.base import BaseLayer
from disan_tf.layers.dropout import site_seed

SLICE = 512  # tokens


class WordSoftmax(BaseLayer):
    """-ln p(word | h) with p = softmax(W h + b), shared by both directions (Theta_s of Eq. 12).

    In training the sum over all words, of exp(l) with l = W h + b, is estimated by

        exp(l_t) + sum_(s != t) exp(l_s) / (negatives * q_s)

    where t is the word that is right and the s are drawn by their frequency q, with replacement,
    the same for all tokens of a batch: an unbiased estimate (importance sampling, Bengio and
    Senecal 2003; the official training takes TensorFlow's sampled softmax). Which words are drawn
    is a function of (seed, count of training calls), as for dropout. Otherwise the sum is that over
    all words, for `SLICE` tokens after the other, so that it takes classes x `SLICE` floats.

    Args:
      classes: number of words.
      negatives: how many words are drawn.
      dropout, l2, seed: see `BaseLayer`; h is dropped, W is not regularised.

    Call arguments:
      h: <float>[tokens, dim].
      words: <int32>[tokens], the classes that are right.
      training: whether dropout acts and the sum is estimated.

    Returns:
      Losses in nats, <float32>[tokens].

    Raises:
      ValueError: no class or no negative.
    """

    def __init__(self, classes: int, negatives: int = 8192, **kwargs):
        super().__init__(**kwargs)
        for name, value in {"classes": classes, "negatives": negatives}.items():
            if value < 1:
                raise ValueError(f"{name}={value!r}; name at least 1.")
        self.classes = classes
        self.negatives = negatives

    def build(self, input_shape):
        shape = [self.classes, input_shape[-1]]
        start = tf.keras.initializers.RandomNormal(stddev=shape[1] ** -0.5)
        options = {"dtype": "float32", "experimental_autocast": False}
        self.kernel = self.add_weight("kernel", shape, initializer=start, **options)
        self.bias = self.add_weight("bias", [self.classes], initializer="zeros", **options)
        self.cumulative = self.add_weight(  # float32 would not tell rare words apart
            "cumulative", [self.classes], tf.float64, "zeros", trainable=False,
            experimental_autocast=False,
        )  # fmt: skip
        self.calls = self.add_weight("calls", [], tf.int64, "zeros", trainable=False)
        self.input_dropout = self.add_dropout("input_dropout")
        self.set_counts(np.ones(self.classes))
        super().build(input_shape)

    def set_counts(self, counts: np.ndarray) -> None:
        """Sets the frequencies by which words are drawn, <int or float>[classes], none below 1."""
        counts = np.maximum(np.asarray(counts, np.float64), 1.0)
        self.cumulative.assign(np.cumsum(counts) / np.sum(counts))

    def call(self, h, words, training=None):
        h = tf.cast(self.input_dropout(h, training=training), tf.float32)
        if training:
            return self._sampled(h, words)
        count = tf.shape(h)[0]
        rest = -count % SLICE
        slices = (
            tf.reshape(tf.pad(h, [[0, rest], [0, 0]]), [-1, SLICE, h.shape[-1]]),
            tf.reshape(tf.pad(words, [[0, rest]]), [-1, SLICE]),
        )
        losses = tf.map_fn(
            lambda pair: self._whole(*pair), slices, parallel_iterations=1,
            fn_output_signature=tf.TensorSpec([SLICE], tf.float32),
        )  # fmt: skip
        return tf.reshape(losses, [-1])[:count]

    def _whole(self, h, words):
        logits = tf.matmul(h, self.kernel, transpose_b=True) + self.bias
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=words, logits=logits)

    def _sampled(self, h, words):
        seed = tf.stack([
            tf.constant(site_seed(self.seed, "negatives"), tf.int64), self.calls.assign_add(1)
        ])  # fmt: skip
        uniform = tf.random.stateless_uniform([self.negatives], seed, dtype=tf.float64)
        drawn = tf.minimum(tf.searchsorted(self.cumulative, uniform, "right"), self.classes - 1)
        right = tf.reduce_sum(h * tf.gather(self.kernel, words), axis=1)
        right += tf.gather(self.bias, words)
        others = tf.matmul(h, tf.gather(self.kernel, drawn), transpose_b=True)
        others += tf.gather(self.bias, drawn)
        others -= tf.math.log(float(self.negatives) * self._frequency(drawn))
        others = tf.where(drawn[None, :] == words[:, None], others.dtype.min, others)
        return tf.reduce_logsumexp(tf.concat([right[:, None], others], axis=1), axis=1) - right

    def _frequency(self, words):
        ends = tf.pad(self.cumulative, [[1, 0]])
        return tf.cast(tf.gather(ends, words + 1) - tf.gather(ends, words), tf.float32)

    def get_config(self):
        return {**super().get_config(), "classes": self.classes, "negatives": self.negatives}
