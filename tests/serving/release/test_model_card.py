"""The model card's words on probabilities."""

import pytest

from disan_tf.models import SentenceClassifier
from disan_tf.runs.bundle import read_info
from disan_tf.serving.release.model_card import model_card
from disan_tf.serving.release.released import find_bundle


@pytest.mark.parametrize(
    "temperature, words",
    [
        ({}, "Probabilities are not calibrated"),
        ({"temperature": 1.5}, "are calibrated on dev, with the temperature 1.500"),
    ],
)
def test_a_card_says_whether_probabilities_are_calibrated(temperature, words):
    info = read_info(find_bundle("demo"))
    info["scores"].update(temperature)
    card = model_card("demo", SentenceClassifier, info, {"dev": 1.0, "test": 1.0}, "command")
    assert words in card and card.lower().count("probabilit") == 1
