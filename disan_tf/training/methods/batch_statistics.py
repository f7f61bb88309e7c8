"""What batch normalisation needs to know before a model is scored: means and variances."""

import tensorflow as tf

from disan_tf.common.options import check_at_least
from disan_tf.input_pipeline import BatchPlan, Split, make_dataset
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


class StatisticsUpdate:
    """Recomputes batch normalisation's averages before an evaluation, if configured.

    Args:
      config: `train.batch_norm_batches` is the number of batches; 0 or absent = none.
      model: the `SentenceModel`.
      method: of training, which may average the weights.
      split: the training examples.
      plan: of their batches; each update takes the first ones of epoch 0.
    """

    def __init__(self, config, model, method, split: Split, plan: BatchPlan):
        self._batches = config.train.get("batch_norm_batches", 0)
        self._model, self._method, self._split, self._plan = model, method, split, plan
        self._step = make_averaging_step(model)

    def __call__(self) -> None:
        """Replaces the averages by those over the batches, each of which counts the same."""
        if self._batches:
            dataset = make_dataset(self._split, self._plan.batches(0)[: self._batches])
            with self._method.averaged_weights():
                take_averages(self._step, dataset, self._model.reads)
