"""The loss of a language model that predicts words."""

from typing import Optional

import numpy as np
import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least
from disan_tf.layers.base import BaseLayer, LayerOptions
from disan_tf.layers.dropout import add_count, next_seed, site_seed
from disan_tf.layers.keras_layer import UNCAST, output_shape
from disan_tf.layers.serialization import serializable
from disan_tf.ops.masked_softmax import at_least_float32, wide_dtype

SLICE = 512  # tokens whose logits are in memory at once


@serializable
class WordSoftmax(BaseLayer):
    """The cross-entropy of the words that token vectors predict.

    loss = -ln p(word | h) = ln(sum over all words s of exp(l_s)) - l_word,  l = W h + b

    with the softmax parameters Theta_s of ELMo-DiSAN's Eq. 12, which both directions share. In
    training the sum is estimated by importance sampling (Bengio and Senecal 2003; the official
    training uses TensorFlow's sampled softmax) as

    exp(l_word) + sum over the samples s != word of exp(l_s) / (negatives * q_s)

    where the samples are drawn by their frequency q, with replacement, and are shared by all tokens
    of a batch; the estimate is unbiased. The samples of the n-th training call are a function of
    (seed, n), as in `Dropout`. Otherwise the sum is exact, and computed for `SLICE` tokens at a
    time to save memory.

    Args:
      classes: number of words.
      negatives: number of samples.
      dropout, l2, seed: see `BaseLayer`; dropout acts on h, W is not regularised.

    Call arguments:
      h: <float>[tokens, dim].
      words: <int32>[tokens], the correct classes.
      training: whether dropout acts and the sum is estimated.

    Returns:
      Losses in nats, <float32>[tokens].
    """

    def __init__(self, classes: int, negatives: int = 8192, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.classes = check_at_least("classes", classes, 1)
        self.negatives = check_at_least("negatives", negatives, 1)

    def build(self, h_shape: tf.TensorShape, words_shape: Optional[tf.TensorShape] = None) -> None:
        shape = [self.classes, h_shape[-1]]
        initializer = tf.keras.initializers.RandomNormal(stddev=shape[1] ** -0.5)
        options = {"dtype": wide_dtype(self.variable_dtype).name, **UNCAST}
        self.kernel = self.add_weight(
            name="kernel", shape=shape, initializer=initializer, **options
        )
        options = {**options, "shape": [self.classes], "initializer": "zeros"}
        self.bias = self.add_weight(name="bias", **options)
        options = {**options, "dtype": "float64", "trainable": False}
        self.cumulative = self.add_weight(name="cumulative", **options)  # sums of q, some tiny
        self.calls = add_count(self)
        self.input_dropout = self.add_dropout("input_dropout")
        self.set_counts(np.ones(self.classes))
        super().build(h_shape)

    def input_axes(self) -> dict[str, tuple[str, ...]]:
        return {"h": ("tokens", "dim"), "words": ("tokens",)}

    def compute_output_shape(
        self, h_shape: tf.TensorShape, words_shape: Optional[tf.TensorShape] = None
    ) -> tf.TensorShape:
        return output_shape(h_shape[:1])

    def set_counts(self, counts: np.ndarray) -> None:
        """Sets q from the words' counts, <int or float>[classes]; a count below 1 counts as 1."""
        counts = np.maximum(np.asarray(counts, np.float64), 1.0)
        self.cumulative.assign(np.cumsum(counts) / np.sum(counts))

    def call(self, h: tf.Tensor, words: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        h = at_least_float32(self.input_dropout(h, training=training))
        return self._sampled_losses(h, words) if training else self._exact_losses(h, words)

    def _exact_losses(self, h: tf.Tensor, words: tf.Tensor) -> tf.Tensor:
        count = tf.shape(h)[0]
        surplus = -count % SLICE
        slices = (
            tf.reshape(tf.pad(h, [[0, surplus], [0, 0]]), [-1, SLICE, h.shape[-1]]),
            tf.reshape(tf.pad(words, [[0, surplus]]), [-1, SLICE]),
        )
        losses = tf.map_fn(
            lambda pair: self._cross_entropy(*pair),
            slices,
            parallel_iterations=1,
            fn_output_signature=tf.TensorSpec([SLICE], h.dtype),
        )
        return tf.reshape(losses, [-1])[:count]

    def _cross_entropy(self, h: tf.Tensor, words: tf.Tensor) -> tf.Tensor:
        logits = tf.matmul(h, self.kernel, transpose_b=True) + self.bias
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=words, logits=logits)

    def _sampled_losses(self, h: tf.Tensor, words: tf.Tensor) -> tf.Tensor:
        seed = next_seed(site_seed(self.seed, "negatives"), self.calls)
        uniform = tf.random.stateless_uniform(
            [self.negatives], seed, dtype=tf.float64, alg="philox"
        )
        # As 64 bits, because a GPU leaves the arithmetic of 32 bits to the host.
        samples = tf.searchsorted(self.cumulative, uniform, "right", out_type=tf.int64)
        samples, words = tf.minimum(samples, self.classes - 1), tf.cast(words, tf.int64)
        correct = tf.reduce_sum(h * tf.gather(self.kernel, words), axis=1)
        correct += tf.gather(self.bias, words)
        logits = tf.matmul(h, tf.gather(self.kernel, samples), transpose_b=True)
        logits += tf.gather(self.bias, samples)
        logits -= tf.math.log(float(self.negatives) * self.frequencies(samples))
        logits = tf.where(samples[None, :] == words[:, None], logits.dtype.min, logits)
        return tf.reduce_logsumexp(tf.concat([correct[:, None], logits], axis=1), axis=1) - correct

    def frequencies(self, words: tf.Tensor) -> tf.Tensor:
        """Returns the frequencies q of words, <float32>[words]."""
        ends = tf.pad(self.cumulative, [[1, 0]])
        return tf.cast(tf.gather(ends, words + 1) - tf.gather(ends, words), self.kernel.dtype)
