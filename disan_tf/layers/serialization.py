"""Keras finds the classes of this package by name: files load without `custom_objects`."""

import tensorflow as tf

serializable = tf.keras.saving.register_keras_serializable("disan_tf")
