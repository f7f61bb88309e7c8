"""Embeddings of words: their base class, and word vectors."""

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np
import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least
from disan_tf.layers.keras_layer import mask_tensor, not_equal, output_shape
from disan_tf.layers.serialization import ConfiguredLayer, KerasOptions, serializable
from disan_tf.ops.tracing import is_compiled, on_host


class Embedding(ConfiguredLayer):
    """Base of layers from words to vectors <float>[batch, length, dim], exactly 0 on padding.

    A subclass defines `call(ids, *features, training=None)`, with ids <int32>[batch, length] (0 =
    padding), then the `word_features` in their order. To add an embedding, enter an `EmbeddingKind`
    in `disan_tf.models.embeddings.EMBEDDINGS`. Its features must be in the batches of
    `disan_tf.input_pipeline.make_dataset`, and for raw text in the kind's `look_up`.

    Keras' argument `trainable=False` freezes all weights of the embedding.
    """

    def __init__(self, **kwargs: Unpack[KerasOptions]) -> None:
        super().__init__(autocast=False, **kwargs)  # half precision would round float ids
        self.supports_masking = True

    def compute_mask(self, ids: tf.Tensor, mask: Optional[tf.Tensor] = None) -> tf.Tensor:
        """Returns the real tokens, <bool>[batch, length]: `mask` if given, else ids != 0."""
        return not_equal(ids, 0) if mask is None else mask_tensor(mask)

    @property
    def word_features(self) -> dict[str, tf.TensorSpec]:
        """The arguments of a call besides the ids: name in a batch -> shape and dtype."""
        return {}

    @property
    def bilm_options(self) -> Optional[dict]:
        """The biLM's arguments in JSON types; None without a biLM."""
        return None

    def set_pretrained(
        self, vectors: np.ndarray, bilm: Optional[dict[str, np.ndarray]] = None
    ) -> None:
        """Assigns pretrained weights.

        Args:
          vectors: <float32>[words, dim], the word vectors of ids 2 and up.
          bilm: official name -> weight of a biLM, see `disan_tf.elmo.bilm.official_tensors`.
        """

    def without_partner(self, *features: Any) -> tuple:
        """Returns the `word_features` of a sentence as if it had no partner in a pair."""
        return features


@serializable
class WordEmbedding(Embedding):
    """Vectors of token ids, from a trainable and a fixed table.

    Id 0 is padding and id 1 the unknown word; both have the zero vector and are never trained. Then
    come the trainable words (from the training data), then the fixed words (from the pretrained
    vectors only). Each table looks up its own ids alone, so that a training step touches no row
    outside the batch.

    Args:
      trainable_words: rows of the trainable table.
      fixed_words: rows of the fixed table.
      dim: size of a vector.
      trainable: whether training changes the trainable table; it never changes the fixed one.

    Call arguments:
      ids: <int32>[batch, length].

    Returns:
      <float>[batch, length, dim].
    """

    FIRST_WORD = 2

    def __init__(
        self, trainable_words: int, fixed_words: int, dim: int, **kwargs: Unpack[KerasOptions]
    ) -> None:
        super().__init__(**kwargs)
        self.trainable_words = check_at_least("trainable_words", trainable_words, 0)
        self.fixed_words = check_at_least("fixed_words", fixed_words, 0)
        self.dim = check_at_least("dim", dim, 1)

    def build(self, input_shape: tf.TensorShape) -> None:
        # Keras leaves this table out of the trainable weights while the layer is frozen.
        self.trained = self._table("trained", self.trainable_words, trainable=True)
        self.fixed = self._table("fixed", self.fixed_words, trainable=False)
        super().build(input_shape)

    def _table(self, name: str, words: int, trainable: bool) -> tf.Variable:
        initializer = tf.keras.initializers.RandomUniform(-0.05, 0.05)
        return self.add_weight(
            name=name, shape=[words, self.dim], initializer=initializer, trainable=trainable
        )

    def set_pretrained(
        self, vectors: np.ndarray, bilm: Optional[dict[str, np.ndarray]] = None
    ) -> None:
        self.set_vectors(vectors)

    def set_vectors(self, vectors: np.ndarray) -> None:
        """Assigns <float32>[trainable_words + fixed_words, dim], the rows of ids 2 and up."""
        if vectors.shape != (self.trainable_words + self.fixed_words, self.dim):
            raise ValueError(
                f"vectors of shape {vectors.shape} do not fit {self.trainable_words} trainable "
                f"and {self.fixed_words} fixed words of {self.dim} numbers."
            )
        self.trained.assign(vectors[: self.trainable_words])
        self.fixed.assign(vectors[self.trainable_words :])

    def add_fixed(self, vectors: Sequence[np.ndarray]) -> None:
        """Adds fixed words, each with its vector <float>[dim], after all others."""
        values = np.concatenate([self.fixed.numpy(), *(vector[None] for vector in vectors)])
        tracker = getattr(self, "_tracker", None)  # Keras 3 locks it after `build`
        if tracker:
            tracker.unlock()
        del self.fixed
        self.fixed_words = len(values)
        self.fixed = self._table("fixed", self.fixed_words, trainable=False)
        self.fixed.assign(values)
        if tracker:
            tracker.lock()

    def compute_output_shape(self, input_shape: tf.TensorShape) -> tf.TensorShape:
        return output_shape([*input_shape, self.dim])

    def call(self, ids: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        if ids.dtype.is_floating:  # Keras 3 makes inputs of unknown dtype float32
            ids = tf.cast(ids, tf.int32)
        flat = tf.reshape(ids, [-1])
        shape = tf.stack([tf.size(flat), self.dim])
        vectors = tf.zeros(shape, self.compute_dtype)
        first = self.FIRST_WORD
        for table in (self.trained, self.fixed):
            if is_compiled():
                vectors += self._all_rows(table, flat - first)
                first += table.shape[0]
                continue
            with on_host():
                places = tf.where((flat >= first) & (flat < first + table.shape[0]))  # [words, 1]
                numbers = tf.gather_nd(flat, places) - first
                places = tf.cast(places, tf.int32)
            rows = tf.cast(tf.gather(table, numbers), self.compute_dtype)
            vectors += tf.scatter_nd(places, rows, shape)
            first += table.shape[0]
        return tf.reshape(vectors, tf.concat([tf.shape(ids), [self.dim]], axis=0))

    def _all_rows(self, table: tf.Variable, rows: tf.Tensor) -> tf.Tensor:
        """Returns a row of the table for each number, 0 outside the table, in shapes for XLA."""
        if not table.shape[0]:
            return tf.zeros([], self.compute_dtype)
        known = (rows >= 0) & (rows < table.shape[0])
        # Other ids read a row of the batch, so that no further row has a gradient.
        some = tf.reduce_max(tf.where(known, rows, 0))
        gathered = tf.gather(table, tf.where(known, rows, some))
        return tf.cast(tf.where(tf.expand_dims(known, -1), gathered, 0.0), self.compute_dtype)
