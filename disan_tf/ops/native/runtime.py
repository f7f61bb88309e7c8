"""The library of native operations, and whether they are available and used.

The operations need Linux or macOS, and a library that a wheel ships or that a C++ compiler makes.
They are not used on machines with a GPU (the kernels are for CPUs), or if the environment has
DISAN_TF_NATIVE=0. DISAN_TF_NATIVE=compile excludes shipped libraries. On macOS, where nobody has
run the operations, they are used only with DISAN_TF_NATIVE=compile.
"""

import contextlib
import functools
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable, NamedTuple

import tensorflow as tf
from absl import logging

from disan_tf.common.process import check_fork
from disan_tf.ops.native import build, shipped
from disan_tf.ops.native.compiler import BuildError
from disan_tf.ops.tracing import is_compiled, is_saving

# Dtypes of the operations between matrix products; other dtypes are computed in portable form.
DTYPES = (tf.float32, tf.bfloat16)
_scope = threading.local()


class Library(NamedTuple):
    """A loaded library: its operations, "shipped" or "compiled", and its path."""

    operations: Any
    origin: str
    path: Path


@functools.cache
def unavailable() -> str:
    """Returns in one clause why native operations cannot be used; "" if they can."""
    if reason := excluded():
        return reason
    try:
        library()
    except BuildError as error:
        return str(error)
    return ""


def excluded() -> str:
    """Returns in one clause why native operations are not wanted here; "" if they are."""
    asked = os.environ.get("DISAN_TF_NATIVE")
    if asked == "0":
        return "DISAN_TF_NATIVE=0"
    if sys.platform == "darwin" and asked != "compile":
        return "native operations are untested on macOS; DISAN_TF_NATIVE=compile compiles them"
    if not sys.platform.startswith(("linux", "darwin")):
        return f"the platform is {sys.platform}, neither Linux nor macOS"
    if tf.config.list_physical_devices("GPU"):
        return "there is a GPU, and the native operations run on CPUs"
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
def portable() -> Iterator[None]:
    """Uses portable TensorFlow for all that this thread calls or traces inside the context."""
    before = getattr(_scope, "portable", False)
    _scope.portable = True
    try:
        yield
    finally:
        _scope.portable = before


@functools.cache
def _log_choice() -> None:
    """Logs once why the operations are not native, unless DISAN_TF_NATIVE=0 asks for that."""
    if unavailable() and os.environ.get("DISAN_TF_NATIVE") != "0":
        logging.warning("The model runs in portable TensorFlow: %s.", unavailable())


@functools.cache
def library() -> Library:
    """Loads a shipped library that fits, or else compiles one.

    Raises:
      BuildError: neither is possible; the message says why in one clause.
    """
    refused = ""
    try:
        return _load("shipped", shipped.library)
    except shipped.NoLibraryError as error:
        unfit = str(error)
    except BuildError as error:
        unfit = refused = str(error)
    try:
        compiled = _load("compiled", build.library)
    except BuildError as error:
        raise BuildError(f"{error}; {unfit}" if unfit else str(error)) from None
    if refused:
        logging.warning(
            "The shipped native library is not used, and one was compiled: %s.", refused
        )
    return compiled


def operations() -> Any:
    """Returns the operations of `library`; UserError in some forks, see `check_fork`."""
    check_fork()
    return library().operations


def _load(origin: str, find: Callable[[], Path]) -> Library:
    """Loads the library that the function `find` returns; all errors become BuildError."""
    try:
        path = find()
        return Library(tf.load_op_library(str(path)), origin, path)
    except tf.errors.OpError as error:
        raise BuildError(" ".join(str(error).split())) from None
