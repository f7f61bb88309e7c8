"""The losses and metrics of models whose outputs are class logits."""

import tensorflow as tf

from disan_tf.metrics.classification import accuracy


class ClassScores:
    """A mixin with the losses and metrics of a `SentenceModel` that predicts classes.

    Attributes:
      class_weights: weights of the classes in `training_loss`, <float32>[classes]; None = all 1.
    """

    label_dtype = tf.int32
    criterion = "accuracy"
    batch_score_name = "accuracy"
    keras_metrics = ("accuracy",)
    criteria = ("accuracy", "macro_f1")
    class_weights = None

    def keras_loss(self):
        return tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def example_losses(self, outputs, labels):
        return cross_entropies(outputs, labels)

    def training_loss(self, outputs, labels):
        if self.class_weights is None:
            return self.batch_loss(outputs, labels)
        weights = tf.gather(tf.constant(self.class_weights), labels)
        return tf.reduce_mean(weights * self.example_losses(outputs, labels))

    def batch_score(self, outputs, labels):
        # As 64 bits, because a GPU leaves the comparison of 32 bits to the host.
        predicted, gold = (tf.cast(it, tf.int64) for it in (self.predictions(outputs), labels))
        return tf.reduce_mean(tf.cast(tf.equal(predicted, gold), tf.float32))

    def predictions(self, outputs):
        return tf.argmax(outputs, axis=-1, output_type=tf.int32)

    def scores(self, outputs, labels):
        return {"accuracy": accuracy(self.predictions(outputs).numpy(), labels)}


def cross_entropies(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Computes -ln softmax(logits) of the gold class, in nats, <float32>[batch].

    Args:
      logits: <float32>[batch, classes].
      labels: <int32>[batch].
    """
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
