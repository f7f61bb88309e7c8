"""Eight short texts for classifiers, four times, in the words of `tests.support.models.bundles`."""

import numpy as np

_GOOD = ["a good film .", "new and moving !", "it 's very good .", "the plot is moving ."]
_BAD = ["a bad film .", "old and boring !", "it 's very bad .", "the plot is boring ."]
TEXTS = np.array([text for pair in zip(_GOOD, _BAD) for text in pair] * 4)
LABELS = np.array([1, 0] * 16)
