"""Detection of functions that are traced for a SavedModel, which other processes load."""

from tensorflow.python.saved_model import save_context


def is_saving() -> bool:
    """Returns whether TensorFlow is writing a SavedModel in this thread.

    `tf.saved_model.save` traces all functions of its object again, even if they were called before,
    and so do Keras' `export` and `save`. Only a concrete function that was made before keeps its
    operations. TensorFlow does not offer this context in its public interface.
    """
    return save_context.in_save_context()
