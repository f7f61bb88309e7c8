"""Metrics of predicted numbers: correlation, squared error, scores by label."""

import numpy as np


def pearson(predictions: np.ndarray, labels: np.ndarray) -> float:
    """Computes Pearson's r in float64.

    If all predictions or all labels are the same, r is undefined, and 0 is returned: the first
    evaluations of a training then have a score that later ones can exceed.
    """
    centred = [
        np.asarray(values, np.float64) - np.mean(values, dtype=np.float64)
        for values in (predictions, labels)
    ]
    scale = np.sqrt(np.prod([np.sum(np.square(values)) for values in centred]))
    if not scale > 0.0:
        return 0.0
    return float(np.clip(np.dot(*centred) / scale, -1.0, 1.0))


def spearman(predictions: np.ndarray, labels: np.ndarray) -> float:
    """Computes Spearman's rho, Pearson's r of the ranks; equal values share their mean rank."""
    from scipy.stats import rankdata  # half a second, which a first prediction needs not

    return pearson(rankdata(predictions), rankdata(labels))


def mean_squared_error(predictions: np.ndarray, labels: np.ndarray) -> float:
    """Computes the mean of the squared differences in float64."""
    return float(np.mean(np.square(np.asarray(predictions, np.float64) - labels)))


def correlation_scores(predictions: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Returns "pearson", "spearman" and "mse" of <float>[examples] predictions and labels."""
    return {
        "pearson": pearson(predictions, labels),
        "spearman": spearman(predictions, labels),
        "mse": mean_squared_error(predictions, labels),
    }


def scores_by_label(predictions: np.ndarray, labels: np.ndarray, points: int) -> dict:
    """Computes the mean prediction for gold scores between two points of the scale.

    Predictions and labels are <float>[examples], the labels from 1 to `points`. The result is
    "[1, 2)", ... "[4, 5]" -> {"count", "mean_label", "mean_prediction", "mse"}; the means of a bin
    without an example are None.
    """
    last = points - 1
    bins = np.minimum(np.floor(labels).astype(int), last)  # the highest point is in the last bin
    scores = {}
    for low in range(1, points):
        members = bins == low
        count = int(members.sum())
        scores[f"[{low}, {low + 1}{']' if low == last else ')'}"] = {
            "count": count,
            "mean_label": _mean(labels[members]),
            "mean_prediction": _mean(predictions[members]),
            "mse": mean_squared_error(predictions[members], labels[members]) if count else None,
        }
    return scores


def _mean(values):
    return float(np.mean(values, dtype=np.float64)) if len(values) else None
