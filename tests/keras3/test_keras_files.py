"""Strangers' `.keras` files on native Keras 3: the same tests as on Keras 2."""

import pytest

from disan_tf import TextClassifier
from disan_tf.common.keras_version import CHOICE, is_keras_3
from tests.serving.test_keras_files import *  # noqa: F403
from tests.support.models.films import LABELS, TEXTS

pytestmark = pytest.mark.skipif(not is_keras_3(), reason=f"needs {CHOICE}=3")


@pytest.fixture(scope="module")
def classifier():
    """A released model with new classes: Keras 3 trains none of our models."""
    made = TextClassifier.from_preset("demo", classes=("bad", "good"))
    made.fit(TEXTS, LABELS, epochs=40, verbose=0)
    return made
