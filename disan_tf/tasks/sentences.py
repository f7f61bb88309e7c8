"""What models of one sentence and of two have in common."""

import tensorflow as tf

from disan_tf.layers.embedding import WordEmbedding


class SentenceModel(tf.keras.Model):
    """Embedding, encoder and head; subclasses say which sentences they join and how.

    A subclass is called with <int32>[batch, length] ids (0 = padding) for each of its `fields`,
    in their order, and with `training`. So for every model

        model(*(batch[field] for field in model.fields), training=True)

    Args:
      embedding: ids -> token vectors.
      encoder: token vectors -> sentence vector.
      head: features of the sentences -> logits.
    """

    fields: tuple[str, ...]  # the names of the sentences in a batch

    def __init__(self, embedding: WordEmbedding, encoder, head, **kwargs):
        super().__init__(**kwargs)
        self.embedding = embedding
        self.encoder = encoder
        self.head = head

    def encode(self, ids, training=None):
        """Sentence vectors, <float>[batch, dim], of one field's ids."""
        mask = tf.not_equal(ids, 0)  # computed once, passed on by argument
        return self.encoder(self.embedding(ids), mask=mask, training=training)

    def attend_sentence(self, ids):
        """The encoder's named attention tensors for one field's ids."""
        return self.encoder.attend(self.embedding(ids), tf.not_equal(ids, 0))

    def get_config(self):
        parts = {"embedding": self.embedding, "encoder": self.encoder, "head": self.head}
        serialize = tf.keras.saving.serialize_keras_object
        return {"name": self.name, **{name: serialize(part) for name, part in parts.items()}}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        deserialize = tf.keras.saving.deserialize_keras_object
        parts = {name: deserialize(config[name]) for name in ("embedding", "encoder", "head")}
        return cls(**parts, name=config["name"])
