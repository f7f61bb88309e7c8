"""What a report says of the answers of a model of scores."""

import numpy as np

from disan_tf.input_pipeline import Split
from disan_tf.metrics.correlations import mean_squared_error, pearson, spearman
from disan_tf.metrics.text_tables import by_name


def summarise(split: Split, answers: np.ndarray, classes: list) -> dict:
    """Scores of answers; a correlation that is undefined counts as 0.

    Args:
      split: the examples.
      answers: <float32>[examples].
      classes: names of the scale's points.

    Returns:
      "pearson", "spearman", "mse" and "by_score", see `calibration`.
    """
    return {
        "pearson": pearson(answers, split.labels),
        "spearman": spearman(answers, split.labels),
        "mse": mean_squared_error(answers, split.labels),
        "by_score": calibration(answers, split.labels, len(classes)),
    }


def calibration(answers: np.ndarray, labels: np.ndarray, points: int) -> dict:
    """What the model answers where the gold score lies between two points of the scale.

    Args:
      answers: <float32>[examples].
      labels: <float32>[examples], from 1 to `points`.
      points: of the scale.

    Returns:
      "[1, 2)", ... "[4, 5]" -> {"count", "mean_label", "mean_answer", "mse"}; the means of a bin
      without an example are None.
    """
    last = points - 1
    bins = np.minimum(np.floor(labels).astype(int), last)  # the highest point is in the last bin
    report = {}
    for low in range(1, points):
        members = bins == low
        count = int(members.sum())
        report[f"[{low}, {low + 1}{']' if low == last else ')'}"] = {
            "count": count,
            "mean_label": _mean(labels[members]),
            "mean_answer": _mean(answers[members]),
            "mse": mean_squared_error(answers[members], labels[members]) if count else None,
        }
    return report


def _mean(values):
    return float(np.mean(values, dtype=np.float64)) if len(values) else None


def headline(report: dict) -> str:
    """The scores that papers give."""
    return (
        f"Pearson's r {report['pearson']:.4f}, Spearman's rho {report['spearman']:.4f}, "
        f"MSE {report['mse']:.4f}"
    )


def tables(report: dict) -> list:
    """The rows of each table."""
    columns = ["examples", "mean gold", "mean answer", "mse"]
    return [by_name("gold score", columns, report["by_score"])]
