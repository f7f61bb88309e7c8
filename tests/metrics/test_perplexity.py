"""Perplexities against numbers computed by hand."""

import json

import numpy as np
import pytest

from disan_tf.metrics.scores import perplexities

# Three sentences of 2, 1 and 4 words, each with an end: -ln p forward and backward, and how many.
SUMS = np.array([[2.0, 3.0, 3.0], [1.0, 1.5, 2.0], [4.0, 1.5, 5.0]], np.float32)


def test_perplexities_of_a_hand_computed_case():
    scores = perplexities(SUMS)
    assert scores == pytest.approx(
        {
            "log_likelihood": -13 / 20,
            "perplexity": np.exp(13 / 20),
            "forward_perplexity": np.exp(7 / 10),
            "backward_perplexity": np.exp(6 / 10),
        }
    )
    assert json.loads(json.dumps(scores, allow_nan=False)) == scores
