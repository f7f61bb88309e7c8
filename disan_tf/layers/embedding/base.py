"""What the embeddings have in common."""

from typing import Optional

import numpy as np
import tensorflow as tf


class Embedding(tf.keras.layers.Layer):
    """Words -> token vectors, <float>[batch, length, dim], exactly 0 on padding.

    To add an embedding, subclass this and enter a function that makes it of its options in
    `disan_tf.models.embeddings.EMBEDDINGS`. A subclass defines

        call(ids, *features, training=None)

    with ids <int32>[batch, length] (0 = padding) and then its `word_features`, in their order. What
    it reads must stand in the batches of `disan_tf.input_pipeline.make_dataset`, and for raw text
    in the look-up of `disan_tf.runs.bundle`.

    `trainable=False`, Keras' own argument, leaves all of its weights as they are.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_mask(self, ids, mask=None):
        """Real tokens, <bool>[batch, length]: `mask` where one is given, else ids != 0."""
        return tf.not_equal(ids, 0) if mask is None else tf.convert_to_tensor(mask)

    @property
    def word_features(self) -> dict[str, tf.TensorSpec]:
        """What a call takes of the words besides their ids: name in a batch -> shape and dtype."""
        return {}

    @property
    def bilm_options(self) -> Optional[dict]:
        """The arguments of the biLM inside, as JSON can hold them; None without one."""
        return None

    def set_pretrained(
        self, vectors: np.ndarray, bilm: Optional[dict[str, np.ndarray]] = None
    ) -> None:
        """Assigns what was trained before.

        Args:
          vectors: <float32>[words, dim], the word vectors of ids 2 and up.
          bilm: the weights of a biLM, by their official names, see
            `disan_tf.elmo.official_tensors`.
        """

    def without_partner(self, *features) -> tuple:
        """The `word_features` of a sentence as if it had no partner in a pair."""
        return features
