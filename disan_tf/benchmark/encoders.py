"""Times of an epoch and of inference for the encoders in the DiSAN paper's Table 1."""

from typing import Optional

from configs.papers.disan import BASELINES
from disan_tf.benchmark.epoch import (
    TRAINING_PAIRS,
    Sample,
    default_batches,
    measure_samples,
    plan_of,
    snli_shaped_split,
)
from disan_tf.benchmark.step import build, change_config, make_steps
from disan_tf.benchmark.timing import WARM_UPS
from disan_tf.models.factory import count_parameters


def measure_encoders(config, repetitions: int, batches: Optional[int] = None) -> dict:
    """Measures pairs per second in training and inference, DiSAN and five baselines in turns.

    All encoders read the same batches, planned as in training, with SNLI's lengths, and compute in
    `config.dtype`; `measure_epoch` describes the sample of batches.

    Returns:
      {"pairs", "sampled_batches", "dtype", "encoders"}; an encoder has "parameters",
      "pairs_per_second", their "min" and "max" over the repetitions, "epoch_seconds" for all pairs
      of SNLI, "inference_pairs_per_second", and "disan_ratio", its epoch's time over DiSAN's.
    """
    batches = batches or default_batches(config)
    split = snli_shaped_split(config.seed)
    baselines = {name: change_config(config, change) for name, change in BASELINES.items()}
    configs = {**baselines, "disan": config}
    plan = plan_of(config, split)
    samples = {
        (name, kind): Sample(
            plan,
            split,
            step,
            [*split.fields, *["label"][: kind == "train"]],
            batches,
            repetitions + WARM_UPS,
        )
        for name, variant in configs.items()
        for kind, step in make_steps(config.dtype, variant).items()
    }
    speeds = measure_samples(samples, repetitions)
    whole = speeds["disan", "train"]["pairs_per_second"]
    return {
        "pairs": len(split),
        "sampled_batches": repetitions * batches,
        "dtype": config.dtype,
        "encoders": {
            name: {
                "parameters": count_parameters(build(variant)),
                **speeds[name, "train"],
                "epoch_seconds": TRAINING_PAIRS / speeds[name, "train"]["pairs_per_second"],
                "inference_pairs_per_second": speeds[name, "inference"]["pairs_per_second"],
                "disan_ratio": whole / speeds[name, "train"]["pairs_per_second"],
            }
            for name, variant in configs.items()
        },
    }
