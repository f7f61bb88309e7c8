"""Whether what is being traced will be compiled by XLA, which takes no operations of ours."""

import contextlib
import sys
import threading
from collections.abc import Iterator

import tensorflow as tf

_TRACER = "polymorphic_function.py"  # of TensorFlow; its `Function` knows `jit_compile`
_scope = threading.local()


@contextlib.contextmanager
def compilable() -> Iterator[None]:
    """Inside it, all that this thread traces can be compiled: no shape depends on the data."""
    before = getattr(_scope, "compilable", False)
    _scope.compilable = True
    try:
        yield
    finally:
        _scope.compilable = before


@tf.autograph.experimental.do_not_convert
def is_compiled() -> bool:
    """Whether a function with `jit_compile=True` is being traced, or this is inside `compilable`.

    So with `tf.function(jit_compile=True)` and with Keras' `compile(jit_compile=True)`. TensorFlow
    tells it nowhere, so the functions that are being traced are looked for on the stack; the answer
    is kept with the graph.
    """
    if tf.executing_eagerly():
        return False
    if getattr(_scope, "compilable", False):
        return True
    graph = tf.compat.v1.get_default_graph()
    if not hasattr(graph, "_disan_tf_is_compiled"):
        graph._disan_tf_is_compiled = _is_traced_for_xla()
    return graph._disan_tf_is_compiled


def _is_traced_for_xla() -> bool:
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.endswith(_TRACER):
            function = frame.f_locals.get("self")
            if getattr(function, "_jit_compile", False):
                return True
        frame = frame.f_back
    return False
