"""Training: the loop, optimizers, checkpoints, callbacks."""

from disan_tf.common import keras_version

keras_version.check_keras_2("Training")
