"""One sentence, read by a biLM -> one of several classes."""

import tensorflow as tf

from disan_tf.elmo.cache import cache_layers
from disan_tf.elmo.weights import load_weights
from disan_tf.encoders import ENCODERS
from disan_tf.models.base import SentenceModel
from disan_tf.models.classification import Classification


class ElmoClassifier(Classification, SentenceModel):
    """ELMo -> encoder -> head (ELMo-DiSAN paper, Sec. III).

    In training the biLM's layers may come from a cache (`disan_tf.elmo.cache`) instead of its
    characters; what is trained is the same.

    Args:
      embedding: an `ElmoEmbedding`.
      encoder, head: see `SentenceModel`.

    Call arguments:
      ids: <int32>[batch, length], 0 = padding.
      words: <int32>[batch, length, word_length], their characters, see
        `disan_tf.text.characters.byte_ids`; or <float16>[batch, length, layers, dim] of the cache.
      training: whether dropout acts.

    Returns:
      Logits, <float32>[batch, classes].

    Attributes:
      cached: whether a batch of `reads` has the layers in place of the characters.
    """

    fields = ("sentence",)
    word_features = {"characters": 3}
    reads_bilm = True
    encoders = {name: kind for name, kind in ENCODERS.items() if kind.samplers == ()}

    def __init__(self, *parts, **kwargs):
        super().__init__(*parts, **kwargs)
        self.cached = False

    def read_corpus(self, corpus, config):
        """Takes the biLM's weights too, and gives the corpus its layers, if they are cached."""
        super().read_corpus(corpus, config)
        options, weights = corpus.bilm
        load_weights(self.embedding.bilm, weights, options)
        if config.elmo.cached:
            corpus.layers = cache_layers(corpus, self.embedding.bilm, config.elmo.phrases)
            self.cached = True

    def batch_specs(self):
        ids, characters = self.input_specs()
        if not self.cached:
            return [ids, characters]
        return [ids, tf.TensorSpec([None] * 4, tf.float16, "sentence_layers")]

    def zeros(self):
        word_length = self.embedding.bilm_options["word_length"]
        return [tf.zeros([1, 1], tf.int32), tf.zeros([1, 1, word_length], tf.int32)]

    def call(self, ids, words, training=None):
        return self.head(self.encode(ids, words, training=training), training=training)

    def represent(self, ids, words, training=None):
        kind = "layers" if words.dtype.is_floating else "characters"
        return self.embedding(ids, **{kind: words}, training=training)

    def attend(self, ids, words):
        """The encoder's named attention tensors for a batch."""
        return self.attend_sentence(ids, words)
