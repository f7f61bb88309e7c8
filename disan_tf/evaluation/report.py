"""The scores of a trained model on one split, as a dictionary and as text."""

import numpy as np
import tensorflow as tf

from disan_tf.bundle import Bundle
from disan_tf.errors import UserError
from disan_tf.evaluation.scores import classify
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.training.steps import make_evaluation_step

LENGTH_BINS = {"1-4": 1, "5-11": 5, "12-24": 12, "25-37": 25, "38+": 38}  # name -> least length


def evaluate(bundle: Bundle, corpus: PreparedCorpus, split_name: str) -> dict:
    """Scores a model on one split.

    Returns:
      A dictionary that JSON can hold: "config" and "step" (of the checkpoint), "split",
      "examples", "loss" (weight decay included), and what `summarise` returns.

    Raises:
      UserError: the corpus has other classes or words than the model.
    """
    check_corpus(bundle, corpus)
    split = corpus.split(split_name)
    step = make_evaluation_step(bundle.model)
    outcome = classify(step, split, bundle.config.evaluate.batch_size)
    predictions = outcome.logits.argmax(axis=1)
    return {
        "config": bundle.info["name"],
        "step": bundle.info["scores"]["step"],
        "split": split_name,
        "examples": len(split),
        "loss": outcome.loss,
        **summarise(split.labels, predictions, split.lengths, bundle.classes),
    }


def check_corpus(bundle: Bundle, corpus: PreparedCorpus) -> None:
    """Raises UserError where the corpus' labels or ids mean something else to the model."""
    remedy = "prepare the corpus with the `data` values of the model's config.json"
    if corpus.classes != bundle.classes:
        raise UserError(
            f"{corpus.directory} has the classes {', '.join(corpus.classes)}, the model in "
            f"{bundle.directory} has {', '.join(bundle.classes)}; {remedy}."
        )
    theirs, ours = corpus.vocabulary, bundle.vocabulary
    if theirs != ours:
        shared = min(len(theirs), len(ours))
        line = next((k for k in range(shared) if theirs[k] != ours[k]), shared)
        words = [repr(words[line]) if line < len(words) else "no word" for words in (theirs, ours)]
        raise UserError(
            f"{corpus.directory / 'vocabulary.txt'} and {bundle.directory / 'vocabulary.txt'} "
            f"differ at line {line + 1} ({words[0]} and {words[1]}); {remedy}."
        )


def summarise(
    labels: np.ndarray, predictions: np.ndarray, lengths: np.ndarray, classes: list
) -> dict:
    """Scores of predictions; what is undefined (a class that never occurs) counts as 0.

    F1 = 2 precision recall / (precision + recall), and macro F1 is its mean over all classes.

    Args:
      labels: <int>[examples], the gold classes.
      predictions: <int>[examples].
      lengths: <int>[examples], tokens of each sentence, or of the longer one of a pair.
      classes: names.

    Returns:
      "accuracy", "cohen_kappa", "macro_f1", "classes" (name -> precision, recall, f1, support),
      "confusion" ("classes", and "matrix" with a row for each gold class) and "by_length", see
      `accuracy_by_length`.
    """
    from disan_tf.addons import cohen_kappa, f1_scores  # only then is tensorflow-addons needed

    f1 = f1_scores(labels, predictions, len(classes)).numpy().astype(float)
    matrix = tf.math.confusion_matrix(labels, predictions, len(classes)).numpy()
    right, gold, predicted = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    columns = {
        "precision": (right / np.maximum(predicted, 1)).tolist(),
        "recall": (right / np.maximum(gold, 1)).tolist(),
        "f1": f1.tolist(),
        "support": gold.tolist(),
    }
    return {
        "accuracy": float(np.mean(labels == predictions)),
        "cohen_kappa": cohen_kappa(labels, predictions, len(classes)),
        "macro_f1": float(f1.mean()),
        "classes": {
            name: {column: values[k] for column, values in columns.items()}
            for k, name in enumerate(classes)
        },
        "confusion": {"classes": list(classes), "matrix": matrix.tolist()},
        "by_length": accuracy_by_length(labels == predictions, lengths),
    }


def accuracy_by_length(right: np.ndarray, lengths: np.ndarray) -> dict:
    """Accuracy in bins of sentence length, DiSAN Fig. 5.

    The figure's axis has no numbers in the text; its discussion names (5,12), (25,38) and
    38 or more tokens. We take these as half-open: 1-4, 5-11, 12-24, 25-37, 38+.

    Args:
      right: <bool>[examples], whether the answer is right.
      lengths: <int>[examples], at least 1.

    Returns:
      Bin -> {"count", "accuracy"}; the accuracy of a bin with no sentence is None.
    """
    bins = np.digitize(lengths, list(LENGTH_BINS.values())) - 1
    report = {}
    for number, name in enumerate(LENGTH_BINS):
        members = right[bins == number]
        accuracy = float(members.mean()) if len(members) else None
        report[name] = {"count": len(members), "accuracy": accuracy}
    return report


def render(report: dict) -> str:
    """`evaluate`'s dictionary as tables for people."""
    headline = (
        f"{report['config']}, step {report['step']:,}, on {report['split']}: "
        f"{report['examples']:,} examples\n"
        f"accuracy {report['accuracy']:.4f}, loss {report['loss']:.4f}, "
        f"Cohen's kappa {report['cohen_kappa']:.4f}, macro F1 {report['macro_f1']:.4f}"
    )
    per_class = [["class", "precision", "recall", "f1", "support"]]
    per_class += [[name, *scores.values()] for name, scores in report["classes"].items()]
    confusion = [["gold \\ predicted", *report["confusion"]["classes"]]]
    confusion += [
        [name, *row]
        for name, row in zip(report["confusion"]["classes"], report["confusion"]["matrix"])
    ]
    by_length = [["tokens", "examples", "accuracy"]]
    by_length += [[name, *scores.values()] for name, scores in report["by_length"].items()]
    return "\n\n".join([headline, *map(_table, (per_class, confusion, by_length))])


def _table(rows):
    """Rows of equal length as text, the first column to the left and the others to the right."""
    texts = [[_text(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(text.rjust(w) for text, w in zip(row[1:], widths[1:]))]
        ).rstrip()
        for row in texts
    )


def _text(value):
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
