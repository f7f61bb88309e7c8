"""Vectors of words from their characters."""

import tensorflow as tf

from disan_tf.common.options import check_at_least
from disan_tf.layers.base import BaseLayer
from disan_tf.layers.children import build_child
from disan_tf.layers.convolution.convolution import Convolution
from disan_tf.layers.packing import unique_words
from disan_tf.layers.serialization import serializable
from disan_tf.ops.devices import on_host
from disan_tf.ops.xla import ensure_shape


@serializable
class CharacterCNN(BaseLayer):
    """The maxima of a convolution over a word's characters (multiway DRCN Sec. 3.1.1 and 4.1).

    With c_t the vector of the t-th character, and 0 before the first and after the last,

        w = dropout(max_t ReLU(W [c_(t-before); ...; c_(t+after)] + b))

    where before = (width - 1) // 2 and after = width // 2. Id 0 is padding: its vector is 0 and
    never trained, and t skips padding, so more padding changes nothing. The other vectors are
    initialised by the standard normal distribution, W by Glorot's rule and b to 0.

    Equal words are computed once: a quarter of the time on a batch of SNLI, see the layers' README.

    Parameters: (characters - 1) * dim + width * dim * units + units; 4,112 for 96 ids.

    Args:
      characters: number of ids, padding included.
      units: size of w.
      dim: size of c_t.
      width: characters in a window.
      dropout, l2, seed: see `BaseLayer`; dropout acts on w, and W is regularised.

    Call arguments:
      characters: <int32>[batch, length, word length], or any other [..., word length]; word length
        is at least 1.
      training: whether dropout acts.

    Returns:
      w, <float>[batch, length, units]; exactly 0 for a word without characters.

    Raises:
      ValueError: a width under 1, or no id besides padding.

    Example:
      >>> CharacterCNN(96)(tf.ones([2, 5, 8], tf.int32)).shape
      TensorShape([2, 5, 32])
    """

    reads_vectors = False

    def __init__(self, characters: int, units: int = 32, dim: int = 16, width: int = 5, **kwargs):
        super().__init__(**kwargs)
        self.characters = check_at_least("characters", characters, 2)  # padding is one
        self.units = check_at_least("units", units, 1)
        self.dim = check_at_least("dim", dim, 1)
        self.width = check_at_least("width", width, 1)

    def build(self, input_shape):
        shape, start = [self.characters - 1, self.dim], tf.keras.initializers.RandomNormal(stddev=1)
        self.vectors = self.add_weight(name="vectors", shape=shape, initializer=start)
        self.convolution = Convolution(
            self.units, self.width, "relu", l2=self.l2, name="convolution", dtype=self.dtype_policy
        )
        build_child(self.convolution, [None, None, self.dim])
        self.output_dropout = self.add_dropout("output_dropout")
        super().build(input_shape)

    def call(self, characters, training=None):
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
