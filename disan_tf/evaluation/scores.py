"""A model's answers on a whole split, in the split's order."""

from dataclasses import dataclass

import numpy as np

from disan_tf.input_pipeline import Split, evaluation_batches, make_dataset


@dataclass(frozen=True)
class Outcome:
    """Answers on a split.

    Attributes:
      logits: <float32>[examples, classes], in the split's order.
      loss: mean of the batches' losses, weighted by their sizes, weight decay included.
      accuracy: share of right answers.
    """

    logits: np.ndarray
    loss: float
    accuracy: float


def classify(evaluation_step, split: Split, batch_size: int) -> Outcome:
    """Runs `evaluation_step` over a split, in batches of similar length.

    Args:
      evaluation_step: see `disan_tf.training.steps.make_evaluation_step`.
      split: the examples.
      batch_size: examples in a batch.
    """
    logits, total = None, 0.0
    for batch in make_dataset(split, evaluation_batches(split.field_lengths, batch_size)):
        ids = [batch[field] for field in split.fields]
        batch_logits, loss = evaluation_step(*ids, batch["label"])
        if logits is None:
            logits = np.zeros([len(split), batch_logits.shape[-1]], np.float32)
        logits[batch["index"]] = batch_logits
        total += float(loss) * len(batch["index"])
    accuracy = float(np.mean(logits.argmax(axis=1) == split.labels))
    return Outcome(logits, total / len(split), accuracy)
