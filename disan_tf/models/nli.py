"""Natural language inference: classifies a premise and a hypothesis."""

import tensorflow as tf

from disan_tf.common.options import check_choice
from disan_tf.layers.serialization import serializable
from disan_tf.models.classification import ClassScores
from disan_tf.models.pairs import SentencePairModel

PAIR_FEATURES = {
    "difference": lambda p, h: [p, h, p - h, p * h],
    "absolute": lambda p, h: [h, p, tf.abs(h - p), h * p],
    "sum_and_difference": lambda p, h: [p, h, p + h, p - h, tf.abs(p - h)],
}


@serializable
class SentencePairClassifier(ClassScores, SentencePairModel):
    """A `SentencePairModel` that predicts classes (DiSAN Sec. 5.1).

    The head reads features of the vectors p and h of premise and hypothesis. DiSAN with 300 units,
    300-dimensional vectors and three classes has 2,345,403 parameters without the embedding.

    Args:
      embedding, encoder, head: see `SentencePairModel`; the head has one class for each label.
      pair_features: "difference", [p; h; p - h; p * h] with its sign as in the DiSAN authors' code,
        or "absolute", [h; p; |h - p|; h * p] (DSA Sec. 4.1), both after Mou et al. (2016), or
        "sum_and_difference", [p; h; p + h; p - h; |p - h|] (multiway DRCN, Eq. 5).
      hypothesis_only: whether the premise is replaced by a sentence without tokens, and no word
        counts as matched: the control of Gururangan et al. (2018), which measures how much of
        the labels hypotheses alone give away.

    Call arguments:
      inputs, selections, training: see `SentencePairModel`; premise, then hypothesis.

    Returns:
      Logits, <float32>[batch, classes].

    Raises:
      ValueError: unknown pair_features.

    Example:
      >>> model = SentencePairClassifier(
      ...     WordEmbedding(10, 0, 8), DiSAN(8), ClassificationHead(3, 16)
      ... )
      >>> model(tf.constant([[2, 3, 4]]), tf.constant([[5, 6]])).shape
      TensorShape([1, 3])
    """

    fields = ("premise", "hypothesis")
    options = ("pair_features", "hypothesis_only")

    def __init__(
        self, *parts, pair_features: str = "difference", hypothesis_only: bool = False, **kwargs
    ):
        super().__init__(*parts, **kwargs)
        self.pair_features = check_choice("pair_features", pair_features, PAIR_FEATURES)
        self.hypothesis_only = hypothesis_only

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
