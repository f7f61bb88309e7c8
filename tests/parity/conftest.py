"""The two worlds in which the numbers of the authors must come out."""

import pytest

from tests.support.ops.backends import BACKENDS


@pytest.fixture(params=BACKENDS)
def each_backend(request):
    """A test that asks for it runs natively and portably."""
    with request.param():
        yield
