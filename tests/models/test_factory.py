"""From a config to a model: which options reach which part."""

import pytest

from disan_tf.models.factory import build_model
from tests.support.runs.training import load_config


@pytest.mark.parametrize("dropout, expected", [(None, 0.2), (0.4, 0.4)])
def test_an_encoder_has_the_dropout_of_the_training_or_its_own(dropout, expected):
    config = load_config("dsa_sst", "cnn_non_static")
    config.train.dropout = 0.2
    if dropout is None:
        del config.encoder.dropout
    else:
        config.encoder.dropout = dropout
    encoder = build_model(config, (10, 0), 5).encoder
    assert encoder.get_config()["dropout"] == expected
