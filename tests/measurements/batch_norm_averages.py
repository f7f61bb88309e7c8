"""What a model's accuracy owes to the averages that its batch normalisation has.

    python -m tests.measurements.batch_norm_averages --workdir=runs/drcn_snli \\
      --prepared=prepared/snli-... \\
      [--output=checkpoints/benchmarks/measurements/batch_norm_averages_drcn.json]

takes the best model of a training, prints as JSON its accuracy and loss on dev with the averages
that it was saved with, and then with those of training batches, from `WINDOWS` of them each, with
and without dropout. All other weights stay as they are. A training keeps moving averages with
`--config.train.batch_norm_batches=0`, as those did whose figures stand in `checkpoints/`.
"""

import json

import numpy as np
from ml_collections import ConfigDict

from disan_tf.common.files import write_json
from disan_tf.input_pipeline import BatchPlan, PreparedCorpus, make_dataset
from disan_tf.runs.bundle import load_bundle
from disan_tf.runs.work_directory import read_config
from disan_tf.training.methods.batch_statistics import make_averaging_step, take_averages
from tests.measurements.best_model import dev_scores, parse_options

SIZES = (20, 100)  # batches
WINDOWS = 4


def main() -> None:
    """Prints what was measured."""
    options = parse_options(__doc__)
    config = ConfigDict(read_config(options.workdir))
    bundle, corpus = load_bundle(options.workdir / "best"), PreparedCorpus(options.prepared)
    saved = dev_scores(bundle, corpus)
    found = {"step": bundle.info["scores"]["step"], "saved": saved, "averages": []}
    train = corpus.split("train")
    plan = BatchPlan(
        train.field_lengths,
        config.train.batch_size,
        config.train.window,
        config.seed,
        config.train.batch_tokens,
        config.train.examples,
    )
    for dropout in (True, False):
        step = make_averaging_step(bundle.model, dropout)
        for size in SIZES:
            windows = np.split(plan.batches(0)[: size * WINDOWS], WINDOWS)
            scores = []
            for batches in windows:
                take_averages(step, make_dataset(train, batches), bundle.model.reads)
                scores.append(dev_scores(bundle, corpus))
            found["averages"].append({"dropout": dropout, "batches": size, "scores": scores})
    print(json.dumps(found, indent=2))
    if options.output:
        write_json(options.output, {"config": config.to_dict(), **found})


if __name__ == "__main__":
    main()
