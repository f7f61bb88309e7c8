"""Two sentences -> whether the first contradicts, permits or entails the second."""

import tensorflow as tf

from disan_tf.layers.precision import shared_conversions
from disan_tf.tasks.sentences import SentenceModel


class SentencePairClassifier(SentenceModel):
    """One encoder for both sentences -> their features -> head (DiSAN Sec. 5.1).

    With p and h the vectors of premise and hypothesis, the head sees [p; h; p - h; p * h]. The
    difference keeps its sign, as in the authors' code. The encoder's matrices count once in the
    weight decay. In training each of its dropout sites draws a mask for the premise, then another
    one for the hypothesis. 300 units on 300-dimensional vectors, three classes: 2,345,403
    parameters without the embedding.

    Args:
      embedding, encoder, head: see `SentenceModel`; the head has one class for each label.

    Call arguments:
      premise: <int32>[batch, premise length], 0 = padding.
      hypothesis: <int32>[batch, hypothesis length], 0 = padding.
      training: whether dropout acts.

    Returns:
      Logits, <float32>[batch, classes].

    Example:
      >>> model = SentencePairClassifier(
      ...     WordEmbedding(10, 0, 8), DiSAN(8), ClassificationHead(3, 16)
      ... )
      >>> model(tf.constant([[2, 3, 4]]), tf.constant([[5, 6]])).shape
      TensorShape([1, 3])
    """

    fields = ("premise", "hypothesis")

    def call(self, premise, hypothesis, training=None):
        with shared_conversions():
            p = self.encode(premise, training=training)
            h = self.encode(hypothesis, training=training)
        features = tf.concat([p, h, p - h, p * h], axis=-1)  # [batch, 4 * dim]
        return self.head(features, training=training)

    def attend(self, premise, hypothesis):
        """The encoder's named attention tensors, with `premise_` and `hypothesis_` before them."""
        return {
            f"{field}_{name}": tensor
            for field, ids in zip(self.fields, (premise, hypothesis))
            for name, tensor in self.attend_sentence(ids).items()
        }
