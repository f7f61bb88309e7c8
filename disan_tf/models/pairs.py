"""The base class of models for sentence pairs."""

from disan_tf.encoders.base import PairEncoder, SentenceEncoder
from disan_tf.models.base import SENTENCE, SentenceModel, input_specs, served_specs


class SentencePairModel(SentenceModel):
    """A model of sentence pairs: embedding -> encoder -> features of both vectors -> head.

    The encoder's matrices count once in the weight decay. If the encoder reads one sentence at a
    time, each dropout site draws a mask for the first sentence, then another for the second.

    Args:
      embedding, head: see `SentenceModel`.
      encoder: a `PairEncoder`.

    Call arguments:
      inputs: the ids <int32>[batch, length] of the first sentence and of the second, 0 = padding;
        then the word features of both, feature by feature. The lengths may differ.
      selections: one for each, see `SentenceModel.select`; None leaves the choice to the encoder.
      training: whether dropout acts.

    Returns:
      The head's outputs, <float32>[batch, classes].
    """

    embeddings = ("words", "characters", "elmo")
    encoder_type = PairEncoder

    def features(self, first, second):
        """Computes the head's inputs, <float>[batch, features], from two <float>[batch, dim]."""
        raise NotImplementedError

    # Keras looks for `training` among positional inputs unless it is the first keyword.
    def call(self, *inputs, training=None, selections=None):
        (first, first_mask), (second, second_mask) = self.embed(*inputs, training=training)
        vectors = self.encoder.encode_pair(
            first, second, first_mask, second_mask, selections, training
        )
        return self.head(self.features(*vectors), training=training)

    def attend(self, *inputs):
        """Returns the encoder's attention tensors by name; names begin with `<field>_`."""
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
        return {
            **super().signatures(),
            "encode": served_specs(input_specs(SENTENCE, self.embedding)),
        }
