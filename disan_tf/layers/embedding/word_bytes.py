"""Words as bytes, for an encoder that reads bytes."""

import tensorflow as tf

from disan_tf.common.options import check_at_least
from disan_tf.layers.embedding.base import Embedding
from disan_tf.layers.serialization import serializable


@serializable
class WordBytes(Embedding):
    """The byte ids of words, unchanged; a `BiLM` turns them into vectors.

    Args:
      word_length: number of bytes in a word, markers included.

    Call arguments:
      ids: <int32>[batch, length], 0 = padding; not used.
      characters: <int32>[batch, length, word_length], see `disan_tf.text.characters.byte_ids`.

    Returns:
      `characters`.
    """

    def __init__(self, word_length: int = 50, **kwargs):
        super().__init__(**kwargs)
        self.word_length = check_at_least("word_length", word_length, 3)

    @property
    def word_features(self):
        return {"characters": tf.TensorSpec([None, None, self.word_length], tf.int32)}

    def call(self, ids, characters, training=None):
        return characters
