"""Scores a model on splits during a training, and keeps the best model by dev.

Before dev is scored, the statistics of batch normalisation are computed again.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, NamedTuple, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.input_pipeline import BatchPlan, Split, evaluation_batches, make_dataset
from disan_tf.layers.heads.batch_norm import averaging
from disan_tf.metrics.scores import macro_f1
from disan_tf.training.checkpoints import TrainingState


class Outcome(NamedTuple):
    """The outputs <float32>[examples, classes] on a split, in its order, and the mean loss.

    The mean is over the examples, or over the predicted words of a language model.
    """

    outputs: np.ndarray
    loss: float


def run_split(
    evaluation_step,
    split: Split,
    model,
    batch_size: int,
    advance: Callable[[int], object] = lambda count: None,
) -> Outcome:
    """Runs a step by `make_evaluation_step` over a split, in batches of similar length.

    The model's random counters are restored at the end. Sampled selections therefore depend only on
    the model, the split and the batch size, and do not change the random numbers of a training.

    `model` is the `SentenceModel` that the step evaluates. `advance` is called with the number of
    examples in each finished batch.
    """
    outputs, total, weights = None, 0.0, 0.0
    with _restored_counts(model):
        for batch in make_dataset(split, evaluation_batches(split.field_lengths, batch_size)):
            inputs = [batch[name] for name in model.reads]
            batch_outputs, loss = evaluation_step(*inputs, batch["label"])
            if outputs is None:
                outputs = np.zeros([len(split), batch_outputs.shape[-1]], np.float32)
            outputs[batch["index"]] = batch_outputs
            weight = model.loss_weight(batch_outputs)
            total, weights = total + float(loss) * weight, weights + weight
            advance(len(batch["index"]))
    return Outcome(outputs, total / weights)


@contextmanager
def _restored_counts(model) -> Iterator[None]:
    """Restores the calls that dropout and samplers have counted, see `add_count`."""
    counts = [weight for weight in model.weights if weight.dtype.is_integer]
    values = [count.numpy() for count in counts]
    try:
        yield
    finally:
        for count, value in zip(counts, values):
            count.assign(value)


class SplitScores:
    """Scores a model on dev and on the splits that are only watched.

    Args:
      batch_size: the number of examples in a batch.
      criterion: the score on dev that selects the model.
      model: the `SentenceModel`.
      method: the training method, which has the evaluation steps.
      dev, watched: the split, and the other splits by name.

    Attributes:
      dev_outputs: outputs of the last evaluation, <float32>[examples, classes]; None before it.
    """

    def __init__(self, batch_size: int, criterion: str, model, method, dev, watched: Mapping):
        self._model, self._method, self._dev, self._watched = model, method, dev, watched
        self.batch_size, self._criterion = batch_size, criterion
        self.dev_outputs: Optional[np.ndarray] = None

    def score_dev(self) -> dict:
        """Returns the loss and the scores on dev, which choose the best model."""
        scores, self.dev_outputs = self._score(self._method.evaluation_step, self._dev)
        return scores

    def score_dev_selections(self) -> dict:
        """Returns the scores on dev by the other evaluation steps, as "<step>_<score>"."""
        scores_by_name = {}
        for name, evaluation_step in self._method.extra_evaluations.items():
            scores, _ = self._score(evaluation_step, self._dev)
            scores_by_name.update({f"{name}_{score}": value for score, value in scores.items()})
        return scores_by_name

    def score_watched(self) -> dict:
        """Returns the scores of each watched split."""
        step = self._method.evaluation_step
        return {name: self._score(step, split)[0] for name, split in self._watched.items()}

    def _score(self, evaluation_step, split: Split) -> tuple[dict, np.ndarray]:
        outcome = run_split(evaluation_step, split, self._model, self.batch_size)
        scores = {"loss": outcome.loss, **self._model.scores(outcome.outputs, split.labels)}
        if self._criterion == "macro_f1":
            predictions, classes = outcome.outputs.argmax(axis=1), outcome.outputs.shape[1]
            scores["macro_f1"] = macro_f1(predictions, split.labels, classes)
        return scores, outcome.outputs


class BestModel:
    """The bundle of the model with the best score on dev so far.

    Args:
      folder: the bundle's folder.
      save: writes the bundle into a folder, with the `scores` of an evaluation.
      criterion: the name of the score.
      state: holds the step and the score of the best evaluation.
    """

    def __init__(self, folder: Path, save: Callable, criterion: str, state: TrainingState):
        self._folder, self._save, self._criterion, self._state = folder, save, criterion, state

    def check_exists(self) -> None:
        """Raises UserError if the bundle was deleted: later models may be worse."""
        is_there = (self._folder / "model.json").is_file()
        if np.isfinite(float(self._state.best_score)) and not is_there:
            raise UserError(
                f"{self._folder} is missing, the best model so far, of step "
                f"{int(self._state.best_step):,}; restore it, or train again in another --workdir."
            )

    def keep(self, step: int, scores: dict, may_choose: bool) -> None:
        """Writes the model if it is the best so far, then records its score.

        `may_choose` tells whether the scores on dev may choose the model; if not, the early stop
        counts from `step`.
        """
        if not may_choose:
            self._state.best_step.assign(step)
            return
        score = scores[self._criterion]
        if score > float(self._state.best_score):
            self._save(self._folder, scores={"step": step, f"dev_{self._criterion}": score})
            self.record(step, score)

    def record(self, step: int, score: float) -> None:
        """Records the step and the score of the best evaluation."""
        self._state.best_step.assign(step)
        self._state.best_score.assign(score)

    def recorded(self) -> tuple[int, float]:
        """Returns the step and the score of the best evaluation."""
        return int(self._state.best_step), float(self._state.best_score)


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
