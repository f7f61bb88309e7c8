"""Recomputes batch normalisation's means and variances before a model is scored."""

import tensorflow as tf

from disan_tf.input_pipeline import BatchPlan, Split, make_dataset
from disan_tf.layers.heads.batch_norm import averaging


class StatisticsUpdate:
    """Recomputes batch normalisation's averages before an evaluation, if configured.

    They become the averages over some batches, all with the same weight (Wu and Johnson 2021, Sec.
    3). Dropout does not act, as in an evaluation: dropout of half the words and doubling of the
    others increases a maximum over words, and its mean and variance (Li et al. 2019).

    Args:
      batches: the number of batches, `config.train.batch_norm_batches`; 0 = no update.
      model, method: the `SentenceModel`, and its training method, which may average the weights.
      split, plan: the training examples; each update uses the first batches of epoch 0.
    """

    def __init__(self, batches: int, model, method, split: Split, plan: BatchPlan):
        self._batches = batches
        self._model, self._method, self._split, self._plan = model, method, split, plan
        count = tf.TensorSpec([], tf.float32, name="count")

        @tf.function(input_signature=[count, *model.input_specs()], autograph=False)
        def average(count, *ids):
            """Adds a batch to the averages over `count` earlier batches."""
            with averaging(count):
                model(*ids, training=False)

        self._average = average

    def __call__(self) -> None:
        if self._batches:
            dataset = make_dataset(self._split, self._plan.batches(0)[: self._batches])
            with self._method.averaged_weights():
                for count, batch in enumerate(dataset):
                    inputs = [batch[name] for name in self._model.reads]
                    self._average(tf.constant(count, tf.float32), *inputs)
