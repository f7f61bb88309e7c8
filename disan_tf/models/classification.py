"""The losses and metrics of models with class logits, and the classifier of single sentences."""

import tensorflow as tf

from disan_tf.layers.serialization import serializable
from disan_tf.metrics.scores import accuracy
from disan_tf.models.base import SENTENCE, SentenceModel
from disan_tf.ops.batch_share import mean_of_rows


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
        """Computes -ln softmax(outputs) of the gold class <int32>[batch], in nats."""
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=outputs)

    def training_loss(self, outputs, labels):
        if self.class_weights is None:
            return self.batch_loss(outputs, labels)
        weights = tf.gather(tf.constant(self.class_weights), labels)
        return mean_of_rows(weights * self.example_losses(outputs, labels))

    def batch_score(self, outputs, labels):
        # As 64 bits, because a GPU leaves the comparison of 32 bits to the host.
        predicted, gold = (
            tf.cast(classes, tf.int64) for classes in (self.predictions(outputs), labels)
        )
        return mean_of_rows(tf.cast(tf.equal(predicted, gold), tf.float32))

    def predictions(self, outputs):
        return tf.argmax(outputs, axis=-1, output_type=tf.int32)

    def scores(self, outputs, labels):
        return {"accuracy": accuracy(self.predictions(outputs).numpy(), labels)}


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
