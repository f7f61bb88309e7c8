"""Scores how related two sentences are, on a scale of whole points."""

import tensorflow as tf

from disan_tf.common.checks import check_choice
from disan_tf.layers.serialization import serializable
from disan_tf.metrics.scores import correlation_scores
from disan_tf.models.pairs import SentencePairModel
from disan_tf.ops.batch_share import mean_of_rows

_LEAST = 1e-10  # lowest probability, as in the authors' code


@serializable
class RelatednessModel(SentencePairModel):
    """A `SentencePairModel` that predicts scores, for SICK 1 to 5 (Tai et al. 2015, Sec. 4.2).

    The head reads [a * b; |a - b|] of the sentence vectors a and b; so its hidden layer is
    act(W_x (a * b) + W_+ |a - b| + b) as in the paper. Its outputs are the logits of the
    probabilities p_k for the points k = 1, 2, ...; the predicted score is sum_k k p_k. A scale with
    another first point is shifted to 1 and back.

    Args:
      embedding, encoder, head: see `SentenceModel`; the head has one class for each point.
      loss: "kl", KL(t || p) with the `sparse_distribution` t of the gold score y, or
        "squared_error", (sum_k k p_k - y)^2 / 2 (the ReSAN authors' code).
      lowest: the first point of the scale.

    Call arguments, result: see `SentencePairModel`; sentence_a, then sentence_b.
    """

    fields = ("sentence_a", "sentence_b")
    label_dtype = tf.float32
    criterion = "pearson"
    batch_score_name = "mse"
    options = ("loss", "lowest")

    def __init__(self, *parts, loss: str = "kl", lowest: int = 1, **kwargs):
        super().__init__(*parts, **kwargs)
        self.check_options(loss, lowest)
        self.loss_name, self.lowest = loss, lowest

    @staticmethod
    def check_options(loss: str = "kl", lowest: int = 1) -> None:
        check_choice("loss", loss, LOSSES)

    def features(self, first, second):
        return tf.concat([first * second, tf.abs(first - second)], axis=-1)

    def keras_loss(self):
        return ScoreLoss(self.loss_name, self.lowest)

    def example_losses(self, outputs, labels):
        return LOSSES[self.loss_name](outputs, labels - (self.lowest - 1))

    def batch_score(self, outputs, labels):
        return mean_of_rows(tf.square(self.predictions(outputs) - tf.cast(labels, outputs.dtype)))

    def predictions(self, outputs):
        return expected_score(outputs) + (self.lowest - 1)

    def scores(self, outputs, labels):
        """Returns `pearson`, `spearman` and `mse` of predicted and gold scores."""
        return correlation_scores(self.predictions(outputs).numpy(), labels)

    def get_config(self):
        return {**super().get_config(), "loss": self.loss_name, "lowest": self.lowest}


@serializable
class ScoreLoss(tf.keras.losses.Loss):
    """The mean loss of a `RelatednessModel` for Keras' `fit`.

    Args:
      loss, lowest: see `RelatednessModel`.
    """

    def __init__(self, loss: str = "kl", lowest: int = 1, name: str = "score_loss", **kwargs):
        super().__init__(name=name, **kwargs)
        self.loss_name = check_choice("loss", loss, LOSSES)
        self.lowest = lowest

    def call(self, labels, outputs):
        scores = tf.cast(tf.reshape(labels, [-1]), outputs.dtype)
        return LOSSES[self.loss_name](outputs, scores - (self.lowest - 1))

    def get_config(self):
        return {**super().get_config(), "loss": self.loss_name, "lowest": self.lowest}


def expected_score(logits: tf.Tensor) -> tf.Tensor:
    """Computes sum_k k softmax_k, k from 1, <float>[batch], from <float>[batch, points]."""
    points = tf.cast(tf.range(1, logits.shape[-1] + 1), logits.dtype)
    return tf.linalg.matvec(tf.nn.softmax(logits), points)


def sparse_distribution(scores: tf.Tensor, points: int) -> tf.Tensor:
    """Returns the distribution on at most two neighbouring points whose mean is the score.

    t_k = floor(y) - y + 1 at k = floor(y), y - floor(y) at k = floor(y) + 1, else 0 (Tai et al.
    Sec. 4.2); this is max(0, 1 - |y - k|). The result is <float>[batch, points], for scores
    <float>[batch] from 1 to `points`.
    """
    distances = tf.abs(scores[:, None] - tf.cast(tf.range(1, points + 1), scores.dtype))
    return tf.nn.relu(1.0 - distances)


def kl_divergence(logits: tf.Tensor, scores: tf.Tensor) -> tf.Tensor:
    """Computes KL(t || softmax(logits)) in nats, <float>[batch]; t is `sparse_distribution`.

    Both distributions are clipped to [1e-10, 1], as in the authors' code.
    """
    target = sparse_distribution(tf.cast(scores, logits.dtype), logits.shape[-1])
    target, predicted = (tf.clip_by_value(p, _LEAST, 1.0) for p in (target, tf.nn.softmax(logits)))
    return tf.reduce_sum(target * tf.math.log(target / predicted), axis=-1)


def half_squared_error(logits: tf.Tensor, scores: tf.Tensor) -> tf.Tensor:
    """Computes (sum_k k softmax_k - y)^2 / 2, <float>[batch]."""
    return 0.5 * tf.square(expected_score(logits) - tf.cast(scores, logits.dtype))


LOSSES = {"kl": kl_divergence, "squared_error": half_squared_error}
