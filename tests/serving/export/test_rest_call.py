"""The tutorial's REST request, in TensorFlow Serving's columnar format, fits the signature."""

import json
import shlex

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_text  # noqa: F401 - registers the operations of the tokenizer

from tests.support.pages import blocks_of, text_of
from tests.support.runs.training import ROOT

ADDRESS = "http://localhost:8501/v1/models/messages:predict"


def _command() -> list:
    """Returns the words of the tutorial's curl command."""
    blocks = blocks_of(text_of(ROOT / "docs/tutorials/serving.ipynb"))
    (text,) = (block.text for block in blocks if block.text.startswith("curl"))
    return shlex.split(text.replace("\\\n", ""))


def test_request_of_the_tutorial_is_answered(export):
    program, flag, body, address = _command()
    assert (program, flag, address) == ("curl", "-d", ADDRESS)
    signature = tf.saved_model.load(str(export[0])).signatures["serving_default"]
    inputs = {name: tf.constant(value) for name, value in json.loads(body)["inputs"].items()}
    outputs = {name: value.numpy() for name, value in signature(**inputs).items()}
    (label,), (names,) = outputs["class"], outputs["class_names"]
    (probabilities,) = outputs["probabilities"]
    assert label == names[int(np.argmax(probabilities))]
    assert sum(probabilities) == pytest.approx(1.0)
