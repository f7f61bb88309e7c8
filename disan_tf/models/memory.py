"""A limit for the memory of a model's weights, checked before they are allocated."""

import contextlib
import math
import os
from collections.abc import Iterator
from typing import Optional

import tensorflow as tf

from disan_tf.ops.devices import gpu_memory


@contextlib.contextmanager
def memory_limit(copies: int, most: Optional[tuple[str, int]] = None) -> Iterator[None]:
    """Raises MemoryError in the block for variables that exceed the device's memory.

    The device is the smallest visible GPU, since a strategy copies the variables to each, or the
    machine without a GPU.
    Keras 3 makes its variables outside of the block's scope: there nothing is checked.

    Args:
      copies: copies of each weight: 1 to predict, 4 to train (gradient and two optimizer slots).
      most: what has memory for the copies, such as a file that holds the weights, and how many
        bytes; None = the device.

    Raises:
      MemoryError: the `copies` of the weights exceed the memory; the error names the first.
    """
    (device, memory), used = most or _device_memory(), 0

    def create(next_creator, **options):
        nonlocal used
        shape = tf.TensorShape(options.get("shape"))
        if shape.is_fully_defined():
            used += copies * math.prod(shape) * tf.dtypes.as_dtype(options["dtype"]).size
        if used > memory:
            raise MemoryError(
                f"with {options.get('name')} of {' x '.join(map(str, shape))} numbers the model "
                f"needs {used / 1e9:,.0f} GB, and the {device} has {memory / 1e9:,.0f} GB"
            )
        return next_creator(**options)

    with tf.variable_creator_scope(create):
        yield


def _device_memory() -> tuple[str, int]:
    """Returns "GPU" or "machine", and its memory in bytes."""
    memory = gpu_memory()
    if memory is not None:
        return "GPU", memory
    return "machine", os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
