"""The device that computes an operation, and what depends on it."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Optional

import tensorflow as tf
from tensorflow.python.client import device_lib

from disan_tf.ops.tracing import is_compiled, is_saving

# Numbers in one tensor of a block on a GPU, 512 MiB in float32: few blocks, since each starts
# operations. Other sizes have not been measured.
GPU_BLOCK_NUMBERS = 1 << 27

_scope = threading.local()


@contextlib.contextmanager
def target(device: str) -> Iterator[None]:
    """Makes this thread trace functions for a "CPU" or a "GPU", whatever this machine has."""
    before = getattr(_scope, "target", None)
    _scope.target = device
    try:
        yield
    finally:
        _scope.target = before


def device_type() -> str:
    """Returns the type of the device, such as "CPU", that computes an operation called here.

    It is the innermost `tf.device`, which a strategy's replicas have too, if the device exists;
    otherwise the device that TensorFlow prefers. `target` goes before both.
    """
    if getattr(_scope, "target", None):
        return _scope.target
    with tf.init_scope():  # a traced operation is placed later
        return tf.DeviceSpec.from_string(tf.zeros([]).device).device_type or "CPU"


def is_on_gpu() -> bool:
    """Returns whether an operation called here runs on a GPU.

    False while TensorFlow writes a SavedModel, which any machine may load.
    """
    return not is_saving() and device_type() == "GPU"


def block_numbers(on_cpu: int) -> int:
    """Returns how many numbers one tensor of a block holds: `on_cpu`, or more on a GPU."""
    return GPU_BLOCK_NUMBERS if is_on_gpu() else on_cpu


@contextlib.contextmanager
def on_host():
    """Keeps the operations of the context in host memory, if the others run on a GPU.

    Batches come from host memory. If shapes and indices that depend on a batch alone are computed
    there, the host need not wait for the GPU before it knows them.
    """
    if not is_compiled() and is_on_gpu():
        with tf.device("CPU:0"):
            yield
    else:
        yield


def gpu_memory() -> Optional[int]:
    """Returns the bytes that TensorFlow may use of the smallest visible GPU; None without a GPU."""
    if not tf.config.get_visible_devices("GPU"):
        return None
    devices = device_lib.list_local_devices()
    return min(device.memory_limit for device in devices if device.device_type == "GPU")


def free_gpu_memory() -> Optional[int]:
    """Returns the bytes that are still free on the GPU of most use; None without a GPU."""
    memory = gpu_memory()
    if memory is None:
        return None
    names = [
        device.name.partition("device:")[2] for device in tf.config.list_logical_devices("GPU")
    ]
    used = max(tf.config.experimental.get_memory_info(name)["current"] for name in names)
    return max(0, memory - used)
