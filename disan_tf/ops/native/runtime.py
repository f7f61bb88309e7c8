"""The library of native operations, and whether they are available and used.

The operations need Linux and a C++ compiler. They are not used on machines with a GPU (the kernels
are for CPUs), or if the environment has DISAN_TF_NATIVE=0.
"""

import contextlib
import functools
import os
import sys
import threading

import tensorflow as tf
from absl import logging

from disan_tf.ops.native.build import BuildError, library
from disan_tf.ops.saving import is_saving
from disan_tf.ops.xla import is_compiled

# Dtypes of the operations between matrix products; other dtypes are computed in portable form.
DTYPES = (tf.float32, tf.bfloat16)
_scope = threading.local()


@functools.cache
def unavailable() -> str:
    """Returns in one clause why the native operations cannot be used; "" if they can."""
    if os.environ.get("DISAN_TF_NATIVE") == "0":
        return "DISAN_TF_NATIVE=0"
    if not sys.platform.startswith("linux"):
        return f"the platform is {sys.platform}, not Linux"
    if tf.config.list_physical_devices("GPU"):
        return "there is a GPU, and the native operations run on CPUs"
    try:
        operations()
    except (BuildError, tf.errors.OpError) as error:
        return " ".join(str(error).split())
    return ""


def is_used() -> bool:
    """Returns whether operations are native here.

    They are native if they are available, and the call is neither inside `portable`, nor traced for
    a SavedModel, nor compiled by XLA.
    """
    _log_choice()
    is_portable = getattr(_scope, "portable", False) or is_saving()
    return not unavailable() and not is_portable and not is_compiled()


@contextlib.contextmanager
def portable():
    """Uses portable TensorFlow for all that this thread calls or traces inside the context."""
    before = getattr(_scope, "portable", False)
    _scope.portable = True
    try:
        yield
    finally:
        _scope.portable = before


@functools.cache
def _log_choice():
    """Logs once that the operations are not native, and why."""
    if unavailable():
        logging.warning("The model runs in portable TensorFlow: %s.", unavailable())


@functools.cache
def operations():
    """Returns the loaded library; raises BuildError if it cannot be built."""
    return tf.load_op_library(str(library()))
