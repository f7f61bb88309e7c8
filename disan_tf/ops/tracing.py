"""Where and for what an operation is traced: the device, XLA, or a file for other processes.

TensorFlow does not tell a function what it is traced for, so the stack is searched for the code
that traces it. The results are stored with the graph.
"""

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Optional

import tensorflow as tf
from tensorflow.python.client import device_lib
from tensorflow.python.saved_model import save_context

_CONVERTERS = (  # places of the code that traces functions for ONNX and LiteRT
    "/keras/src/export/litert",
    "/keras/src/export/onnx",
    "/tensorflow/lite/python/",
    "/tf2onnx/",
)
_EXPORTERS = (*_CONVERTERS, "/keras/src/export/", "/tf_keras/src/export/")
_TRACER = "polymorphic_function.py"  # of TensorFlow; its `Function` knows `jit_compile`
# Numbers in one tensor of a block on a GPU, 512 MiB in float32: few blocks, since each starts
# operations. Other sizes have not been measured.
GPU_BLOCK_NUMBERS = 1 << 27
_scope = threading.local()


@contextlib.contextmanager
def compilable() -> Iterator[None]:
    """Makes this thread trace functions that XLA can compile: no shape depends on the data."""
    before = getattr(_scope, "compilable", False)
    _scope.compilable = True
    try:
        yield
    finally:
        _scope.compilable = before


@tf.autograph.experimental.do_not_convert
def is_compiled() -> bool:
    """Returns whether no shape may depend on the data in the function that is being traced.

    This holds if XLA will compile the function, if the function becomes an ONNX or a LiteRT file,
    whose readers do best with such shapes too, and inside `compilable`.
    """
    if tf.executing_eagerly():
        return False
    return getattr(_scope, "compilable", False) or is_jit_compiled() or _is_traced_by(_CONVERTERS)


@tf.autograph.experimental.do_not_convert
def is_jit_compiled() -> bool:
    """Returns whether XLA will compile the function being traced; `compilable` does not count.

    XLA compiles with `tf.function(jit_compile=True)` and with Keras' `compile(jit_compile=True)`.
    """
    return not tf.executing_eagerly() and _stored("xla", _is_traced_for_xla)


@tf.autograph.experimental.do_not_convert
def is_saving() -> bool:
    """Returns whether this thread traces a function for a SavedModel, an ONNX or a LiteRT file.

    `tf.saved_model.save` traces all functions of its object again, even if they were called before,
    and so do Keras' `export` and `save`. Only a concrete function that was made before keeps its
    operations.
    """
    return save_context.in_save_context() or _is_traced_by(_EXPORTERS)


def ensure_shape(x: tf.Tensor, shape) -> tf.Tensor:
    """Calls `tf.ensure_shape`; where `is_compiled`, sets the shape without this operation.

    LiteRT lacks it.
    """
    if not is_compiled():
        return tf.ensure_shape(x, shape)
    x.set_shape(shape)
    return x


def _is_traced_by(places: tuple) -> bool:
    def is_on_the_stack():
        paths = (frame.f_code.co_filename.replace("\\", "/") for frame in _frames())
        return any(place in path for path in paths for place in places)

    return not tf.executing_eagerly() and _stored(places, is_on_the_stack)


def _is_traced_for_xla() -> bool:
    tracers = (frame for frame in _frames() if frame.f_code.co_filename.endswith(_TRACER))
    return any(getattr(frame.f_locals.get("self"), "_jit_compile", False) for frame in tracers)


def _frames() -> Iterator:
    frame = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


def _stored(key, compute) -> bool:
    """Returns a value that the graph being traced stores under a key; `compute` makes it once."""
    graph = tf.compat.v1.get_default_graph()
    if not hasattr(graph, "_disan_tf_purposes"):
        graph._disan_tf_purposes = {}
    if key not in graph._disan_tf_purposes:
        graph._disan_tf_purposes[key] = compute()
    return graph._disan_tf_purposes[key]


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
    """Returns the bytes that are free on the GPU with most memory in use; None without a GPU."""
    memory = gpu_memory()
    if memory is None:
        return None
    names = [
        device.name.partition("device:")[2] for device in tf.config.list_logical_devices("GPU")
    ]
    used = max(tf.config.experimental.get_memory_info(name)["current"] for name in names)
    return max(0, memory - used)
