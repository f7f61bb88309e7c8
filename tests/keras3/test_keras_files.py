"""Strangers' `.keras` files on native Keras 3: the same tests as on Keras 2."""

import numpy as np
import pytest
import tensorflow as tf

import disan_tf
from disan_tf import TextClassifier
from disan_tf.common.keras_version import CHOICE, is_keras_3
from tests.serving.test_keras_files import *  # noqa: F403
from tests.support.models.films import LABELS, TEXTS

pytestmark = pytest.mark.skipif(not is_keras_3(), reason=f"needs {CHOICE}=3")


@pytest.fixture(scope="module")
def shared_classifier():
    """A released model with new classes: Keras 3 trains none of our models."""
    made = TextClassifier.from_preset("demo", classes=("bad", "good"))
    made.fit(TEXTS, LABELS, epochs=40, verbose=0)
    return made


@pytest.fixture
def classifier(shared_classifier):
    return shared_classifier


def test_weights_in_bfloat16_come_back(tmp_path):
    x = tf.keras.Input([3, 4])
    model = tf.keras.Model(x, disan_tf.layers.Source2Token(dtype="bfloat16")(x))
    model.save(tmp_path / "model.keras")
    loaded = disan_tf.load_keras(tmp_path / "model.keras")
    for found, expected in zip(loaded.get_weights(), model.get_weights()):
        np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))
