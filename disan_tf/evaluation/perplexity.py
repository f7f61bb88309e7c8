"""What a report says of the predictions of a language model."""

import numpy as np

from disan_tf.input_pipeline import Split

_DIRECTIONS = ("forward", "backward")


def summarise(split: Split, answers: np.ndarray, classes: list) -> dict:
    """Perplexities: exp of the mean -ln p of a word, unknown words and sentence ends among them.

    Args:
      split: the examples.
      answers: <float32>[examples, 3], see `disan_tf.tasks.LanguageModel`.
      classes: unused; a language model has none.

    Returns:
      "log_likelihood" (the mean of ln p over both directions, in nats), "perplexity",
      "forward_perplexity", "backward_perplexity", "predictions" (of each direction) and
      "unknown_words", the share of the words that are unknown.
    """
    *sums, count = np.sum(answers, axis=0, dtype=np.float64)
    mean = sum(sums) / (2 * count)
    return {
        "log_likelihood": float(-mean),
        "perplexity": float(np.exp(mean)),
        **{f"{name}_perplexity": float(np.exp(it / count)) for name, it in zip(_DIRECTIONS, sums)},
        "predictions": int(count),
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
