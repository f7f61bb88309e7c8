"""Formats scores as a headline and tables."""

import math
from collections.abc import Sequence

import numpy as np

from disan_tf.common.errors import escape
from disan_tf.common.tables import text_table
from disan_tf.input_pipeline.corpus_format import Keys

_MOST_CLASSES, _MOST_PAIRS = 12, 10  # in a printed confusion matrix; else confused pairs
ROWS_FOR_A_SPLIT = 1000  # a test part of a tenth has an interval of some eight points each way
_HEADLINES = {  # key of a score -> template of its headline
    "accuracy": "accuracy {accuracy:.4f}, Cohen's kappa {cohen_kappa:.4f}, macro F1 {macro_f1:.4f}",
    "pearson": "Pearson's r {pearson:.4f}, Spearman's rho {spearman:.4f}, MSE {mse:.4f}",
    "perplexity": "perplexity {perplexity:.2f} (forward {forward_perplexity:.2f}, "
    "backward {backward_perplexity:.2f}) over {predictions:,} words, {unknown_words:.2%} unknown",
}
_TABLES = {  # key of scores by name -> the titles of their table
    "classes": ("class", "precision", "recall", "f1", "support"),
    "confusion": None,
    "by_length": ("tokens", "examples", "accuracy"),
    "by_genre": ("genre", "examples", "accuracy"),
    "by_score": ("gold score", "examples", "mean gold", "mean prediction", "mse"),
}


def render_scores(scores: dict, notes: Sequence[str] = ()) -> str:
    """Formats the scores of `disan_tf.training.evaluation.evaluate` as a headline and tables.

    `notes` are lines below the headline.
    """
    template = next(text for key, text in _HEADLINES.items() if key in scores)
    headline = (
        f"{scores['config']}, step {scores['step']:,}, on {scores['split']}: "
        f"{scores['examples']:,} examples\n{template.format(**scores)}, loss {scores['loss']:.4f}"
    )
    if "accuracy" in scores:
        low, high = wilson_interval(scores["accuracy"], scores["examples"])
        supports = {name: row["support"] for name, row in scores["classes"].items()}
        largest = max(supports, key=supports.get)
        headline += (
            f"\n95 % interval of the accuracy: {low:.4f} to {high:.4f}; always predicting "
            f"{escape(largest)} would give {supports[largest] / scores['examples']:.4f}"
        )
    if "calibration_error" in scores:
        headline += f"\nexpected calibration error {scores['calibration_error']:.4f}"
    if "temperature" in scores:
        before, temperature = scores["calibration_error_before"], scores["temperature"]
        headline += f", before calibration {before:.4f} (temperature {temperature:.3f})"
    headline = "\n".join([headline, *notes])
    lines = [_lines(key, scores[key]) for key in _TABLES if key in scores]
    tables = [text_table(table) for table in lines if table]
    return "\n\n".join([headline, *tables])


def wilson_interval(share: float, count: int) -> tuple[float, float]:
    """Returns Wilson's 95 % interval of a share of `count` independent examples."""
    z = 1.959964
    spread = z * math.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    center, scale = share + z**2 / (2 * count), 1 + z**2 / count
    return (center - spread) / scale, (center + spread) / scale


def advise_folds(manifest: dict) -> list[str]:
    """Returns the advice to use folds for a small table of a user's own, or nothing.

    A separate test table stays the test part, so there are no folds.
    """
    rows = sum(split["examples"] for split in manifest[Keys.SPLITS].values())
    is_drawn = not manifest[Keys.OPTIONS].get("test")
    if manifest[Keys.CORPUS] != "table" or rows >= ROWS_FOR_A_SPLIT or not is_drawn:
        return []
    return [
        f"The table has {rows:,} rows, so another split may score some points more or less; train "
        "with --folds=all in another --workdir for a mean over the folds."
    ]


def confusion_lines(confusion: dict) -> list[dict]:
    """Returns the lines of a confusion matrix, one for each gold class."""
    titles = ("gold \\ predicted", *confusion["classes"])
    rows = zip(confusion["classes"], confusion["matrix"])
    return [dict(zip(titles, (name, *cells))) for name, cells in rows]


def _confused(confusion: dict) -> list[dict]:
    """Returns a line for each of the most confused pairs of classes."""
    names, matrix = confusion["classes"], np.array(confusion["matrix"])
    wrong = matrix - np.diag(np.diag(matrix))
    places = np.argsort(-wrong, axis=None, kind="stable")[:_MOST_PAIRS]
    pairs = [np.unravel_index(place, wrong.shape) for place in places]
    return [
        {
            "most confused: gold": names[gold],
            "predicted": names[other],
            "examples": int(wrong[gold, other]),
            "share of gold": float(wrong[gold, other] / matrix[gold].sum()),
        }
        for gold, other in pairs
        if wrong[gold, other]
    ]


def _lines(key, scores):
    if key == "confusion" and len(scores["classes"]) > _MOST_CLASSES:
        return _confused(scores)
    if key == "confusion":
        return confusion_lines(scores)
    return [dict(zip(_TABLES[key], (name, *cells.values()))) for name, cells in scores.items()]
