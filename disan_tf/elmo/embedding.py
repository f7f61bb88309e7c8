"""ELMo's vectors of words: the mixed layers of a biLM, and optionally word vectors."""

from typing import Optional

import tensorflow as tf

from disan_tf.common.checks import check_at_least
from disan_tf.elmo.bilm import BiLM, official_tensors
from disan_tf.layers.base import BaseLayer
from disan_tf.layers.embedding.words import Embedding, WordEmbedding
from disan_tf.layers.keras_layer import UNCAST, build_child
from disan_tf.layers.serialization import ConfiguredLayer, serializable
from disan_tf.ops.masked_softmax import at_least_float32, wide_dtype


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
      x: <float>[batch, length, layers, dim]; the result is [batch, length, dim], 0 on padding.
      mask: <bool>[batch, length], True = real token.
    """

    EPSILON = 1e-12

    def __init__(self, layers: int = 3, normalize: bool = False, l2: float = 0.0, **kwargs):
        super().__init__(**kwargs)
        self.layers = check_at_least("layers", layers, 1)
        self.normalize = normalize
        self.l2 = check_at_least("l2", l2, 0)

    def build(self, input_shape):
        options = {"dtype": wide_dtype(self.compute_dtype).name, **UNCAST}
        decay = {"regularizer": tf.keras.regularizers.L2(self.l2)} if self.l2 else {}
        shape = [self.layers]
        self.logits = self.add_weight(
            name="logits", shape=shape, initializer="zeros", **decay, **options
        )
        self.gamma = self.add_weight(name="gamma", shape=[], initializer="ones", **options)
        super().build(input_shape)

    def call(self, x, mask):
        if self.normalize:
            real, full = mask[:, :, None, None], at_least_float32(x)
            full = tf.where(real, full, tf.zeros([], full.dtype))
            count = tf.reduce_sum(tf.cast(mask, full.dtype))
            count = tf.maximum(tf.ones([], full.dtype), count) * float(x.shape[-1])
            mean = tf.reduce_sum(full, [0, 1, 3], keepdims=True) / count
            squares = tf.square((full - mean) * tf.cast(real, full.dtype))
            variance = tf.reduce_sum(squares, [0, 1, 3], keepdims=True) / count
            x = tf.cast((full - mean) * tf.math.rsqrt(variance + self.EPSILON), x.dtype)
        weights = self.gamma * tf.nn.softmax(self.logits)
        mixed = tf.einsum("bljd,j->bld", x, tf.cast(weights, x.dtype))
        return tf.where(mask[:, :, None], mixed, tf.zeros([], mixed.dtype))


@serializable
class ElmoEmbedding(BaseLayer, Embedding):
    """ELMo vectors, ELMo_k = gamma * sum_j s_j h_kj (ELMo-DiSAN paper, Eq. 13), of each word.

    Args:
      bilm: arguments of the `BiLM` except its dtype policy: it has the policy of this layer.
      cached: whether a call takes precomputed biLM layers in place of characters.
      trainable_bilm: whether the biLM is trained with the task; its dropout acts only then.
      normalize: see `ScalarMix`.
      words: None, or the arguments of a `WordEmbedding`, whose vectors follow the ELMo vectors.
      dropout, l2, seed: see `BaseLayer`; dropout acts in the biLM.

    Call arguments:
      ids: <int32>[batch, length], 0 = padding.
      words: <int32>[batch, length, word_length], see `disan_tf.text.characters.byte_ids`; or, if
        `cached`, layers of the biLM <float>[batch, length, layers, dim].
      training: whether dropout acts.

    Returns:
      <float>[batch, length, dim of ELMo + dim of the words]; exactly 0 on padding.
    """

    reads_vectors = False
    _removed = {"mix_l2": 0.0}
    compute_mask = Embedding.compute_mask  # BaseLayer does not know that id 0 is padding

    def __init__(
        self,
        bilm: dict,
        cached: bool = False,
        trainable_bilm: bool = False,
        normalize: bool = False,
        words: Optional[dict] = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self._bilm_options = dict(bilm)
        self.cached = cached
        self.trainable_bilm = trainable_bilm
        self.normalize = normalize
        self._word_options = words and dict(words)
        self.bilm = BiLM(
            **bilm,
            dropout=self.dropout,
            l2=self.l2 if trainable_bilm else 0.0,
            seed=self.seed,
            trainable=trainable_bilm,
            name="bilm",
            dtype=self.dtype_policy,
        )

    def build(self, input_shape):
        build_child(self.bilm, [None, None, self.bilm.word_length])
        layers = 1 + self.bilm.layers
        self.mix = ScalarMix(layers, self.normalize, name="mix", dtype=self.dtype_policy)
        build_child(self.mix, [None, None, 1 + self.bilm.layers, 2 * self.bilm.units])
        self.words = None
        if self._word_options:
            self.words = WordEmbedding(**self._word_options, name="words", dtype=self.dtype_policy)
            build_child(self.words, None)
        super().build(input_shape)

    @property
    def word_features(self):
        bilm = self.bilm
        if self.cached:
            shape = [None, None, 1 + bilm.layers, 2 * bilm.units]
            return {"layers": tf.TensorSpec(shape, tf.float16)}
        return {"characters": tf.TensorSpec([None, None, bilm.word_length], tf.int32)}

    @property
    def bilm_options(self):
        filters = self._bilm_options["filters"]  # Keras wraps lists, which JSON rejects
        return {**self._bilm_options, "filters": [[int(n) for n in pair] for pair in filters]}

    def set_pretrained(self, vectors, bilm=None):
        """Assigns the biLM's weights, and the word vectors if there are any."""
        for name, weight in official_tensors(self.bilm).items():
            weight.assign(bilm[name])
        if self.words is not None:
            self.words.set_vectors(vectors)

    def call(self, ids, words, training=None):
        mask = tf.not_equal(ids, 0)
        layers = words
        if not self.cached:
            layers = self.bilm(words, mask=mask, training=training and self.trainable_bilm)
        mixed = self.mix(tf.cast(layers, self.compute_dtype), mask=mask)
        if self.words is None:
            return mixed
        return tf.concat([mixed, self.words(ids)], axis=-1)

    def get_config(self):
        words = self._word_options and dict(self._word_options)
        return {**super().get_config(), "bilm": self.bilm_options, "words": words}
