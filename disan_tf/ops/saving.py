"""Detection of functions that are traced for a file, which other processes load."""

import sys

import tensorflow as tf
from tensorflow.python.saved_model import save_context

_CONVERTERS = (  # places of the code that traces functions for ONNX and LiteRT
    "/keras/src/export/litert",
    "/keras/src/export/onnx",
    "/tensorflow/lite/python/",
    "/tf2onnx/",
)
_EXPORTERS = (*_CONVERTERS, "/keras/src/export/", "/tf_keras/src/export/")


@tf.autograph.experimental.do_not_convert
def is_saving() -> bool:
    """Returns whether this thread traces a function for a SavedModel, an ONNX or a LiteRT file.

    `tf.saved_model.save` traces all functions of its object again, even if they were called before,
    and so do Keras' `export` and `save`. Only a concrete function that was made before keeps its
    operations. TensorFlow does not offer this context in its public interface, and the other
    exporters have none, so the stack is searched for them. The result is stored with the graph.
    """
    if save_context.in_save_context():
        return True
    return _is_traced_by(_EXPORTERS)


@tf.autograph.experimental.do_not_convert
def is_converted() -> bool:
    """Returns whether this thread traces a function for an ONNX or a LiteRT file.

    Their readers, like XLA, do best with shapes that do not depend on the data.
    """
    return _is_traced_by(_CONVERTERS)


def _is_traced_by(places: tuple) -> bool:
    if tf.executing_eagerly():
        return False
    graph = tf.compat.v1.get_default_graph()
    if not hasattr(graph, "_disan_tf_tracers"):
        graph._disan_tf_tracers = {}
    if places not in graph._disan_tf_tracers:
        graph._disan_tf_tracers[places] = _is_on_the_stack(places)
    return graph._disan_tf_tracers[places]


def _is_on_the_stack(places: tuple) -> bool:
    frame = sys._getframe()
    while frame is not None:
        path = frame.f_code.co_filename.replace("\\", "/")
        if any(place in path for place in places):
            return True
        frame = frame.f_back
    return False
