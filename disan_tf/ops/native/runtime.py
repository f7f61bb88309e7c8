"""Whether the native operations are available and used, and the library that holds them.

They need Linux and a C++ compiler, and are left alone beside a GPU (the kernels are for CPUs) and
where the environment has DISAN_TF_NATIVE=0.
"""

import contextlib
import functools
import os
import sys
import threading

import tensorflow as tf
from absl import logging

from disan_tf.ops.native.build import BuildError, library
from disan_tf.ops.xla import is_compiled

# What the operations between matrix products take; other dtypes are computed in portable form.
DTYPES = (tf.float32, tf.bfloat16)
_scope = threading.local()


@functools.cache
def unavailable() -> str:
    """Why the native operations cannot be used, as one clause; "" when they can."""
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
    """Whether operations are native here.

    They are if they are available, and if this is neither inside `portable` nor compiled by XLA.
    """
    _log_choice()
    return not unavailable() and not getattr(_scope, "portable", False) and not is_compiled()


@contextlib.contextmanager
def portable():
    """Inside it, all that this thread calls or traces is portable TensorFlow."""
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
    """The loaded library; raises BuildError where it cannot be built."""
    return tf.load_op_library(str(library()))
