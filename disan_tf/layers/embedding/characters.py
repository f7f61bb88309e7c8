"""DRCN's input for a word: two copies of its vector, its characters, and a flag."""

from typing import Optional

import tensorflow as tf

from disan_tf.common.options import check_at_least
from disan_tf.layers.base import BaseLayer
from disan_tf.layers.children import build_child
from disan_tf.layers.dropout import site_seed
from disan_tf.layers.embedding.base import Embedding
from disan_tf.layers.embedding.character_cnn import CharacterCNN
from disan_tf.layers.embedding.words import WordEmbedding
from disan_tf.layers.serialization import serializable


@serializable
class WordCharacterEmbedding(BaseLayer, Embedding):
    """The vector [fixed vector; trainable vector; characters; exact-match flag] of each word.

    Section 3.1.1 of the multiway DRCN paper, after Kim et al. (2018). Both vectors start from
    one pretrained vector; for words outside the training data both stay fixed.

    Parameters: 4,112 with 16 numbers a character, 32 maps and windows of 5 characters. As in the
    papers, this count leaves out the vectors.

    Args:
      trainable_words, fixed_words, dim: see `WordEmbedding`.
      word_length: number of characters in a word; None = any number.
      characters: number of character ids, see `CharacterCNN`.
      character_dim, character_units, character_width: `dim`, `units` and `width` of `CharacterCNN`.
      dropout, l2, seed: see `BaseLayer`; there is no dropout, the convolution is regularised.

    Call arguments:
      ids: <int32>[batch, length], 0 = padding.
      characters: <int32>[batch, length, word length], 0 after the end of a word.
      match: <int32>[batch, length], 1 where the other sentence has the word's stem or lemma.

    Returns:
      <float>[batch, length, 2 * dim + character_units + 1]; exactly 0 on padding.
    """

    reads_vectors = False

    def __init__(
        self,
        trainable_words: int,
        fixed_words: int,
        dim: int,
        word_length: Optional[int] = None,
        characters: int = 96,
        character_dim: int = 16,
        character_units: int = 32,
        character_width: int = 5,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.words = {"trainable_words": trainable_words, "fixed_words": fixed_words, "dim": dim}
        self.word_length = check_at_least("word_length", word_length, 1)
        self.characters = characters
        self.character_dim = check_at_least("character_dim", character_dim, 1)
        self.character_units = check_at_least("character_units", character_units, 1)
        self.character_width = check_at_least("character_width", character_width, 1)

    def build(self, input_shape):
        options = {**self.words, "dtype": self.dtype_policy}
        self.learned = WordEmbedding(**options, trainable=self.trainable, name="learned")
        self.constant = WordEmbedding(**options, trainable=False, name="constant")
        self.spelling = CharacterCNN(
            self.characters,
            dim=self.character_dim,
            units=self.character_units,
            width=self.character_width,
            l2=self.l2,
            seed=site_seed(self.seed, "spelling"),
            name="spelling",
            dtype=self.dtype_policy,
        )
        for layer in (self.learned, self.constant):
            build_child(layer, input_shape)
        build_child(self.spelling, [None, None, None])
        super().build(input_shape)

    @property
    def word_features(self):
        return {
            "characters": tf.TensorSpec([None, None, self.word_length], tf.int32),
            "match": tf.TensorSpec([None, None], tf.int32),
        }

    def set_pretrained(self, vectors, bilm=None):
        """Assigns the same vectors to both copies, see `WordEmbedding.set_vectors`."""
        self.learned.set_vectors(vectors)
        self.constant.set_vectors(vectors)

    def without_partner(self, characters, match):
        return characters, tf.zeros_like(match)

    def call(self, ids, characters, match, training=None):
        spelling = self.spelling(characters)
        flag = tf.cast(match, spelling.dtype)[:, :, None]
        return tf.concat([self.constant(ids), self.learned(ids), spelling, flag], axis=-1)

    def get_config(self):
        return {**super().get_config(), **self.words}
