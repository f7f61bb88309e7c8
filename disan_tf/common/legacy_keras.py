"""Makes `tf.keras` Keras 2, which this package is written for.

TensorFlow 2.15 comes with Keras 2. Later versions come with Keras 3, and use Keras 2 from the
package tf_keras if TF_USE_LEGACY_KERAS=1 is set before `tf.keras` is first used.
"""

import importlib.metadata
import importlib.util
import os

from disan_tf.common.errors import UserError

VARIABLE = "TF_USE_LEGACY_KERAS"
_YES = ("1", "true", "True")  # the values that TensorFlow reads as true


class LegacyKerasError(UserError, ImportError):
    """The error if `tf.keras` is not Keras 2; its message names the remedy."""


def choose() -> None:
    """Sets TF_USE_LEGACY_KERAS=1 if TensorFlow uses Keras 3 and the variable is not set."""
    if _comes_with_keras_3():
        os.environ.setdefault(VARIABLE, "1")


def check() -> None:
    """Raises LegacyKerasError if `tf.keras` is not Keras 2."""
    if sentence := problem():
        raise LegacyKerasError(sentence)


def problem() -> str:
    """Returns a sentence on why `tf.keras` is not Keras 2, with a remedy; "" if it is."""
    import tensorflow as tf  # after `choose`

    wanted = os.environ.get(VARIABLE) in _YES
    if not wanted and not _comes_with_keras_3():
        return ""
    release = ".".join(tf.__version__.split(".")[:2])
    if importlib.util.find_spec("tf_keras") is None:
        return (
            f"disan_tf needs Keras 2, which TensorFlow {tf.__version__} takes from the package "
            f'tf_keras, and that is not installed: python -m pip install "tf_keras~={release}.0".'
        )
    if not wanted:
        return (
            f"{VARIABLE}={os.environ.get(VARIABLE, '')} has TensorFlow {tf.__version__} use "
            f"Keras 3, and disan_tf needs Keras 2: set {VARIABLE}=1 before Python starts."
        )
    if getattr(tf.keras, "__version__", "2").startswith("3"):
        return (
            "tf.keras was used before disan_tf was imported, and is Keras 3 already, where "
            f"disan_tf needs Keras 2: import disan_tf first, or set {VARIABLE}=1 before Python "
            "starts."
        )
    return ""


def _comes_with_keras_3() -> bool:
    """Returns whether TensorFlow's default is Keras 3: whether the installed `keras` is."""
    try:
        return int(importlib.metadata.version("keras").split(".")[0]) >= 3
    except importlib.metadata.PackageNotFoundError:
        return False
