"""Time of an epoch and of inference for the encoders of the DiSAN paper's Table 1."""

from typing import Optional

from configs.papers.disan import BASELINES
from disan_tf.benchmark.epoch import (
    TRAINING_PAIRS,
    Sample,
    default_batches,
    plan_of,
    snli_shaped_split,
)
from disan_tf.benchmark.step import count_config_parameters, make_steps
from disan_tf.benchmark.timing import WARM_UPS, measure


def measure_encoders(config, repetitions: int, batches: Optional[int] = None) -> dict:
    """Pairs per second of training and inference, DiSAN and the five baselines in turns.

    All read the same batches, planned as in training, of the lengths of SNLI, and compute in
    `config.dtype`; see `measure_epoch` for how batches are chosen.

    Returns:
      {"pairs", "sampled_batches", "dtype", "encoders"}; an encoder has "parameters",
      "pairs_per_second", their "min" and "max" over the repetitions, "epoch_seconds" for all pairs
      of SNLI, "inference_pairs_per_second", and "disan_ratio", its epoch in epochs of DiSAN.
    """
    batches = batches or default_batches(config)
    split = snli_shaped_split(config.seed)
    configs = {name: _variant(config, name) for name in (*BASELINES, "disan")}
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
    runs = {key: sample.run for key, sample in samples.items()}
    timings = measure(runs, repetitions, settle=False)  # a run is many batches
    speeds = {key: samples[key].speeds(timing) for key, timing in timings.items()}
    whole = speeds["disan", "train"]["pairs_per_second"]
    return {
        "pairs": len(split),
        "sampled_batches": repetitions * batches,
        "dtype": config.dtype,
        "encoders": {
            name: {
                "parameters": count_config_parameters(variant),
                **speeds[name, "train"],
                "epoch_seconds": TRAINING_PAIRS / speeds[name, "train"]["pairs_per_second"],
                "inference_pairs_per_second": speeds[name, "inference"]["pairs_per_second"],
                "disan_ratio": whole / speeds[name, "train"]["pairs_per_second"],
            }
            for name, variant in configs.items()
        },
    }


def _variant(config, name):
    """The config with another encoder."""
    config = config.copy_and_resolve_references()
    if name in BASELINES:
        with config.unlocked():
            BASELINES[name](config)
    return config
