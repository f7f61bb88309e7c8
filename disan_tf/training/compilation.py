"""Compilation of steps: by TensorFlow for all shapes, or by XLA for batches of few shapes."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.progress import progress_bar
from disan_tf.ops.batch_share import counting
from disan_tf.ops.tracing import device_type

SHORTEST = 8  # tokens; shorter batches are padded to them


class Compiler:
    """Compiles the steps of one training, by XLA if `jit_compile` is true, see `BucketedStep`.

    Attributes:
      compilations: the number of functions that XLA has compiled.
    """

    def __init__(self, jit_compile: bool = False):
        self.jit_compile = jit_compile
        self._steps: list[BucketedStep] = []

    def compile(
        self, step: Callable, signature: Sequence[tf.TensorSpec], rows: Optional[int] = None
    ) -> Callable:
        """Compiles a step, a function of tensors with the specs of `signature`.

        `rows` is the number of examples in a whole batch, see `BucketedStep`.
        """
        if not self.jit_compile:
            return tf.function(step, input_signature=signature, autograph=False)
        self._steps.append(BucketedStep(step, signature, rows))
        return self._steps[-1]

    @property
    def compilations(self) -> int:
        return sum(len(step.compiled) for step in self._steps)


class BucketedStep:
    """A step that XLA compiles once for each shape of a batch.

    The second axis of a tensor counts tokens. It is padded with 0 to one `padded_length` for all
    tensors, so that batches have few shapes. Dropout draws the masks of the padded batch. The last
    batch of an epoch is padded to `rows` examples, which `mean_of_rows` leaves out.

    Args:
      step, signature: a function of tensors, and their specs.
      rows: the examples of a whole batch; None = smaller batches have shapes of their own, for
        steps with statistics of the batch's rows.

    Attributes:
      compiled: shapes of the arguments -> the function that is compiled for them.
    """

    def __init__(self, step: Callable, signature: Sequence[tf.TensorSpec], rows=None):
        self._step, self._signature, self._rows = step, signature, rows
        self.compiled: dict[tuple, Callable] = {}

    def __call__(self, *batch: tf.Tensor):
        function, arguments = self.function_of(batch)
        results, rows = function(*arguments), len(batch[0])
        if len(arguments[1]) == rows:
            return results
        return tf.nest.map_structure(lambda y: y[:rows] if y.shape.rank else y, results)

    def function_of(self, batch: Sequence[tf.Tensor]) -> tuple[Callable, list]:
        """Returns the function for a batch, and its arguments: the rows, and the padded batch."""
        batch = pad_tokens([*map(tf.convert_to_tensor, batch)])
        rows = tf.constant(batch[0].shape[0])
        batch = [pad_rows(tensor, self._rows or 0) for tensor in batch]
        shapes = tuple(tuple(tensor.shape) for tensor in batch)
        if shapes not in self.compiled:
            specs = [tf.TensorSpec(argument.shape, argument.dtype) for argument in batch]

            def step(rows, *batch):
                with counting(rows if self._rows else None):
                    return self._step(*batch)

            self.compiled[shapes] = tf.function(
                step,
                input_signature=[tf.TensorSpec([], tf.int32), *specs],
                autograph=False,
                jit_compile=True,
            )
        return self.compiled[shapes], [rows, *batch]

    def prepare(self, batch: Sequence[tf.Tensor], lengths: Sequence[int], variables) -> None:
        """Compiles the step for batches of some lengths, side by side, and leaves no other trace.

        Args:
          batch: the tensors of some batch.
          lengths: see `padded_length`.
          variables: all variables that the step changes.
        """
        before = [tf.identity(variable) for variable in variables]
        batches = [[with_length(tensor, length) for tensor in batch] for length in lengths]
        for batch in batches:  # Keras' layers are not traced in several threads
            self.function_of(batch)[0].get_concrete_function()
        bar = progress_bar("compile", "programs", len(batches))
        with bar, ThreadPoolExecutor(os.cpu_count()) as pool:
            for _ in pool.map(lambda batch: self(*batch), batches):
                bar.update(1)
        for variable, value in zip(variables, before):
            variable.assign(value)

    def get_concrete_function(self):
        """Returns the step for all shapes, which XLA does not compile, to show its graph."""
        step = tf.function(self._step, input_signature=self._signature, autograph=False)
        return step.get_concrete_function()


def padded_length(length: int) -> int:
    """Returns the least of 8, 16, 24, 32, 48, 64, 96, 128, ... that is at least `length`."""
    power = SHORTEST
    while power < length:
        power *= 2
    shorter = power * 3 // 4
    return shorter if length <= shorter and shorter % SHORTEST == 0 else power


def padded_lengths(lengths: np.ndarray, batches: np.ndarray) -> list[int]:
    """Returns the distinct `padded_length`s of batches <int>[batches, rows], negative = none.

    `lengths` has the tokens of the longest sentence of each example, <int>[examples].
    """
    longest = np.max(np.where(batches >= 0, lengths[batches], 0), axis=1)
    return sorted({padded_length(int(length)) for length in longest})


def pad_tokens(tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Pads the second axis of each [batch, length, ...] with 0 to one `padded_length`."""
    lengths = [tensor.shape[1] for tensor in tensors if tensor.shape.rank > 1]
    return [with_length(tensor, padded_length(max(lengths, default=0))) for tensor in tensors]


