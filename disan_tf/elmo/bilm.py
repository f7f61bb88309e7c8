"""A bidirectional language model (biLM), as an encoder of words in their context."""

from collections.abc import Sequence
from typing import Optional

import tensorflow as tf

from disan_tf.common.checks import check_at_least, check_layers
from disan_tf.elmo.projected_lstm import ProjectedLSTM, States
from disan_tf.elmo.token_encoder import TokenEncoder
from disan_tf.layers.base import BaseLayer
from disan_tf.layers.dropout import site_seed
from disan_tf.layers.keras_layer import build_child
from disan_tf.layers.serialization import serializable
from disan_tf.ops.tracing import on_host
from disan_tf.text.characters import sentence_markers

DIRECTIONS = ("forward", "backward")


@serializable
class BiLM(BaseLayer):
    """All layers of ELMo's biLM (Peters et al. 2018; ELMo-DiSAN paper, Sec. III-A, Eq. 14).

    A sentence is read between two marker words, for its begin and its end, whose vectors are not
    returned. Layer 0 is the word's own vector, twice; layer j is [forward_j; backward_j], where
    each direction's layer reads the layer below.

    Sentences are independent of each other here. The official code carries each row's states on
    from one batch to the next; `advance` does so if it gets the states after the previous batch.

    Args:
      units: size of a direction's output, the official projection_dim.
      cells: size of a direction's memory.
      layers: number of recurrent layers in each direction.
      filters, character_dim, highways, activation: see `TokenEncoder`.
      cell_clip, projection_clip: see `ProjectedLSTM`.
      skip_connections: whether a layer above the first adds its input to its output.
      word_length: number of characters in a word.
      dropout: rate at the input of each recurrent layer.
      l2, seed: see `BaseLayer`.

    Call arguments:
      characters: <int32>[batch, length, word_length], see `disan_tf.text.characters.byte_ids`.
      mask: <bool>[batch, length], True = real token; padding stands at the end.
      training: whether dropout acts.

    Returns:
      <float>[batch, length, 1 + layers, 2 * units]; exactly 0 on padding.
    """

    reads_vectors = False

    def __init__(
        self,
        units: int,
        cells: int,
        filters: Sequence[tuple[int, int]],
        layers: int = 2,
        character_dim: int = 16,
        highways: int = 2,
        activation: str = "relu",
        cell_clip: float = 3.0,
        projection_clip: float = 3.0,
        skip_connections: bool = False,
        word_length: int = 50,
        **kwargs,
    ):
        super().__init__(**kwargs)
        check_at_least("word_length", word_length, 3)  # a byte between two markers
        if any(width > word_length for width, _ in filters):
            raise ValueError(f"filters={filters} must be at most as wide as a word, {word_length}.")
        self.units = units
        self.cells = cells
        self.filters = [list(pair) for pair in filters]
        self.layers = check_layers("layers", layers)
        self.character_dim = check_at_least("character_dim", character_dim, 1)
        self.highways = highways
        self.activation = activation
        self.cell_clip = cell_clip
        self.projection_clip = projection_clip
        self.skip_connections = skip_connections
        self.word_length = word_length
        self.tokens = TokenEncoder(
            units,
            filters,
            character_dim,
            highways,
            activation,
            l2=self.l2,
            seed=site_seed(self.seed, "tokens"),
            name="tokens",
            dtype=self.dtype_policy,
        )
        self.forward, self.backward = map(self._make_stack, DIRECTIONS)

    def build(self, input_shape):
        build_child(self.tokens, [None, None, self.word_length])
        for lstm in (*self.forward, *self.backward):
            build_child(lstm, [None, None, self.units])
        self.dropouts = [self.add_dropout(f"dropout_{number}") for number in range(self.layers)]
        super().build(input_shape)

    def _make_stack(self, direction):
        return [
            ProjectedLSTM(
                self.units,
                self.cells,
                direction == "backward",
                self.cell_clip,
                self.projection_clip,
                l2=self.l2,
                seed=site_seed(self.seed, name),
                name=name,
                dtype=self.dtype_policy,
            )
            for name in (f"{direction}_{number}" for number in range(self.layers))
        ]

    def call(self, characters, mask, training=None):
        return self.advance(characters, mask, training=training)[0]

    def advance(
        self, characters, mask, states: Optional[Sequence[States]] = None, training=None
    ) -> tuple[tf.Tensor, list[States]]:
        """Returns the result of a call, and the states after this batch.

        Args:
          characters, mask, training: see the call arguments.
          states: states of the forward layers, then of the backward layers; None = zeros. As in
            the official code, a smaller batch continues the first rows and keeps the other rows;
            in a larger batch, additional rows start from zeros.
        """
        x, real = self.encode_tokens(characters, mask)
        layers, after = self.read(x, real, states, training)
        inner = layers[:, 1:-1]  # without the markers
        return tf.where(mask[:, :, None, None], inner, tf.zeros([], inner.dtype)), after

    def encode_tokens(self, characters, mask) -> tuple[tf.Tensor, tf.Tensor]:
        """Computes vectors of words and markers, <float>[batch, length + 2, units], and their mask.

        The vectors are arbitrary on padding.
        """
        begin, end = sentence_markers(self.word_length)
        with on_host():
            characters = tf.where(mask[:, :, None], characters, 0)
            characters = tf.pad(characters, [[0, 0], [1, 1], [0, 0]])
            count = tf.reduce_sum(tf.cast(mask, tf.int32), axis=1)
            positions = tf.range(tf.shape(characters)[1])[None, :, None]
            characters = tf.where(positions == 0, begin, characters)
            characters = tf.where(positions == count[:, None, None] + 1, end, characters)
            mask = tf.sequence_mask(count + 2, tf.shape(characters)[1])
        return self.tokens(characters), mask

    def read(self, x, mask, states=None, training=None) -> tuple[tf.Tensor, list[States]]:
        """Returns all layers, <float>[batch, length, 1 + layers, 2 * units], and the states.

        x <float>[batch, length, units] are word vectors with their `mask`; see `advance`.
        """
        both, after = [], []
        for direction, stack in enumerate((self.forward, self.backward)):
            outputs = [x]
            for number, lstm in enumerate(stack):
                below = self.dropouts[number](outputs[-1], training=training)
                old = states and states[direction * self.layers + number]
                h, state = lstm(below, mask=mask, states=old and _rows(old, tf.shape(x)[0]))
                outputs.append(h + below if self.skip_connections and number else h)
                if old:  # a smaller batch keeps the remaining rows
                    pairs = zip(state, old)
                    state = tuple(tf.concat([b, a[tf.shape(b)[0] :]], axis=0) for b, a in pairs)
                after.append(state)
            both.append(tf.stack(outputs, axis=2))
        return tf.concat(both, axis=-1), after


