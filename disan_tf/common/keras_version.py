"""Chooses the Keras of `tf.keras`, which all layers and models of this package belong to.

TensorFlow 2.15 comes with Keras 2. Later versions come with Keras 3, and use Keras 2 from the
package tf_keras if TF_USE_LEGACY_KERAS=1 is set before `tf.keras` is first used. `import disan_tf`
sets this variable, unless the program wants Keras 3: DISAN_TF_KERAS=3 or TF_USE_LEGACY_KERAS=0 is
set, or `tf.keras` is Keras 3 already. Training needs Keras 2.
"""

import functools
import importlib
import importlib.metadata
import importlib.util
import os
import sys
import types

from disan_tf.common.errors import UserError

CHOICE = "DISAN_TF_KERAS"  # "2" or "3"
VARIABLE = "TF_USE_LEGACY_KERAS"
_YES = ("1", "true", "True")  # the values that TensorFlow reads as true


class KerasVersionError(UserError, ImportError):
    """The error if `tf.keras` is not the Keras that is needed; its message names the remedy."""


def choose() -> None:
    """Sets TF_USE_LEGACY_KERAS, if it is not set, where TensorFlow comes with Keras 3."""
    if not _comes_with_keras_3():
        return
    wanted = os.environ.get(CHOICE)
    if wanted == "3":
        os.environ.setdefault(VARIABLE, "0")
    elif wanted == "2" or not _uses_keras_3():
        os.environ.setdefault(VARIABLE, "1")


def check() -> None:
    """Raises KerasVersionError if `tf.keras` is not the Keras that was chosen."""
    try:
        sentence = _problem()
    except ImportError as error:
        raise KerasVersionError(
            f"Keras 3 cannot be imported ({error}): set KERAS_BACKEND=tensorflow before Python "
            "starts."
        ) from error
    if sentence:
        raise KerasVersionError(sentence)


def check_keras_2(purpose: str) -> None:
    """Raises KerasVersionError if `tf.keras` is not Keras 2; `purpose` begins the sentence."""
    check()
    if is_keras_3():
        raise KerasVersionError(
            f"{purpose} needs Keras 2, and tf.keras is Keras 3 here: set {CHOICE}=2 and "
            f"{VARIABLE}=1 before Python starts."
        )


@functools.cache
def is_keras_3() -> bool:
    """Returns whether `tf.keras` is Keras 3; the first call decides which Keras it is."""
    import tensorflow as tf  # after `choose`

    return getattr(tf.keras, "__version__", "2").startswith("3")


def problem() -> str:
    """Returns a sentence on why `tf.keras` is not the chosen Keras, with a remedy, or ""."""
    try:
        check()
    except KerasVersionError as error:
        return str(error)
    return ""


def _problem() -> str:
    """Returns what `problem` does; raises ImportError if Keras 3 cannot be imported."""
    wanted, variable = os.environ.get(CHOICE, ""), os.environ.get(VARIABLE, "")
    if wanted not in ("", "2", "3"):
        return f"{CHOICE}={wanted} must be 2 or 3."
    if wanted == "3" and variable in _YES:
        return (
            f"{CHOICE}=3 asks for Keras 3, and {VARIABLE}={variable} for Keras 2: set only one of "
            "them."
        )
    if variable in _YES:
        return _problem_with_tf_keras()
    if wanted == "3" and not _comes_with_keras_3():
        return (
            f"{CHOICE}=3 asks for Keras 3, and Keras {importlib.metadata.version('keras')} is "
            "installed: install TensorFlow 2.16 or later."
        )
    if not _comes_with_keras_3():
        return ""
    import tensorflow as tf

    if wanted == "2":
        return (
            f"{CHOICE}=2 asks for Keras 2, and {VARIABLE}={variable} has TensorFlow "
            f"{tf.__version__} use Keras 3: set {VARIABLE}=1 before Python starts."
        )
    importlib.import_module("keras")  # TensorFlow's loader hides why it fails
    if (backend := tf.keras.backend.backend()) != "tensorflow":
        return (
            f"Keras 3 computes with {backend} here, and disan_tf needs TensorFlow: set "
            "KERAS_BACKEND=tensorflow before Python starts."
        )
    return ""


def _problem_with_tf_keras():
    """Returns a sentence on why `tf.keras` is not Keras 2 from tf_keras; "" if it is."""
    import tensorflow as tf

    release = ".".join(tf.__version__.split(".")[:2])
    if importlib.util.find_spec("tf_keras") is None:
        return (
            f"disan_tf needs Keras 2, which TensorFlow {tf.__version__} takes from the package "
            f'tf_keras, and that is not installed: python -m pip install "tf_keras~={release}.0", '
            f"or set {CHOICE}=3, which suffices for layers and predictions."
        )
    if getattr(tf.keras, "__version__", "2").startswith("3"):
        return (
            f"tf.keras was used before disan_tf was imported, and is Keras 3 already, where "
            f"{VARIABLE}={os.environ[VARIABLE]} asks for Keras 2: import disan_tf first, or set "
            f"{VARIABLE}=1 before Python starts."
        )
    return ""


def _uses_keras_3() -> bool:
    """Returns whether the program has used `tf.keras`, as Keras 3."""
    keras = vars(sys.modules.get("tensorflow", sys)).get("keras")
    is_loaded = type(keras) is types.ModuleType  # before its first use it is a lazy loader
    return is_loaded and getattr(keras, "__version__", "").startswith("3")


def _comes_with_keras_3() -> bool:
    """Returns whether TensorFlow comes with Keras 3, by the version of the package `keras`."""
    try:
        return int(importlib.metadata.version("keras").split(".")[0]) >= 3
    except importlib.metadata.PackageNotFoundError:
        return False