def with_length(tensor: tf.Tensor, length: int) -> tf.Tensor:
    """Cuts or pads with 0 the second axis of [batch, length, ...]; other tensors stay."""
    if tensor.shape.rank < 2:
        return tensor
    tensor = tensor[:, :length]
    surplus = length - tensor.shape[1]
    return tf.pad(tensor, [[0, 0], [0, surplus], *[[0, 0]] * (tensor.shape.rank - 2)])


def pad_rows(tensor: tf.Tensor, rows: int) -> tf.Tensor:
    """Pads the first axis of [batch, ...] with 0 to at least `rows`."""
    surplus = max(0, rows - tensor.shape[0])
    return tf.pad(tensor, [[0, surplus], *[[0, 0]] * (tensor.shape.rank - 1)])


def make_compiler(train, model) -> Compiler:
    """Makes the compiler that `train.jit_compile` chooses.

    "auto" stands for True on a GPU, for a model without obstacle.
    """
    choice = str(train.jit_compile)
    if choice != "auto":
        return Compiler(choice == "True")
    encoder = {"unselected": getattr(model.encoder, "unselected", None)}
    task = "language_model" if model.criterion == "log_likelihood" else ""
    found = obstacles(train, encoder, task, model.encoder.dtype_policy.name)
    return Compiler(device_type() == "GPU" and not any(found))


def obstacles(train, encoder, task: str, dtype: str) -> Iterator[tuple[str, str, str]]:
    """Yields the setting, the reason and the remedy for each obstacle to XLA.

    XLA compiles a function for fixed shapes. Rows or batches that depend on the data would have a
    shape of their own in nearly every step.

    Args:
      train: the `TrainingOptions`.
      encoder: the section of the config.
      task: the name of the task.
      dtype: the precision.
    """
    if task == "language_model":
        reason = "whose softmax reads as many rows as a batch has words"
        yield "task.name=language_model", reason, "train a model of sentences"
    if train.distribution != "none":
        reason = "whose steps run on several devices"
        yield f"train.distribution={train.distribution}", reason, "set train.distribution to none"
    if train.batches.batch_tokens:
        reason = "which gives nearly every batch a size of its own"
        yield f"train.batch_tokens={train.batches.batch_tokens}", reason, "set it to 0"
    if encoder.get("unselected") == "drop":
        reason = "whose sentences become as short as the selection"
        yield "encoder.unselected=drop", reason, "set it to mean"
    if dtype == "mixed_float16":
        reason = "whose loss scale was not tried under XLA"
        yield "dtype=mixed_float16", reason, "set it to mixed_bfloat16"
