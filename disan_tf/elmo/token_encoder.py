"""The vectors of words without their context: characters, convolutions, highway layers."""

from collections.abc import Sequence

import tensorflow as tf

from disan_tf.common.checks import check_at_least, check_choice, check_layers
from disan_tf.layers.base import BaseLayer
from disan_tf.layers.feed_forward import Highway
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import ROWS_MULTIPLE, surplus, unique_words
from disan_tf.ops.tracing import ensure_shape, is_jit_compiled, on_host
from disan_tf.text.characters import BYTE_CHARACTERS, real_length

ACTIVATIONS = ("relu", "tanh")


@serializable
class TokenEncoder(BaseLayer):
    """The token representation of ELMo (Peters et al. 2018; Theta_t of the ELMo-DiSAN paper).

    With c_t the vector of the t-th character of a word of `word_length`, padding included, and for
    each filter of width w

        m = activation(max_t (W_w [c_t; ...; c_(t+w-1)] + b_w))

    the concatenation of all m runs through highway layers (`Highway` with ReLU) and a linear map;
    the map is left out if it would keep the size, as in the official code.

    Padding after a word has a vector of its own. All windows of padding alone are equal and one is
    enough, so words are cut to the longest word of the batch. Equal words are computed once.

    Args:
      units: size of a word's vector.
      filters: (width, number of filters) of each convolution.
      dim: size of c_t.
      highways: number of highway layers.
      activation: "relu" or "tanh", as in the official models.
      dropout, l2, seed: see `BaseLayer`; there is no dropout here.

    Call arguments:
      characters: <int32>[..., word_length], see `disan_tf.text.characters.byte_ids`.

    Returns:
      <float>[..., units]; a word of zeros has the result for zero vectors.
    """

    reads_vectors = False

    def __init__(
        self,
        units: int,
        filters: Sequence[tuple[int, int]],
        dim: int = 16,
        highways: int = 2,
        activation: str = "relu",
        **kwargs,
    ):
        super().__init__(**kwargs)
        if not filters or min(min(pair) for pair in filters) < 1:
            raise ValueError(
                f"filters={filters} must have at least one (width, count), both at least 1."
            )
        self.units = check_at_least("units", units, 1)
        self.filters = [tuple(pair) for pair in filters]
        self.dim = check_at_least("dim", dim, 1)
        self.highways = check_layers("highways", highways, least=0)
        self.activation = check_choice("activation", activation, ACTIVATIONS)

    def build(self, input_shape):
        shape = [BYTE_CHARACTERS, self.dim]
        self.vectors = self.add_weight(name="vectors", shape=shape, initializer=_uniform(1.0))
        self.kernels, self.biases = [], []
        for number, (width, count) in enumerate(self.filters):
            start = _uniform(0.05) if self.activation == "relu" else _normal(width * self.dim)
            options = {"shape": [width, self.dim, count], "initializer": start}
            self.kernels.append(self.add_weight(name=f"kernel_{number}", **options))
            options = {"shape": [count], "initializer": "zeros"}
            self.biases.append(self.add_weight(name=f"bias_{number}", **options))
        features = sum(count for _, count in self.filters)
        shape = [None, features]
        self.highway = [
            self.add_child(Highway, f"highway_{number}", shape, "relu", dropout=0.0)
            for number in range(self.highways)
        ]
        self.projection = None
        if features != self.units:
            self.projection = self.add_linear("projection", features, self.units, dropout=0.0)
        super().build(input_shape)

    def call(self, characters):
        with on_host():
            words = tf.reshape(characters, [-1, tf.shape(characters)[-1]])
            words = tf.pad(words, [[1, 0], [0, 0]])  # at least one word
            words, places = unique_words(words)
        vectors = tf.gather(self._encode(words), places[1:])
        shape = tf.concat([tf.shape(characters)[:-1], [self.units]], axis=0)
        return ensure_shape(tf.reshape(vectors, shape), [*characters.shape[:-1], self.units])

    def _encode(self, words):
        """Encodes <int32>[words, word_length] as <float>[words or more, units]."""
        widest = max(width for width, _ in self.filters)
        with on_host():
            words = tf.pad(words, [[0, surplus(tf.shape(words)[0], ROWS_MULTIPLE)], [0, 0]])
            if not is_jit_compiled():
                words = words[:, : real_length(words) + widest]
        x = tf.gather(tf.pad(self.vectors, [[1, 0], [0, 0]]), words)  # [words, characters, dim]
        maxima = [
            tf.reduce_max(tf.nn.conv1d(x, kernel, 1, "VALID"), axis=1) + bias
            for kernel, bias in zip(self.kernels, self.biases)
        ]
        y = tf.keras.activations.get(self.activation)(tf.concat(maxima, axis=-1))
        for highway in self.highway:
            y = highway(y)
        return y if self.projection is None else self.projection(y)

    def get_config(self):
        return {**super().get_config(), "filters": [list(pair) for pair in self.filters]}


def _uniform(limit):
    return tf.keras.initializers.RandomUniform(-limit, limit)


def _normal(inputs):
    return tf.keras.initializers.RandomNormal(stddev=inputs**-0.5)
