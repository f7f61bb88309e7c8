"""Compilation of steps: by TensorFlow for all shapes, or by XLA for batches of few lengths."""

from collections.abc import Sequence
from typing import Callable

import tensorflow as tf

SHORTEST = 8  # tokens; shorter batches are padded to them


class Compiler:
    """Compiles the steps of one training.

    Args:
      jit_compile: whether XLA compiles, see `FewShapes`.

    Attributes:
      compilations: the number of functions that XLA has compiled.
    """

    def __init__(self, jit_compile: bool = False):
        self._jit_compile = jit_compile
        self._steps: list[FewShapes] = []

    def compile(self, step: Callable, signature: Sequence[tf.TensorSpec]) -> Callable:
        """Compiles a step, a function of tensors with the specs of `signature`."""
        if not self._jit_compile:
            return tf.function(step, input_signature=signature, autograph=False)
        self._steps.append(FewShapes(step, signature))
        return self._steps[-1]

    @property
    def compilations(self) -> int:
        return sum(len(step.compiled) for step in self._steps)


class FewShapes:
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
            specs = [tf.TensorSpec(each.shape, each.dtype) for each in batch]
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


def make_compiler(config) -> Compiler:
    """Makes the compiler that `config.train.jit_compile` chooses."""
    return Compiler(config.get("train", {}).get("jit_compile", False))
