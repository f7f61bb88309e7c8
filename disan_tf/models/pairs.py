"""Models of sentence pairs: their base class, and the classifier of a premise and a hypothesis."""

import tensorflow as tf

from disan_tf.common.checks import check_choice
from disan_tf.encoders.base import PairEncoder, SentenceEncoder
from disan_tf.layers.serialization import serializable
from disan_tf.models.base import SENTENCE, SentenceModel, input_specs, served_specs
from disan_tf.models.classification import ClassScores

PAIR_FEATURES = {
    "difference": lambda p, h: [p, h, p - h, p * h],
    "absolute": lambda p, h: [h, p, tf.abs(h - p), h * p],
    "sum_and_difference": lambda p, h: [p, h, p + h, p - h, tf.abs(p - h)],
}


class SentencePairModel(SentenceModel):
    """A model of sentence pairs: embedding -> encoder -> features of both vectors -> head.

    The encoder's matrices count once in the weight decay. If the encoder reads one sentence at a
    time, each dropout site draws a mask for the first sentence, then another for the second.

    Args:
      embedding, encoder, head: see `SentenceModel`; the encoder is a `PairEncoder`.

    Call arguments:
      inputs: the ids <int32>[batch, length] of the first sentence and of the second, 0 = padding;
        then the word features of both, feature by feature. The lengths may differ.
      selections, training: see `SentenceClassifier`, with selections for each sentence.

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
        by_field = self.encoder.attend_pair(first, second, first_mask, second_mask)
        return {
            f"{field}_{name}": tensor
            for field, tensors in zip(self.fields, by_field)
            for name, tensor in tensors.items()
        }

    def signatures(self):
        if not isinstance(self.encoder, SentenceEncoder):
            return super().signatures()
        encode = served_specs(input_specs(SENTENCE, self.embedding))
        return {**super().signatures(), "encode": encode}


@serializable
class SentencePairClassifier(ClassScores, SentencePairModel):
    """A `SentencePairModel` that predicts classes (DiSAN Sec. 5.1).

    The head reads features of the vectors p and h of premise and hypothesis. DiSAN with 300 units,
    300-dimensional vectors and three classes has 2,345,403 parameters without the embedding.

    Args:
      embedding, encoder, head: see `SentenceModel`; the head has one class for each label.
      pair_features: "difference", [p; h; p - h; p * h] with its sign as in the DiSAN authors' code,
        or "absolute", [h; p; |h - p|; h * p] (DSA Sec. 4.1), both after Mou et al. (2016), or
        "sum_and_difference", [p; h; p + h; p - h; |p - h|] (multiway DRCN, Eq. 5).
      hypothesis_only: whether the premise is replaced by a sentence without tokens, and no word
        counts as matched: the control of Gururangan et al. (2018), which measures how much of
        the labels hypotheses alone give away.

    Call arguments, result: see `SentencePairModel`; premise, then hypothesis.

    Example:
      >>> parts = WordEmbedding(10, 0, 8), DiSAN(8), ClassificationHead(3, 16)
      >>> SentencePairClassifier(*parts)(tf.constant([[2, 3, 4]]), tf.constant([[5, 6]])).shape
      TensorShape([1, 3])
    """

    fields = ("premise", "hypothesis")
    options = ("pair_features", "hypothesis_only")

    def __init__(
        self, *parts, pair_features: str = "difference", hypothesis_only: bool = False, **kwargs
    ):
        super().__init__(*parts, **kwargs)
        self.check_options(pair_features, hypothesis_only)
        self.pair_features, self.hypothesis_only = pair_features, hypothesis_only

    @staticmethod
    def check_options(pair_features: str = "difference", hypothesis_only: bool = False) -> None:
        check_choice("pair_features", pair_features, PAIR_FEATURES)

    def sentences(self, *inputs):
        premise, hypothesis = super().sentences(*inputs)
        if not self.hypothesis_only:
            return [premise, hypothesis]
        ids, *features = hypothesis
        return [
            tuple(tf.zeros_like(tensor) for tensor in premise),
            (ids, *self.embedding.without_partner(*features)),
        ]

    def features(self, first, second):
        return tf.concat(PAIR_FEATURES[self.pair_features](first, second), axis=-1)

    def get_config(self):
        config = {"pair_features": self.pair_features, "hypothesis_only": self.hypothesis_only}
        return {**super().get_config(), **config}
