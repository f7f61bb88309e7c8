"""Has `tf.keras` be Keras 2, which this package is written for.

TensorFlow 2.15 comes with Keras 2. Later ones come with Keras 3, and take Keras 2 from the package
tf_keras if TF_USE_LEGACY_KERAS=1 stands in the environment before `tf.keras` is first used.
"""

import importlib.metadata
import importlib.util
import os

from disan_tf.common.errors import UserError

VARIABLE = "TF_USE_LEGACY_KERAS"
_YES = ("1", "true", "True")  # what TensorFlow takes for yes


class LegacyKerasError(UserError, ImportError):
    """Why `tf.keras` is not Keras 2, and what to do."""


def choose() -> None:
    """Asks TensorFlow for Keras 2, unless it comes with it or the environment says otherwise."""
    if _comes_with_keras_3():
        os.environ.setdefault(VARIABLE, "1")


def check() -> None:
    """Raises LegacyKerasError if `tf.keras` is not Keras 2."""
    if sentence := problem():
        raise LegacyKerasError(sentence)


def problem() -> str:
    """Why `tf.keras` is not Keras 2, as one sentence with its remedy; "" if it is."""
    import tensorflow as tf  # `choose` comes first

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
    """Whether TensorFlow uses Keras 3 unless told otherwise: it takes the installed `keras`."""
    try:
        return int(importlib.metadata.version("keras").split(".")[0]) >= 3
    except importlib.metadata.PackageNotFoundError:
        return False
