"""Models whose outputs are logits of classes."""

import tensorflow as tf

from disan_tf.metrics.classification import accuracy


class ClassScores:
    """How a `SentenceModel` of classes is trained and measured."""

    label_dtype = tf.int32
    criterion = "accuracy"
    batch_score_name = "accuracy"

    def example_losses(self, outputs, labels):
        return cross_entropies(outputs, labels)

    def batch_score(self, outputs, labels):
        return tf.reduce_mean(tf.cast(tf.equal(self.predictions(outputs), labels), tf.float32))

    def predictions(self, outputs):
        return tf.argmax(outputs, axis=-1, output_type=tf.int32)

    def scores(self, outputs, labels):
        return {"accuracy": accuracy(self.predictions(outputs).numpy(), labels)}


def cross_entropies(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """-ln softmax(logits) of the right class, in nats, <float32>[batch].

    Args:
      logits: <float32>[batch, classes].
      labels: <int32>[batch].
    """
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
