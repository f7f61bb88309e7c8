"""keras-hub's own tests of tasks, preprocessors, backbones and layers, applied to ours."""

import importlib.util
import re

import numpy as np
import pytest
import tensorflow as tf

import disan_tf
from disan_tf import encoders, layers
from disan_tf.common.keras_version import CHOICE, is_keras_3
from disan_tf.serving.fine_tuning.preprocessor import TextClassifierPreprocessor
from disan_tf.serving.fine_tuning.text_classifier import TextClassifier
from disan_tf.serving.fine_tuning.text_model import TextBackbone
from tests.layers.test_keras import DIM, OF_TOKENS
from tests.support.processes import ROOT

pytestmark = pytest.mark.skipif(
    not is_keras_3() or importlib.util.find_spec("keras_hub") is None,
    reason=f"needs keras-hub and {CHOICE}=3 (make test-keras3)",
)
WORDS = ["a", "film", "good", "bad", "is", "the"]
TOKENIZER = {"lowercase": True, "split_words": False, "empty_tokens": False}
TEXTS = ["a good film", "the film is bad", "good", "is the film good"]


@pytest.fixture
def case():
    """Returns a case with keras-hub's tests."""
    from keras_hub.src.tests.test_case import TestCase

    return TestCase()


def _sentence_model():
    model = disan_tf.models.SentenceClassifier(
        layers.WordEmbedding(len(WORDS), 0, DIM),
        encoders.DiSAN(4, seed=3),
        layers.ClassificationHead(2, 4, seed=5),
    )
    model(tf.constant([[2, 3]]))
    return model


@pytest.mark.filterwarnings("ignore:.shuffle=True. was passed")
@pytest.mark.parametrize(
    "labels, multi_label",
    [
        ([0, 1, 1, 0], False),
        (["bad", "good", "good", "bad"], False),
        ([[0, 1], [0, 0], [1, 1], [1, 0]], True),
    ],
)
def test_a_classifier_is_a_task(case, labels, multi_label):
    case.run_task_test(
        TextClassifier,
        {
            "model": _sentence_model(),
            "words": WORDS,
            "tokenizer": TOKENIZER,
            "classes": ["bad", "good"],
            "multi_label": multi_label,
        },
        (TEXTS, labels),
        expected_output_shape=(4, 2),
    )


@pytest.mark.parametrize("classes", [[], ["bad", "good"]])
@pytest.mark.parametrize("data", ["texts", "labels", "weights"])
def test_a_preprocessor_is_one(case, classes, data):
    case.init_kwargs = {
        "words": WORDS,
        "tokenizer": TOKENIZER,
        "classes": classes,
        "sequence_length": 8,
    }
    inputs = {
        "texts": TEXTS,
        "labels": (TEXTS, [0, 1, 1, 0]),
        "weights": (TEXTS, [0, 1, 1, 0], [0.5, 1.0, 1.0, 1.0]),
    }[data]
    case.run_preprocessor_test(
        TextClassifierPreprocessor, case.init_kwargs, inputs, token_id_key="sentence"
    )


@pytest.mark.parametrize("encoder", ["DiSAN", "Source2TokenEncoder", "BiLSTMEncoder", "ReSAN"])
def test_a_backbone_is_one(case, encoder):
    case.run_backbone_test(
        TextBackbone,
        {"embedding": layers.WordEmbedding(9, 3, DIM), "encoder": OF_TOKENS[encoder]()},
        np.array([[2, 3, 4, 5], [6, 7, 3, 2]], np.int32),
        expected_output_shape=(2, OF_TOKENS[encoder]().output_size(DIM)),
    )


@pytest.mark.filterwarnings("ignore:Gradients do not exist for variables .*pooled_dense")
def test_the_example_of_the_page_on_keras_runs():
    text = (ROOT / "docs/how_to/keras.md").read_text(encoding="utf-8")
    section = text.split("\n## DiSAN on a keras-hub backbone\n")[1]
    found = {}
    exec("\n".join(re.findall(r"^    (.*)$", section, re.M)), found)
    assert found["predictions"].shape == (16, 2)
    changed = found["bert"].get_layer("token_embedding").trainable_weights
    assert changed and np.isfinite(found["predictions"]).all()


def test_a_built_classifier_gets_another_preprocessor():
    model = TextClassifier(_sentence_model(), WORDS, TOKENIZER, ["bad", "good"])
    expected = model.predict(TEXTS, verbose=0)
    config = {**model.preprocessor.get_config(), "sequence_length": 7}
    model.preprocessor = TextClassifierPreprocessor.from_config(config)
    np.testing.assert_allclose(model.predict(TEXTS, verbose=0), expected, atol=1e-6)
    assert model.preprocessor(TEXTS)["sentence"].shape == (4, 7)
    with pytest.raises(ValueError, match="the preprocessor has other words than"):
        model.preprocessor = TextClassifierPreprocessor(["a"], TOKENIZER)
