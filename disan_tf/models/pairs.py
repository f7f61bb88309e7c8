"""What models of sentence pairs have in common."""

from disan_tf.layers.precision import shared_conversions
from disan_tf.models.base import SentenceModel


class SentencePairModel(SentenceModel):
    """One encoder for both sentences -> their features -> head.

    The encoder's matrices count once in the weight decay. In training each of its dropout sites
    draws a mask for the first sentence, then another one for the second.

    Args:
      embedding, encoder, head: see `SentenceModel`.

    Call arguments:
      first: <int32>[batch, first length], 0 = padding.
      second: <int32>[batch, second length], 0 = padding.
      selections: of both, see `SentenceModel.select`.
      training: whether dropout acts.

    Returns:
      The head's outputs, <float32>[batch, classes].
    """

    def features(self, first, second):
        """What the head sees, <float>[batch, features], of two <float>[batch, dim] vectors."""
        raise NotImplementedError

    def call(self, first, second, selections=(None, None), training=None):
        with shared_conversions():
            sentences = zip((first, second), selections)
            vectors = [
                self.encode(ids, training=training, selections=selected)
                for ids, selected in sentences
            ]
        return self.head(self.features(*vectors), training=training)

    def attend(self, first, second):
        """The encoder's named attention tensors, with the field's name and `_` before each."""
        return {
            f"{field}_{name}": tensor
            for field, ids in zip(self.fields, (first, second))
            for name, tensor in self.attend_sentence(ids).items()
        }
