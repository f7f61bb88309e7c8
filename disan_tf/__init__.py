"""Attention-based sentence encoders for TensorFlow 2: DiSAN and the papers around it.

    disan_tf.presets()      lists the released models
    disan_tf.load(name)     loads a trained model, for raw text
    disan_tf.load_keras(p)  loads a .keras file, even an untrusted one
    disan_tf.TextClassifier a Keras classifier of raw text that starts with a trained model
    disan_tf.layers         the papers' mechanisms as Keras layers
    disan_tf.encoders       sentence encoders as Keras layers
    disan_tf.ops            the functions on tensors that the layers call

These names import TensorFlow when they are first used, not before.
"""

import importlib
import os
import sys
from typing import TYPE_CHECKING

from disan_tf.common import installation, keras_version

installation.check_platform()

from disan_tf.common import process  # noqa: E402  (Windows lacks its fcntl)

if TYPE_CHECKING:
    from disan_tf import encoders, layers, ops
    from disan_tf.serving.fine_tuning.text_classifier import TextClassifier
    from disan_tf.serving.inference.model import load
    from disan_tf.serving.keras_files import load_keras
    from disan_tf.serving.presets import presets

__version__ = installation.VERSION
__all__ = ["TextClassifier", "encoders", "layers", "load", "load_keras", "ops", "presets"]

# Name -> its module; the others are modules themselves.
_MODULES = {
    "TextClassifier": "disan_tf.serving.fine_tuning.text_classifier",
    "load": "disan_tf.serving.inference.model",
    "load_keras": "disan_tf.serving.keras_files",
    "presets": "disan_tf.serving.presets",
}

# TensorFlow announces its CPU features and absent GPUs on every start; errors still raise.
os.environ.setdefault(process.LOG_LEVEL, "3")
# HDF5 fails on file systems without locks; our files need none, as they are renamed when complete.
os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")
if "tensorflow" not in sys.modules:
    sys.meta_path.insert(0, process.QuietImport())
keras_version.choose()


if not TYPE_CHECKING:  # or else a type checker would accept any name

    def __getattr__(name: str):
        """Imports the public names when they are first used."""
        if name in _MODULES:
            return getattr(importlib.import_module(_MODULES[name]), name)
        if name in __all__:
            return importlib.import_module(f"disan_tf.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
