"""Two sentences -> whether the first contradicts, permits or entails the second."""

import tensorflow as tf

from disan_tf.models.classification import Classification
from disan_tf.models.pairs import SentencePairModel

MATCHINGS = {
    "difference": lambda p, h: [p, h, p - h, p * h],
    "absolute": lambda p, h: [h, p, tf.abs(h - p), h * p],
}


class SentencePairClassifier(Classification, SentencePairModel):
    """A `SentencePairModel` of classes (DiSAN Sec. 5.1).

    With p and h the vectors of premise and hypothesis, the head sees a matching of them. DiSAN of
    300 units on 300-dimensional vectors, three classes: 2,345,403 parameters without the embedding.

    Args:
      embedding, encoder, head: see `SentenceModel`; the head has one class for each label.
      matching: "difference", [p; h; p - h; p * h] with its sign as in the DiSAN authors' code, or
        "absolute", [h; p; |h - p|; h * p] (DSA Sec. 4.1), both after Mou et al. (2016).

    Call arguments:
      premise: <int32>[batch, premise length], 0 = padding.
      hypothesis: <int32>[batch, hypothesis length], 0 = padding.
      training: whether dropout acts.

    Returns:
      Logits, <float32>[batch, classes].

    Raises:
      ValueError: an unknown matching.

    Example:
      >>> model = SentencePairClassifier(
      ...     WordEmbedding(10, 0, 8), DiSAN(8), ClassificationHead(3, 16)
      ... )
      >>> model(tf.constant([[2, 3, 4]]), tf.constant([[5, 6]])).shape
      TensorShape([1, 3])
    """

    fields = ("premise", "hypothesis")
    options = ("matching",)

    def __init__(self, *parts, matching: str = "difference", **kwargs):
        super().__init__(*parts, **kwargs)
        if matching not in MATCHINGS:
            raise ValueError(f"matching={matching!r}; choose {' or '.join(MATCHINGS)}.")
        self.matching = matching

    def features(self, first, second):
        return tf.concat(MATCHINGS[self.matching](first, second), axis=-1)

    def get_config(self):
        return {**super().get_config(), "matching": self.matching}
