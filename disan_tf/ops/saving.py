"""Detection of functions that are traced for a file, which other processes load."""

import sys

import tensorflow as tf
from tensorflow.python.saved_model import save_context

_EXPORTERS = (  # folders of the code that traces functions for ONNX, LiteRT and Keras' `export`
    "/keras/src/export/",
    "/tf_keras/src/export/",
    "/tensorflow/lite/python/",
    "/tf2onnx/",
)


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
    if tf.executing_eagerly():
        return False
    graph = tf.compat.v1.get_default_graph()
    if not hasattr(graph, "_disan_tf_is_exported"):
        graph._disan_tf_is_exported = _is_traced_by_an_exporter()
    return graph._disan_tf_is_exported


def _is_traced_by_an_exporter() -> bool:
    frame = sys._getframe()
    while frame is not None:
        path = frame.f_code.co_filename.replace("\\", "/")
        if any(folder in path for folder in _EXPORTERS):
            return True
        frame = frame.f_back
    return False
