"""Words from their characters: bytes, a CNN, and DRCN's features of words."""

from typing import Any, Optional

import numpy as np
import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least, check_between
from disan_tf.layers.base import BaseLayer, LayerOptions
from disan_tf.layers.convolution import Convolution
from disan_tf.layers.embedding.words import Embedding, WordEmbedding
from disan_tf.layers.keras_layer import build_child
from disan_tf.layers.serialization import KerasOptions, serializable
from disan_tf.layers.tokens import unique_words
from disan_tf.ops.tracing import ensure_shape, on_host
from disan_tf.text.characters import LONGEST_WORD


@serializable
class WordBytes(Embedding):
    """The byte ids of words, unchanged; a `BiLM` turns them into vectors.

    Args:
      word_length: number of bytes in a word, markers included; at least 3.

    Call arguments:
      ids: <int32>[batch, length], 0 = padding; not used.
      characters: <int32>[batch, length, word_length], see `disan_tf.text.characters.byte_ids`.
    """

    def __init__(self, word_length: int = 50, **kwargs: Unpack[KerasOptions]) -> None:
        super().__init__(**kwargs)
        self.word_length = check_between("word_length", word_length, 3, LONGEST_WORD)

    @property
    def word_features(self) -> dict[str, tf.TensorSpec]:
        return {"characters": tf.TensorSpec([None, None, self.word_length], tf.int32)}

    def call(
        self, ids: tf.Tensor, characters: tf.Tensor, training: Optional[bool] = None
    ) -> tf.Tensor:
        return characters


@serializable
class CharacterCNN(BaseLayer):
    """The maxima of a convolution over a word's characters (multiway DRCN Sec. 3.1.1 and 4.1).

    With c_t the vector of the t-th character, and 0 before the first and after the last,

        w = dropout(max_t ReLU(W [c_(t-before); ...; c_(t+after)] + b))

    where before = (width - 1) // 2 and after = width // 2. Id 0 is padding: its vector is 0 and
    never trained, and t skips padding, so more padding changes nothing. The other vectors are
    initialised by the standard normal distribution, W by Glorot's rule and b to 0. Equal words are
    computed once.

    Parameters: (characters - 1) * dim + width * dim * units + units; 4,112 for 96 ids.

    Args:
      characters: number of ids, padding included; at least 2.
      units: size of w.
      dim: size of c_t.
      width: characters in a window.
      dropout, l2, seed: see `BaseLayer`; dropout acts on w, and W is regularised.

    Call arguments:
      characters: <int32>[..., word length], such as [batch, length, word length]; word length is at
        least 1.
      training: whether dropout acts.

    Returns:
      w, <float>[..., units]; exactly 0 for a word without characters.
    """

    reads_vectors = False

    def __init__(
        self,
        characters: int,
        units: int = 32,
        dim: int = 16,
        width: int = 5,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.characters = check_at_least("characters", characters, 2)  # padding is one
        self.units = check_at_least("units", units, 1)
        self.dim = check_at_least("dim", dim, 1)
        self.width = check_at_least("width", width, 1)

    def build(self, input_shape: tf.TensorShape) -> None:
        shape, start = [self.characters - 1, self.dim], tf.keras.initializers.RandomNormal(stddev=1)
        self.vectors = self.add_weight(name="vectors", shape=shape, initializer=start)
        shape, options = [None, None, self.dim], {"dropout": 0.0, "seed": None}
        self.convolution = self.add_child(
            Convolution, "convolution", shape, self.units, self.width, "relu", **options
        )
        self.output_dropout = self.add_dropout("output_dropout")
        super().build(input_shape)

    def call(self, characters: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        *outer, length = tf.unstack(tf.shape(characters))
        with on_host():
            words = tf.reshape(characters, [tf.reduce_prod(outer), length])
            words = tf.pad(words, [[1, 0], [0, 0]])  # a convolution rejects an empty batch
            words, places = unique_words(words)
        table = tf.pad(self.vectors, [[1, 0], [0, 0]])  # [ids, dim]
        maps = self.convolution(tf.gather(table, words), mask=words != 0)  # 0 on padding
        vectors = tf.gather(tf.reduce_max(maps, axis=1), places[1:])
        vectors = tf.reshape(vectors, [*outer, self.units])
        vectors = ensure_shape(vectors, [*characters.shape[:-1], self.units])
        return self.output_dropout(vectors, training=training)


class _FixedEmbedding(WordEmbedding):
    """A `WordEmbedding` that never learns, also if the layers around it are unfrozen."""

    def _table(self, name: str, words: int, trainable: bool) -> tf.Variable:
        return super()._table(name, words, trainable=False)


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
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.words = {
            "trainable_words": check_at_least("trainable_words", trainable_words, 0),
            "fixed_words": check_at_least("fixed_words", fixed_words, 0),
            "dim": check_at_least("dim", dim, 1),
        }
        self.word_length = check_between("word_length", word_length, 1, LONGEST_WORD)
        self.characters = check_at_least("characters", characters, 2)
        self.character_dim = check_at_least("character_dim", character_dim, 1)
        self.character_units = check_at_least("character_units", character_units, 1)
        self.character_width = check_at_least("character_width", character_width, 1)

    compute_mask: Any = Embedding.compute_mask  # BaseLayer does not know that id 0 is padding

    def build(self, input_shape: tf.TensorShape) -> None:
        options = {**self.words, "dtype": self.dtype_policy}
        self.learned = WordEmbedding(**options, trainable=self.trainable, name="learned")
        self.constant = _FixedEmbedding(**options, name="constant")
        for layer in (self.learned, self.constant):
            build_child(layer, input_shape)
        sizes = self.characters, self.character_units, self.character_dim, self.character_width
        shape = [None, None, None]
        self.spelling = self.add_child(CharacterCNN, "spelling", shape, *sizes, dropout=0.0)
        super().build(input_shape)

    @property
    def word_features(self) -> dict[str, tf.TensorSpec]:
        return {
            "characters": tf.TensorSpec([None, None, self.word_length], tf.int32),
            "match": tf.TensorSpec([None, None], tf.int32),
        }

    def set_pretrained(
        self, vectors: np.ndarray, bilm: Optional[dict[str, np.ndarray]] = None
    ) -> None:
        """Assigns the same vectors to both copies, see `WordEmbedding.set_vectors`."""
        self.learned.set_vectors(vectors)
        self.constant.set_vectors(vectors)

    def without_partner(self, characters: tf.Tensor, match: tf.Tensor) -> tuple:
        return characters, tf.zeros_like(match)

    def call(
        self,
        ids: tf.Tensor,
        characters: tf.Tensor,
        match: tf.Tensor,
        training: Optional[bool] = None,
    ) -> tf.Tensor:
        spelling = self.spelling(characters)
        flag = tf.cast(match, spelling.dtype)[:, :, None]
        return tf.concat([self.constant(ids), self.learned(ids), spelling, flag], axis=-1)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **self.words}
