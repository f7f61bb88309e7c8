"""Recorded results of models whose error follows a known law."""

from collections.abc import Sequence

import numpy as np

from disan_tf.reporting.differences import Answers
from tests.support.runs.finished import config_of

A, B, C = 0.12, 1.9, 0.25
SIZES = (6_000, 12_000, 24_000, 47_000, 89_169)
_TEST_EXAMPLES = 4000


def error(size: int) -> float:
    """A + B N^-C."""
    return A + B * size**-C


def scaling_results(
    sizes: Sequence[int] = SIZES, seeds=(1,), encoder: str = "disan"
) -> dict[str, dict]:
    """Name -> result of a run for each size, or of a series for several seeds.

    The largest size is the whole prepared corpus.
    """
    return {f"{encoder}_{size}": _result(size, seeds, encoder) for size in sizes}


def scaling_predictions(results: dict[str, dict]) -> dict[str, list[Answers]]:
    """Name -> the answers of each member, which are wrong by chance as often as the law says."""
    generator = np.random.default_rng(3)
    labels = np.zeros(_TEST_EXAMPLES, np.uint8)
    found = {}
    for name in results:
        share = error(int(name.rpartition("_")[2]))
        members = results[name].get("members", [0])
        found[name] = [
            Answers((generator.random(_TEST_EXAMPLES) < share).astype(np.uint8), labels)
            for _ in members
        ]
    return found


def _result(size, seeds, encoder):
    config = config_of("snli", encoder=encoder, seed=seeds[0])
    config["train"] = {"examples": 0 if size == SIZES[-1] else size, "steps": size // 10}
    data = {
        "training_examples": SIZES[-1],
        "training_read": 94_108,
        "unit": "pairs",
        "official_training_examples": 550_152,
    }
    scores = {"test": {"accuracy": 1.0 - error(size)}}
    if len(seeds) == 1:
        return {"config": config, "data": data, **scores}
    members = [{"name": f"seed-{seed}", "seed": seed, "scores": scores} for seed in seeds]
    return {"config": config, "data": data, "members": members, "mean": scores}
