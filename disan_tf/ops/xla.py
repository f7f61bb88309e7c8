"""Detection of traced functions that XLA will compile, which cannot use native operations."""

import contextlib
import sys
import threading
from collections.abc import Iterator

import tensorflow as tf

from disan_tf.ops.saving import is_converted

_TRACER = "polymorphic_function.py"  # of TensorFlow; its `Function` knows `jit_compile`
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

    So it is where XLA will compile the function, a converter reads it (see `is_converted`), or
    this is inside `compilable`.

    XLA compiles with `tf.function(jit_compile=True)` and with Keras' `compile(jit_compile=True)`.
    TensorFlow does not expose this to the function, so the stack is searched for functions that are
    being traced. The result is stored with the graph.
    """
    if tf.executing_eagerly():
        return False
    return getattr(_scope, "compilable", False) or is_jit_compiled() or is_converted()


@tf.autograph.experimental.do_not_convert
def is_jit_compiled() -> bool:
    """Returns whether XLA will compile the function being traced; `compilable` does not count."""
    if tf.executing_eagerly():
        return False
    graph = tf.compat.v1.get_default_graph()
    if not hasattr(graph, "_disan_tf_is_compiled"):
        graph._disan_tf_is_compiled = _is_traced_for_xla()
    return graph._disan_tf_is_compiled


def ensure_shape(x: tf.Tensor, shape) -> tf.Tensor:
    """Calls `tf.ensure_shape`; where `is_compiled`, sets the shape without this operation.

    LiteRT lacks it.
    """
    if not is_compiled():
        return tf.ensure_shape(x, shape)
    x.set_shape(shape)
    return x


def _is_traced_for_xla() -> bool:
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.endswith(_TRACER):
            function = frame.f_locals.get("self")
            if getattr(function, "_jit_compile", False):
                return True
        frame = frame.f_back
    return False
