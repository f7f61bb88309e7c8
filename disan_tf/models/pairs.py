"""What models of sentence pairs have in common."""

from disan_tf.encoders.base import PairEncoder, SentenceEncoder
from disan_tf.models.base import SentenceModel, input_specs

SENTENCE = ("sentence",)  # the fields of a model of one sentence


class SentencePairModel(SentenceModel):
    """Embedding -> the encoder's vectors of both sentences -> their features -> head.

    The encoder's matrices count once in the weight decay. In training each dropout site of an
    encoder that reads one sentence at a time draws a mask for the first, then another one for the
    second.

    Args:
      embedding, head: see `SentenceModel`.
      encoder: a `PairEncoder`.

    Call arguments:
      inputs: the ids <int32>[batch, length] of the first sentence and of the second, 0 = padding;
        then the word features of both, feature by feature. The lengths may differ.
      selections: of both, see `SentenceModel.select`; None leaves the choice to the encoder.
      training: whether dropout acts.

    Returns:
      The head's outputs, <float32>[batch, classes].
    """

    embeddings = ("words", "characters", "elmo")
    encoder_type = PairEncoder

    def features(self, first, second):
        """What the head sees, <float>[batch, features], of two <float>[batch, dim] vectors."""
        raise NotImplementedError

    # Keras looks for `training` among positional inputs unless it is the first keyword.
    def call(self, *inputs, training=None, selections=None):
        (first, first_mask), (second, second_mask) = self.embed(*inputs, training=training)
        vectors = self.encoder.encode_pair(
            first, second, first_mask, second_mask, selections, training
        )
        return self.head(self.features(*vectors), training=training)

    def attend(self, *inputs):
        """The encoder's named attention tensors, with the field's name and `_` before each."""
        (first, first_mask), (second, second_mask) = self.embed(*inputs)
        attended = self.encoder.attend_pair(first, second, first_mask, second_mask)
        return {
            f"{field}_{name}": tensor
            for field, tensors in zip(self.fields, attended)
            for name, tensor in tensors.items()
        }

    def signatures(self):
        if not isinstance(self.encoder, SentenceEncoder):
            return super().signatures()
        return {**super().signatures(), "encode": input_specs(SENTENCE, self.embedding)}
