"""The two worlds that a model can live in: native C++ operations, and portable TensorFlow."""

import contextlib

import pytest

from disan_tf.ops import native

needs_native = pytest.mark.skipif(bool(native.unavailable()), reason=native.unavailable())
# Parameters of a test or a fixture, to be entered: `with world():`.
WORLDS = [
    pytest.param(contextlib.nullcontext, id="native", marks=needs_native),
    pytest.param(native.portable, id="portable"),
]
