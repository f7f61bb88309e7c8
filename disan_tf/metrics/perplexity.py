"""Perplexities of a bidirectional language model."""

import numpy as np

DIRECTIONS = ("forward", "backward")


def perplexities(sums: np.ndarray) -> dict[str, float]:
    """Computes perplexities, exp of a word's mean -ln p; unknown words and boundaries are words.

    `sums` <float32>[examples, 3] has the sums of -ln p in nats over each sentence, forward and
    backward, and the number of words that each direction predicts. The results are
    "log_likelihood" (the mean of ln p over both directions, in nats), "perplexity",
    "forward_perplexity" and "backward_perplexity".
    """
    *totals, count = np.sum(sums, axis=0, dtype=np.float64)
    mean = sum(totals) / (2.0 * count)
    by_direction = {
        f"{direction}_perplexity": total / count for direction, total in zip(DIRECTIONS, totals)
    }
    means = {"perplexity": mean, **by_direction}
    return {
        "log_likelihood": -float(mean),
        **{name: float(np.exp(value)) for name, value in means.items()},
    }
