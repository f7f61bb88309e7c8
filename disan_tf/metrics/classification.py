"""What a report says of the answers of a model of classes."""

import numpy as np
import tensorflow as tf

from disan_tf.input_pipeline import Split
from disan_tf.metrics.text_tables import by_name

LENGTH_BINS = {"1-4": 1, "5-11": 5, "12-24": 12, "25-37": 25, "38+": 38}  # name -> least length


def summarise(split: Split, answers: np.ndarray, classes: list) -> dict:
    """Scores of answers; what is undefined (a class that never occurs) counts as 0.

    F1 = 2 precision recall / (precision + recall), and macro F1 is its mean over all classes.

    Args:
      split: the examples.
      answers: <int>[examples].
      classes: names.

    Returns:
      "accuracy", "cohen_kappa", "macro_f1", "classes" (name -> precision, recall, f1, support),
      "confusion" ("classes", and "matrix" with a row for each gold class), "by_length", see
      `accuracy_by_length`, and where the corpus has genres "by_genre", see `accuracy_by_genre`.
    """
    labels, right = split.labels, split.labels == answers
    report = {
        "accuracy": float(np.mean(right)),
        **_class_scores(labels, answers, classes),
        "by_length": accuracy_by_length(right, split.lengths),
    }
    if split.genres is not None:
        report["by_genre"] = accuracy_by_genre(right, split.genres)
    return report


def _class_scores(labels, answers, classes):
    from disan_tf.addons import cohen_kappa, f1_scores  # only then is tensorflow-addons needed

    f1 = f1_scores(labels, answers, len(classes)).numpy().astype(float)
    matrix = tf.math.confusion_matrix(labels, answers, len(classes)).numpy()
    hits, gold, answered = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    columns = {
        "precision": (hits / np.maximum(answered, 1)).tolist(),
        "recall": (hits / np.maximum(gold, 1)).tolist(),
        "f1": f1.tolist(),
        "support": gold.tolist(),
    }
    return {
        "cohen_kappa": cohen_kappa(labels, answers, len(classes)),
        "macro_f1": float(f1.mean()),
        "classes": {
            name: {column: values[k] for column, values in columns.items()}
            for k, name in enumerate(classes)
        },
        "confusion": {"classes": list(classes), "matrix": matrix.tolist()},
    }


def accuracy_by_length(right: np.ndarray, lengths: np.ndarray) -> dict:
    """Accuracy in bins of sentence length, DiSAN Fig. 5.

    The figure's axis has no numbers in the text; its discussion names (5,12), (25,38) and
    38 or more tokens. We take these as half-open: 1-4, 5-11, 12-24, 25-37, 38+.

    Args:
      right: <bool>[examples], whether the answer is right.
      lengths: <int>[examples], tokens of each sentence, or of the longer one of a pair; at least 1.

    Returns:
      Bin -> {"count", "accuracy"}; the accuracy of a bin with no sentence is None.
    """
    bins = np.digitize(lengths, list(LENGTH_BINS.values())) - 1
    return {name: _share(right[bins == number]) for number, name in enumerate(LENGTH_BINS)}


def accuracy_by_genre(right: np.ndarray, genres: np.ndarray) -> dict:
    """Genre -> {"count", "accuracy"}, of <bool>[examples] and <bytes>[examples], by name."""
    return {genre.decode(): _share(right[genres == genre]) for genre in np.unique(genres)}


def _share(right):
    return {"count": len(right), "accuracy": float(right.mean()) if len(right) else None}


def headline(report: dict) -> str:
    """The scores of the whole split."""
    return (
        f"accuracy {report['accuracy']:.4f}, Cohen's kappa {report['cohen_kappa']:.4f}, "
        f"macro F1 {report['macro_f1']:.4f}"
    )


def tables(report: dict) -> list:
    """The rows of each table."""
    names, matrix = report["confusion"]["classes"], report["confusion"]["matrix"]
    confusion = [["gold \\ predicted", *names], *([name, *row] for name, row in zip(names, matrix))]
    columns = ["precision", "recall", "f1", "support"]
    found = [
        by_name("class", columns, report["classes"]),
        confusion,
        by_name("tokens", ["examples", "accuracy"], report["by_length"]),
    ]
    if "by_genre" in report:
        found.append(by_name("genre", ["examples", "accuracy"], report["by_genre"]))
    return found
