"""The ways in which the numbers of the authors must come out."""

import contextlib

import pytest

from disan_tf.ops import available_forms, portable
from tests.support.ops.backends import BACKENDS


@pytest.fixture(params=BACKENDS)
def each_backend(request):
    """A test that asks for it runs natively and portably."""
    with request.param():
        yield


@pytest.fixture(params=available_forms())
def form(request):
    """A form of the attention; what surrounds it is native with the native one, else portable."""
    with contextlib.nullcontext() if request.param == "native" else portable():
        yield request.param
