"""Registration of classes with Keras, so that files load without `custom_objects`."""

import tensorflow as tf

serializable = tf.keras.saving.register_keras_serializable("disan_tf")
