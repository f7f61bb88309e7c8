"""Statistics of answers and gold labels, as NumPy arrays of a whole split."""

import numpy as np


def accuracy(answers: np.ndarray, labels: np.ndarray) -> float:
    """The share of right answers."""
    return float(np.mean(answers == labels))


def pearson(answers: np.ndarray, labels: np.ndarray) -> float:
    """Pearson's r, computed in float64.

    It is undefined, and 0 here, where the answers or the labels are all the same: so a model that
    has learnt nothing yet has a score, and a better one can follow.
    """
    centred = [np.asarray(each, np.float64) - np.mean(each, dtype=np.float64)
               for each in (answers, labels)]  # fmt: skip
    scale = np.sqrt(np.prod([np.sum(np.square(each)) for each in centred]))
    if not scale > 0.0:
        return 0.0
    return float(np.clip(np.dot(*centred) / scale, -1.0, 1.0))


def spearman(answers: np.ndarray, labels: np.ndarray) -> float:
    """Spearman's rho: Pearson's r of the ranks; equal values share the mean of their ranks."""
    return pearson(_ranks(answers), _ranks(labels))


def mean_squared_error(answers: np.ndarray, labels: np.ndarray) -> float:
    """The mean of the squared differences, computed in float64."""
    return float(np.mean(np.square(np.asarray(answers, np.float64) - labels)))


def _ranks(values):
    """Ranks from 1, <float64>[examples]."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]
