"""A limit for the memory of a model's weights, checked before they are allocated."""

import contextlib
import math
import os
import threading
from collections.abc import Iterator
from typing import Optional

import tensorflow as tf

from disan_tf.common.keras_version import is_keras_3
from disan_tf.ops.devices import gpu_memory


@contextlib.contextmanager
def memory_limit(copies: int, most: Optional[tuple[str, int]] = None) -> Iterator[None]:
    """Raises MemoryError in the block for variables that exceed the device's memory.

    The device is the smallest visible GPU, since a strategy copies the variables to each, or the
    machine without a GPU. Under Keras 3 the weights of layers are checked, in the block's thread.

    Args:
      copies: copies of each weight: 1 to predict, 4 to train (gradient and two optimizer slots).
      most: what has memory for the copies, such as a file that holds the weights, and how many
        bytes; None = the device.
    """
    (device, memory), used = most or _device_memory(), 0

    def count(name, shape, dtype):
        nonlocal used
        shape = tf.TensorShape(shape)
        if shape.is_fully_defined():
            used += copies * math.prod(shape) * tf.dtypes.as_dtype(dtype).size
        if used > memory:
            raise MemoryError(
                f"with {name} of {' x '.join(map(str, shape))} numbers the model "
                f"needs {used / 1e9:,.0f} GB, and the {device} has {memory / 1e9:,.0f} GB"
            )

    def create(next_creator, **options):
        count(options.get("name"), options.get("shape"), options["dtype"])
        return next_creator(**options)

    with _counted_weights(count) if is_keras_3() else tf.variable_creator_scope(create):
        yield


@contextlib.contextmanager
def _counted_weights(count) -> Iterator[None]:
    """Calls `count` before a layer of Keras 3, which knows no variable creators, adds a weight."""
    add_weight, thread = tf.keras.layers.Layer.add_weight, threading.get_ident()

    def counted(layer, shape=(), *args, **options):
        if threading.get_ident() == thread:
            count(options.get("name"), shape, options.get("dtype") or layer.variable_dtype)
        return add_weight(layer, shape, *args, **options)

    tf.keras.layers.Layer.add_weight = counted
    try:
        yield
    finally:
        tf.keras.layers.Layer.add_weight = add_weight


def _device_memory() -> tuple[str, int]:
    """Returns "GPU" or "machine", and its memory in bytes."""
    memory = gpu_memory()
    if memory is not None:
        return "GPU", memory
    return "machine", os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
