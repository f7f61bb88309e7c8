"""A classifier of single sentences."""

from disan_tf.layers.serialization import serializable
from disan_tf.models.base import SENTENCE, SentenceModel
from disan_tf.models.class_scores import ClassScores


@serializable
class SentenceClassifier(ClassScores, SentenceModel):
    """A classifier of one sentence: embedding -> encoder -> head.

    Args:
      embedding, encoder, head: see `SentenceModel`; the head has one class for each label.

    Call arguments:
      inputs: the sentence's ids <int32>[batch, length], 0 = padding, and its word features.
      selections: see `SentenceModel.select`; None leaves the choice to the encoder.
      training: whether dropout acts.

    Returns:
      Logits, <float32>[batch, classes].
    """

    fields = SENTENCE

    # Keras looks for `training` among positional inputs unless it is the first keyword.
    def call(self, *inputs, training=None, selections=None):
        ((x, mask),) = self.embed(*inputs, training=training)
        (chosen,) = selections or (None,)
        vectors = self.encoder.encode(x, mask, chosen, training)
        return self.head(vectors, training=training)

    def attend(self, *inputs):
        """Returns the encoder's attention tensors for a batch, by name."""
        ((x, mask),) = self.embed(*inputs)
        return self.encoder.attend(x, mask)

    def signatures(self):
        signatures = super().signatures()
        return {**signatures, "encode": signatures["call"]}
