"""Attention-only sentence encoders for TensorFlow 2: DiSAN and the papers around it."""

import os
import sys

from disan_tf.common import legacy_keras, quiet

__version__ = "0.1.0"

# TensorFlow announces its CPU features and absent GPUs on every start; errors still raise.
os.environ.setdefault(quiet.LEVEL, "3")
# HDF5 fails where a file system has no locks; our files get their names once they are whole.
os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")
if "tensorflow" not in sys.modules:
    sys.meta_path.insert(0, quiet.QuietImport())
legacy_keras.choose()


def __getattr__(name: str):
    """`disan_tf.load`, which imports TensorFlow only when it is asked for."""
    if name == "load":
        from disan_tf.serving.inference.model import load

        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
