"""A model's outputs on a whole split, in the split's order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Callable

import numpy as np

from disan_tf.input_pipeline import Split, evaluation_batches, make_dataset


@dataclass(frozen=True)
class Outcome:
    """The outputs and the loss on a split.

    Attributes:
      outputs: <float32>[examples, classes], in the split's order.
      loss: mean of the batches' losses, weighted by their sizes, weight decay included.
    """

    outputs: np.ndarray
    loss: float


def run_split(
    evaluation_step,
    split: Split,
    inputs: Sequence[str],
    batch_size: int,
    advance: Callable[[int], object] = lambda count: None,
) -> Outcome:
    """Runs `evaluation_step` over a split, in batches of similar length.

    Args:
      evaluation_step: see `disan_tf.training.steps.make_evaluation_step`.
      split: the examples.
      inputs: the names of the batch's tensors that the step takes before the label.
      batch_size: the number of examples in a batch.
      advance: a function called with the number of examples in each finished batch.
    """
    outputs, total = None, 0.0
    for batch in make_dataset(split, evaluation_batches(split.field_lengths, batch_size)):
        batch_outputs, loss = evaluation_step(*(batch[name] for name in inputs), batch["label"])
        if outputs is None:
            outputs = np.zeros([len(split), batch_outputs.shape[-1]], np.float32)
        outputs[batch["index"]] = batch_outputs
        total += float(loss) * len(batch["index"])
        advance(len(batch["index"]))
    return Outcome(outputs, total / len(split))
