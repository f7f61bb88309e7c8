"""Recomputes batch normalisation's means and variances before a model is scored."""

import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.common.options import check_at_least, flag
from disan_tf.input_pipeline import BatchPlan, Split, make_dataset
from disan_tf.layers.heads.batch_norm import BatchNormHead, averaging
from disan_tf.models.factory import HEADS


def check_batch_norm_batches(batch_norm_batches: int = 0) -> None:
    """Checks `config.train.batch_norm_batches`; raises ValueError if it is negative."""
    check_at_least("batch_norm_batches", batch_norm_batches, 0)


def check_head(batch_norm_batches: int, head: str) -> None:
    """Raises UserError if `batch_norm_batches` is set for a head without batch normalisation."""
    if batch_norm_batches and not issubclass(HEADS[head], BatchNormHead):
        raise UserError(
            f"{flag('train', 'batch_norm_batches')}={batch_norm_batches} is for batch "
            f"normalisation, which --config.task.head={head} does not have; leave it at 0."
        )


def make_averaging_step(model, dropout: bool = False):
    """Returns a step: the number of earlier batches <float32>[], the model's inputs -> None.

    The step sets batch normalisation's averages to the averages over the batches so far.

    Args:
      model: a `SentenceModel` with a `BatchNormHead`.
      dropout: whether dropout acts, unlike in an evaluation. Dropout of half the words and doubling
        of the others increases a maximum over words, and its mean and variance (Li et al. 2019).
    """
    count = tf.TensorSpec([], tf.float32, name="count")

    @tf.function(input_signature=[count, *model.input_specs()], autograph=False)
    def averaging_step(count, *ids):
        with averaging(count):
            model(*ids, training=dropout)

    return averaging_step


def take_averages(averaging_step, dataset, inputs) -> None:
    """Recomputes batch normalisation's averages (Wu and Johnson 2021, Sec. 3).

    Args:
      averaging_step: see `make_averaging_step`.
      dataset: batches of training examples; all batches have the same weight.
      inputs: the names of the model's inputs in a batch.
    """
    for count, batch in enumerate(dataset):
        averaging_step(tf.constant(count, tf.float32), *(batch[name] for name in inputs))


class StatisticsUpdate:
    """Recomputes batch normalisation's averages before an evaluation, if configured.

    Args:
      batches: the number of batches, `config.train.batch_norm_batches`; 0 = no update.
      model: the `SentenceModel`.
      method: the training method, which may average the weights.
      split: the training examples.
      plan: the batch plan; each update uses the first batches of epoch 0.
    """

    def __init__(self, batches: int, model, method, split: Split, plan: BatchPlan):
        self._batches = batches
        self._model, self._method, self._split, self._plan = model, method, split, plan
        self._step = make_averaging_step(model)

    def __call__(self) -> None:
        """Replaces the averages by the averages over the batches, all with the same weight."""
        if self._batches:
            dataset = make_dataset(self._split, self._plan.batches(0)[: self._batches])
            with self._method.averaged_weights():
                take_averages(self._step, dataset, self._model.reads)
