"""C++ operations, built for the CPU that they run on: the attention, and what surrounds it.

`kernel.h` and `fused.h` say how they work. They are there when Linux, a C++ compiler and the
headers of TensorFlow are, when no GPU is (the kernels are for CPUs), and unless DISAN_TF_NATIVE=0.
"""

import contextlib
import functools
import os
import sys
import threading

import tensorflow as tf
from absl import logging

_scope = threading.local()


@functools.cache
def unavailable() -> str:
    """Why the native form cannot be used, as one clause; "" when it can."""
    from disan_tf.ops.native.build import BuildError  # here, so that `-m` can run that module

    if os.environ.get("DISAN_TF_NATIVE") == "0":
        return "DISAN_TF_NATIVE=0"
    if not sys.platform.startswith("linux"):
        return f"the platform is {sys.platform}, not Linux"
    if tf.config.list_physical_devices("GPU"):
        return "there is a GPU, and the native operation runs on CPUs"
    try:
        operations()
    except (BuildError, tf.errors.OpError) as error:
        return " ".join(str(error).split())
    return ""


def is_used() -> bool:
    """Whether the fast forms are to be native: available, and not inside of `portable()`."""
    _log_choice()
    return not unavailable() and not getattr(_scope, "portable", False)


@contextlib.contextmanager
def portable():
    """Inside, everything that is called or traced in this thread is portable TensorFlow."""
    before = getattr(_scope, "portable", False)
    _scope.portable = True
    try:
        yield
    finally:
        _scope.portable = before


@functools.cache
def _log_choice():
    """Says once that the operations are not native, and why."""
    if unavailable():
        logging.warning("The model runs in portable TensorFlow: %s.", unavailable())


@functools.cache
def operations():
    """The loaded library; BuildError where it cannot be built."""
    from disan_tf.ops.native.build import library

    return tf.load_op_library(str(library()))
