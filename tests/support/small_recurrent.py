"""A NumPy loop over tokens, for tests of recurrent layers against their cells."""

import numpy as np

from tests.support.small_attention import MASK, X

UNITS = 3


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def states_of(cell, count: int, backward: bool) -> np.ndarray:
    """h of every real token, <float64>[4, 4, UNITS]; 0 on padding.

    Args:
      cell: (x <float64>[DIM], `count` states <float64>[UNITS]) -> the new states, h the last.
      count: how many states.
      backward: whether the last token is read first.
    """
    result = np.zeros([*MASK.shape, UNITS])
    for sentence, mask in enumerate(MASK):
        states = (np.zeros(UNITS),) * count
        for token in np.flatnonzero(mask)[:: -1 if backward else 1]:
            states = cell(X[sentence, token].numpy().astype(np.float64), *states)
            result[sentence, token] = states[-1]
    return result
