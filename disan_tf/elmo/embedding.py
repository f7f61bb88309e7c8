"""What an ELMo-fed model reads of a word: the mixed layers of a biLM, and perhaps its vector."""

from typing import Optional

import numpy as np
import tensorflow as tf

from disan_tf.elmo.bilm import BiLM
from disan_tf.elmo.scalar_mix import ScalarMix
from disan_tf.layers.base import BaseLayer
from disan_tf.layers.embedding.words import WordEmbedding


class ElmoEmbedding(BaseLayer):
    """ELMo vectors, ELMo_k = gamma * sum_j s_j h_kj (ELMo-DiSAN paper, Eq. 13), of each word.

    Args:
      bilm: the arguments of the `BiLM`, of the Keras dtype policy of this layer.
      learns: whether the biLM is trained with the task; its dropout acts only then.
      normalize, mix_l2: see `ScalarMix`.
      words: None, or the arguments of a `WordEmbedding` whose vectors stand after ELMo's.
      dropout, l2, seed: see `BaseLayer`; `dropout` is the biLM's.

    Call arguments:
      ids: <int32>[batch, length], 0 = padding.
      characters: <int32>[batch, length, word_length], see `disan_tf.text.characters.byte_ids`; or
      layers: <float>[batch, length, layers, dim], what the biLM makes of them.
      training: whether dropout acts.

    Returns:
      <float>[batch, length, dim, and that of the words]; exactly 0 on padding.
    """

    def __init__(
        self, bilm: dict, learns: bool = False, normalize: bool = False, mix_l2: float = 0.0,
        words: Optional[dict] = None, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self._bilm_options = dict(bilm)
        self.learns = learns
        self.normalize = normalize
        self.mix_l2 = mix_l2
        self._word_options = words and dict(words)

    def build(self, input_shape):
        self.bilm = BiLM(
            **self._bilm_options, dropout=self.dropout, l2=self.l2 if self.learns else 0.0,
            seed=self.seed, name="bilm", dtype=self.dtype_policy,
        )  # fmt: skip
        self.bilm.build([None, None, self.bilm.word_length])
        self.bilm.trainable = self.learns
        self.mix = ScalarMix(
            1 + self.bilm.layers, self.normalize, self.mix_l2, name="mix", dtype=self.dtype_policy
        )
        self.mix.build([None, None, 1 + self.bilm.layers, 2 * self.bilm.units])
        self.words = None
        if self._word_options:
            self.words = WordEmbedding(**self._word_options, name="words", dtype=self.dtype_policy)
            self.words.build(None)
        super().build(input_shape)

    @property
    def bilm_options(self) -> dict:
        """The arguments of the `BiLM`, as JSON can hold them; Keras wraps them."""
        options = dict(self._bilm_options)
        return {**options, "filters": [[int(n) for n in each] for each in options["filters"]]}

    def set_vectors(self, vectors: np.ndarray) -> None:
        """Assigns those of the words, where there are any; see `WordEmbedding.set_vectors`."""
        if self.words is not None:
            self.words.set_vectors(vectors)

    def call(self, ids, characters=None, layers=None, training=None):
        mask = tf.not_equal(ids, 0)
        if layers is None:
            layers = self.bilm(characters, mask=mask, training=training and self.learns)
        mixed = self.mix(tf.cast(layers, self.compute_dtype), mask=mask)
        if self.words is None:
            return mixed
        return tf.concat([mixed, self.words(ids)], axis=-1)

    def get_config(self):
        config = {
            "bilm": self.bilm_options,
            "learns": self.learns,
            "normalize": self.normalize,
            "mix_l2": self.mix_l2,
            "words": self._word_options and dict(self._word_options),
        }
        return {**super().get_config(), **config}
