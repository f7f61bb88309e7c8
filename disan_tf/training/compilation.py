"""Compilation of steps: by TensorFlow for all shapes, or by XLA for batches of few lengths."""

from collections.abc import Iterator, Sequence
from typing import Callable

import tensorflow as tf

from disan_tf.common.errors import UserError

SHORTEST = 8  # tokens; shorter batches are padded to them


class Compiler:
    """Compiles the steps of one training.

    Args:
      jit_compile: whether XLA compiles, see `BucketedStep`.

    Attributes:
      compilations: the number of functions that XLA has compiled.
    """

    def __init__(self, jit_compile: bool = False):
        self._jit_compile = jit_compile
        self._steps: list[BucketedStep] = []

    def compile(self, step: Callable, signature: Sequence[tf.TensorSpec]) -> Callable:
        """Compiles a step, a function of tensors with the specs of `signature`."""
        if not self._jit_compile:
            return tf.function(step, input_signature=signature, autograph=False)
        self._steps.append(BucketedStep(step, signature))
        return self._steps[-1]

    @property
    def compilations(self) -> int:
        return sum(len(step.compiled) for step in self._steps)


class BucketedStep:
    """A step that XLA compiles once for each shape of a batch.

    The second axis of a tensor counts tokens. It is padded with 0 to a `padded_length`, so that
    batches have few shapes. Dropout draws the masks of the padded batch.

    Args:
      step: a function of tensors.
      signature: the specs of its arguments.

    Attributes:
      compiled: shapes of the arguments -> the function that is compiled for them.
    """

    def __init__(self, step: Callable, signature: Sequence[tf.TensorSpec]):
        self._step, self._signature = step, signature
        self.compiled: dict[tuple, Callable] = {}

    def __call__(self, *batch: tf.Tensor):
        batch = [pad_tokens(tf.convert_to_tensor(tensor)) for tensor in batch]
        shapes = tuple(tuple(tensor.shape) for tensor in batch)
        if shapes not in self.compiled:
            specs = [tf.TensorSpec(argument.shape, argument.dtype) for argument in batch]
            self.compiled[shapes] = tf.function(
                self._step, input_signature=specs, autograph=False, jit_compile=True
            )
        return self.compiled[shapes](*batch)

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


def pad_tokens(tensor: tf.Tensor) -> tf.Tensor:
    """Pads the second axis of [batch, length, ...] with 0 to its `padded_length`."""
    if tensor.shape.rank < 2:
        return tensor
    surplus = padded_length(tensor.shape[1]) - tensor.shape[1]
    return tf.pad(tensor, [[0, 0], [0, surplus], *[[0, 0]] * (tensor.shape.rank - 2)])


def make_compiler(train) -> Compiler:
    """Makes the compiler that `config.train.jit_compile` chooses; older configs have no value."""
    return Compiler(train.get("jit_compile", False))


def check_jit_compile(jit_compile: bool = False) -> None:
    """Checks `config.train.jit_compile`, any truth value; see `check_xla` for its conditions."""


def check_xla(train, encoder, task: str, dtype: str) -> None:
    """Raises UserError if `train.jit_compile` is set and XLA cannot compile the steps.

    XLA compiles a function for fixed shapes. Rows or batches that depend on the data would have a
    shape of their own in nearly every step.

    Args:
      train, encoder: sections of a config.
      task: the name of its task.
      dtype: its precision.
    """
    if not train.get("jit_compile", False):
        return
    for setting, reason, remedy in _obstacles(train, encoder, task, dtype):
        raise UserError(
            f"--config.train.jit_compile=True does not go with --config.{setting}, {reason}; "
            f"{remedy}, or leave jit_compile at False."
        )


def _obstacles(train, encoder, task: str, dtype: str) -> Iterator[tuple[str, str, str]]:
    """Yields the setting, the reason and the remedy for each obstacle to XLA."""
    if task == "language_model":
        reason = "whose softmax reads as many rows as a batch has words"
        yield "task.name=language_model", reason, "train a model of sentences"
    distribution = train.get("distribution", "none")
    if distribution != "none":
        reason = "whose steps run on several devices"
        yield f"train.distribution={distribution}", reason, "set train.distribution to none"
    if train.batch_tokens:
        reason = "which gives nearly every batch a size of its own"
        yield f"train.batch_tokens={train.batch_tokens}", reason, "set it to 0"
    if encoder.get("unselected") == "drop":
        reason = "whose sentences become as short as the selection"
        yield "encoder.unselected=drop", reason, "set it to mean"
    if dtype == "mixed_float16":
        reason = "whose loss scale was not tried under XLA"
        yield "dtype=mixed_float16", reason, "set it to mixed_bfloat16"
    if train.get("optimizer") == "adagrad" and train.get("optimizer_options", {}).get("start") == 0:
        reason = "which divides by 0 for rows outside the batch"
        yield "train.optimizer_options.start=0.0", reason, "set it above 0"
