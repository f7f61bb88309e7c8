"""The sentence with which a call ends that must not work."""

from collections.abc import Callable

import pytest

from disan_tf.common.errors import UserError


def user_error(function: Callable, *arguments, **options) -> str:
    """Returns the message of the UserError that the call raises, which has one line."""
    with pytest.raises(UserError) as caught:
        function(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)
