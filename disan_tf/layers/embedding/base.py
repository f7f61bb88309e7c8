"""The base class of embeddings."""

from typing import Optional

import numpy as np
import tensorflow as tf

from disan_tf.layers.keras_layer import mask_tensor, not_equal
from disan_tf.layers.serialization import ConfiguredLayer


class Embedding(ConfiguredLayer):
    """Base of layers from words to vectors <float>[batch, length, dim], exactly 0 on padding.

    To add an embedding, subclass this class, and enter an `EmbeddingKind` in
    `disan_tf.models.embeddings.EMBEDDINGS`. A subclass defines

        call(ids, *features, training=None)

    with ids <int32>[batch, length] (0 = padding), then the `word_features` in their order. These
    features must be in the batches of `disan_tf.input_pipeline.make_dataset`, and for raw text in
    the kind's `look_up`.

    Keras' argument `trainable=False` freezes all weights of the embedding.
    """

    def __init__(self, **kwargs):
        super().__init__(autocast=False, **kwargs)  # half precision would round float ids
        self.supports_masking = True

    def compute_mask(self, ids, mask=None):
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
          bilm: official name -> weight of a biLM, see
            `disan_tf.elmo.official_tensors`.
        """

    def without_partner(self, *features) -> tuple:
        """Returns the `word_features` of a sentence as if it had no partner in a pair."""
        return features