def _rows(states: States, count) -> States:
    """Returns the first `count` rows, with zeros for missing rows."""
    return tuple(
        tf.pad(state[:count], [[0, tf.maximum(0, count - tf.shape(state)[0])], [0, 0]])
        for state in states
    )


def official_tensors(bilm: BiLM) -> dict[str, tf.Variable]:
    """Returns official name -> weight of a biLM."""
    tokens = bilm.tokens
    tensors = {"char_embed": tokens.vectors}
    for number, pair in enumerate(zip(tokens.kernels, tokens.biases)):
        tensors.update(zip([f"CNN/W_cnn_{number}", f"CNN/b_cnn_{number}"], pair))
    for number, highway in enumerate(tokens.highway):
        # y = carry * transformed + (1 - carry) * x: the official "carry" gate is our gate.
        for name, part in {"carry": highway.gate, "transform": highway.transform}.items():
            tensors[f"CNN_high_{number}/W_{name}"] = part.dense.kernel
            tensors[f"CNN_high_{number}/b_{name}"] = part.dense.bias
    if tokens.projection is not None:
        tensors["CNN_proj/W_proj"] = tokens.projection.dense.kernel
        tensors["CNN_proj/b_proj"] = tokens.projection.dense.bias
    for direction, stack in enumerate((bilm.forward, bilm.backward)):
        for number, lstm in enumerate(stack):
            place = cell_name(direction, number)
            tensors[f"{place}/W_0"] = lstm.kernel
            tensors[f"{place}/B"] = lstm.bias
            if lstm.cells > lstm.units:
                tensors[f"{place}/W_P_0"] = lstm.projection
    return tensors


def cell_name(direction: int, number: int) -> str:
    """Returns the prefix of a layer's tensor names; direction 0 is forward, 1 backward."""
    return f"RNN_{direction}/RNN/MultiRNNCell/Cell{number}/LSTMCell"
