"""Two sentences that read each other -> whether the first contradicts, permits or entails."""

import tensorflow as tf

from disan_tf.encoders import PAIR_ENCODERS
from disan_tf.models.base import SentenceModel
from disan_tf.models.classification import Classification


class SentencePairMatcher(Classification, SentenceModel):
    """Word representation -> an encoder of pairs -> head (multiway DRCN, Sec. 3.1).

    With p and q the vectors that the encoder gives of premise and hypothesis, the head sees
    [p; q; p + q; p - q; |p - q|] (Eq. 5).

    Args:
      embedding: a `WordCharacterEmbedding`.
      encoder: a value of `PAIR_ENCODERS`.
      head: see `SentenceModel`; it has one class for each label.
      hypothesis_only: the premise counts as a sentence without tokens, and no word as matched: the
        control of Gururangan et al. (2018), what a corpus gives away without its premises.

    Call arguments:
      premise, hypothesis: <int32>[batch, length], 0 = padding; the lengths may differ.
      premise_characters, hypothesis_characters: <int32>[batch, length, word length].
      premise_match, hypothesis_match: <int32>[batch, length], see `WordCharacterEmbedding`.
      training: whether dropout acts.

    Returns:
      Logits, <float32>[batch, classes].
    """

    fields = ("premise", "hypothesis")
    word_features = {"characters": 3, "match": 2}
    options = ("hypothesis_only",)
    encoders = PAIR_ENCODERS
    encodes = False

    def __init__(self, *parts, hypothesis_only: bool = False, **kwargs):
        super().__init__(*parts, **kwargs)
        self.hypothesis_only = hypothesis_only

    def call(self, *inputs, training=None):
        p, q = self.encoder(*self._represent(*inputs), training=training)
        features = tf.concat([p, q, p + q, p - q, tf.abs(p - q)], axis=-1)  # Eq. 5
        return self.head(features, training=training)

    def attend(self, *inputs):
        """Co-attention without dropout, how the words of one sentence read those of the other.

        Returns:
          "premise_<function>_<layer>" <float32>[batch, premise length, hypothesis length, 1] and
          "hypothesis_<function>_<layer>", the lengths exchanged; layers count from 1. The weights
          of a word sum to 1 over the other sentence.
        """
        layers = self.encoder.attend(*self._represent(*inputs))
        return {
            f"{field}_{function}_{number}": weights[:, :, :, None]
            for number, functions in enumerate(layers, start=1)
            for function, both in functions.items()
            for field, weights in zip(self.fields, both)
        }

    def weight_vectors(self, *inputs) -> dict:
        """There are none."""
        return {}

    def _represent(self, premise, hypothesis, premise_characters, hypothesis_characters,
                   premise_match, hypothesis_match):  # fmt: skip
        """Words of both sentences and their masks."""
        if self.hypothesis_only:
            premise, premise_characters = tf.zeros_like(premise), tf.zeros_like(premise_characters)
            premise_match, hypothesis_match = (
                tf.zeros_like(match) for match in (premise_match, hypothesis_match)
            )
        first = self.embedding(premise, premise_characters, premise_match)
        second = self.embedding(hypothesis, hypothesis_characters, hypothesis_match)
        return first, second, tf.not_equal(premise, 0), tf.not_equal(hypothesis, 0)

    def get_config(self):
        return {**super().get_config(), "hypothesis_only": self.hypothesis_only}
