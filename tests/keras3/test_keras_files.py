"""Strangers' `.keras` files on native Keras 3: the same tests as on Keras 2."""

import pytest

from disan_tf.common.keras_version import CHOICE, is_keras_3
from tests.serving.conftest import classifier, make_once, quick_bundle  # noqa: F401
from tests.serving.test_keras_files import *  # noqa: F403

pytestmark = pytest.mark.skipif(not is_keras_3(), reason=f"needs {CHOICE}=3")
