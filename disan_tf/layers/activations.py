"""Activations by name, as in configs."""

import tensorflow as tf

from disan_tf.common.options import suggestion


def activation_of(activation):
    """Returns the activation for a name, or for any argument of `tf.keras.activations.get`.

    Raises:
      ValueError: Keras has no such activation.
    """
    try:
        return tf.keras.activations.get(activation)
    except (TypeError, ValueError):
        known = [name for name in dir(tf.keras.activations) if not name.startswith("_")]
        raise ValueError(
            f"activation={activation} must be an activation of Keras{suggestion(activation, known)}"
        ) from None
