"""What batch normalisation needs to know before a model is scored: means and variances."""

import tensorflow as tf

from disan_tf.common.options import check_at_least
from disan_tf.layers.heads.batch_norm import averaging


def check_batch_norm_batches(batch_norm_batches: int = 0) -> None:
    """The option of `config.train`; raises ValueError where it is negative."""
    check_at_least("batch_norm_batches", batch_norm_batches, 0)


def make_averaging_step(model, dropout: bool = False):
    """How many batches came before <float32>[], and what the model reads -> nothing.

    The averages of the model's batch normalisation become those of the batches so far.

    Args:
      model: a `SentenceModel` with a `BatchNormHead`.
      dropout: whether it acts, other than when the model is scored: a maximum over words, half of
        which are dropped and half doubled, is larger than that of the words, and so are its mean
        and variance (Li et al. 2019).
    """
    count = tf.TensorSpec([], tf.float32, name="count")

    @tf.function(input_signature=[count, *model.input_specs()], autograph=False)
    def averaging_step(count, *ids):
        with averaging(count):
            model(*ids, training=dropout)

    return averaging_step


def take_averages(averaging_step, dataset, inputs) -> None:
    """Takes the averages of batch normalisation anew (Wu and Johnson 2021, Sec. 3).

    Args:
      averaging_step: see `make_averaging_step`.
      dataset: batches of training examples, each of which counts the same.
      inputs: names of what the model reads of a batch.
    """
    for count, batch in enumerate(dataset):
        averaging_step(tf.constant(count, tf.float32), *(batch[name] for name in inputs))
