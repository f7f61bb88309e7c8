"""Attention-only sentence encoders for TensorFlow 2: DiSAN and the papers around it."""

import os

from disan_tf import legacy_keras

__version__ = "0.1.0"

# TensorFlow announces its CPU features and absent GPUs on every start; errors still raise.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
legacy_keras.choose()
