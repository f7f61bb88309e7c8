"""What a report says of the predictions of a language model."""

import numpy as np

from disan_tf.input_pipeline import Split

DIRECTIONS = ("forward", "backward")  # of a language model


def perplexities(outputs: np.ndarray) -> dict[str, float]:
    """Perplexities, exp of the mean -ln p of a word, unknown words and boundaries among them.

    Args:
      outputs: <float32>[examples, 3], see `LanguageModel`.

    Returns:
      "log_likelihood" (the mean of ln p over both directions, in nats), "perplexity",
      "forward_perplexity" and "backward_perplexity".
    """
    *sums, count = np.sum(outputs, axis=0, dtype=np.float64)
    mean = sum(sums) / (2.0 * count)
    by_direction = {f"{name}_perplexity": it / count for name, it in zip(DIRECTIONS, sums)}
    means = {"perplexity": mean, **by_direction}
    return {
        "log_likelihood": -float(mean), **{name: float(np.exp(it)) for name, it in means.items()}
    }  # fmt: skip


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
