"""The recipe of `TextClassifier.fine_tune`: held-out texts, averaged weights, the best epoch.

It also keeps TensorBoard from images that would end the process.
"""

import warnings
from collections.abc import Sequence
from typing import Any, Optional

import numpy as np
import tensorflow as tf

LEARNING_RATE = 0.001  # of Adam; Kingma and Ba 2015
DECAY = 0.99  # of the weights' moving averages; our trials
HELD_OUT = 0.1  # share of each class's texts, if there is no validation data


class BestAverages(tf.keras.callbacks.Callback):
    """Evaluates moving averages of the weights; training ends with the best of them.

    The model keeps the averages from an evaluation until the next epoch begins, so that other
    callbacks save the weights that were evaluated.

    After step t, average = d * average + (1 - d) * weight with d = min(0.99, (1 + t) / (10 + t)),
    starting from the initial weights. Only trainable weights are averaged.

    Args:
      patience: number of epochs without a higher validation score after which training ends.
      score: the name of that score in Keras' logs.
    """

    def __init__(self, patience: int, score: str = "val_accuracy") -> None:
        super().__init__()
        self.patience, self.score = patience, score

    def on_train_begin(self, logs: Any = None) -> None:
        self.weights = self.model.trainable_variables
        self.averages = self._values()
        self.step, self.waited, self.best_score = 0, 0, -1.0
        self.best: Optional[list[np.ndarray]] = None
        self.trained: Optional[list[np.ndarray]] = None

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if self.trained is not None:
            self._assign(self.trained)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.step += 1
        decay = min(DECAY, (1 + self.step) / (10 + self.step))
        self.averages = [
            average + (1 - decay) * (value - average)
            for average, value in zip(self.averages, self._values())
        ]

    def on_test_begin(self, logs: Any = None) -> None:
        self.trained = self._values()
        self._assign(self.averages)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.waited += 1
        if logs[self.score] > self.best_score:
            self.best_score, self.waited = logs[self.score], 0
            self.best = self.averages
        if self.waited >= self.patience:
            self.model.stop_training = True

    def on_train_end(self, logs: Any = None) -> None:
        if self.best is not None:
            self._assign(self.best)

    def _values(self) -> list[np.ndarray]:
        return [weight.numpy() for weight in self.weights]

    def _assign(self, values: Sequence[np.ndarray]) -> None:
        for weight, value in zip(self.weights, values):
            weight.assign(value)


def hold_out(texts: Any, labels: np.ndarray, seed: int) -> tuple[tuple, tuple]:
    """Draws `HELD_OUT` of each class's examples, at least one of two.

    Multi-label examples count as one class.

    Args:
      texts: an array of the examples' texts; for pairs a tuple of two.
      labels: class numbers <int64>[examples], or rows <float32>[examples, classes].
      seed: seeds the draw.

    Returns:
      Texts and labels of the other examples, and of those that are held out.

    Raises:
      ValueError: each class has only one example.
    """
    labels, draw = np.asanyarray(labels), np.random.default_rng(seed)
    is_held_out = np.zeros(len(labels), bool)
    numbers = labels if labels.ndim == 1 else np.zeros(len(labels))
    for number in np.unique(numbers):
        (examples,) = np.nonzero(numbers == number)
        count = max(1, round(HELD_OUT * len(examples))) if len(examples) > 1 else 0
        is_held_out[draw.permutation(examples)[:count]] = True
    if not is_held_out.any():
        raise ValueError(
            "each class has only one text, so none can be held out; add texts or validation_data."
        )
    kept, held_out = (
        (tf.nest.map_structure(lambda column, part=part: column[part], texts), labels[part])
        for part in (~is_held_out, is_held_out)
    )
    return kept, held_out


def leave_out_empty_images(weights: Sequence[tf.Variable], callbacks: Any) -> None:
    """Turns off TensorBoard's images if a weight is empty, which would end the process."""
    empty = [weight.name for weight in weights if 0 in weight.shape]
    for callback in tf.nest.flatten(callbacks or []) if empty else []:
        if isinstance(callback, tf.keras.callbacks.TensorBoard) and callback.write_images:
            sentence = (
                f"TensorBoard cannot draw the empty weight {empty[0]}; no images are written."
            )
            warnings.warn(sentence, stacklevel=3)
            callback.write_images = False
