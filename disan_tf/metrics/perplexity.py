"""What a report says of the predictions of a language model."""

import numpy as np

from disan_tf.input_pipeline import Split
from disan_tf.models.language_model import perplexities


def summarise(split: Split, answers: np.ndarray, classes: list) -> dict:
    """What the answers tell of the split.

    Args:
      split: the examples.
      answers: <float32>[examples, 3], see `disan_tf.models.LanguageModel`.
      classes: unused; a language model has none.

    Returns:
      What `perplexities` returns, "predictions" (of each direction) and "unknown_words", the share
      of the words that are unknown.
    """
    return {
        **perplexities(answers),
        "predictions": int(np.sum(answers[:, 2], dtype=np.float64)),
        "unknown_words": float(np.mean(split.ids["sentence"] == 1)),
    }


def headline(report: dict) -> str:
    """The perplexities."""
    return (
        f"perplexity {report['perplexity']:.2f} (forward {report['forward_perplexity']:.2f}, "
        f"backward {report['backward_perplexity']:.2f}) over {report['predictions']:,} words, "
        f"{report['unknown_words']:.2%} unknown"
    )


def tables(report: dict) -> list:
    """There are none."""
    return []
