"""The two backends of operations: native C++, and portable TensorFlow."""

import contextlib

import pytest

from disan_tf.ops.native import runtime

needs_native = pytest.mark.skipif(bool(runtime.unavailable()), reason=runtime.unavailable())
# Parameters of a test or a fixture, to be entered: `with backend():`.
BACKENDS = [
    pytest.param(contextlib.nullcontext, id="native", marks=needs_native),
    pytest.param(runtime.portable, id="portable"),
]
