"""What a training step costs with ELMo of the official sizes, against word vectors.

    python -m tests.measurements.elmo_cost --data_dir=data [--dtype=mixed_bfloat16]

prints as JSON the milliseconds of a step of `configs/elmo_disan_sst.py`, batches of 64 phrases of
the treebank: the median over pieces of trainings that take turns, and its ratio to that of DiSAN
with word vectors. The layers come from a file ("cached"), or are computed in each step
("on_the_fly"). All weights and vectors are random, for they cost what others cost.
"""

import statistics
from pathlib import Path

import tensorflow as tf

from configs.elmo_disan_sst import get_config
from data_prep.prepare import prepare
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.runs.metrics_log import MetricsLog
from disan_tf.training.experiment import Trainer
from tests.measurements.bilm_encoding import report, write_inputs

FORMS = {  # name -> variant, steps of a piece
    "word_vectors": ("random", 20),
    "cached": ("cut_phrases", 10),
    "on_the_fly": ("", 2),
}
PIECES = 4  # of a training; the first is left out
ROUNDS = 3


def measure(folder: Path, data_dir: Path, dtype: str) -> dict:
    """Form -> milliseconds of a step, and how many steps with word vectors take as long."""
    write_inputs(folder, data_dir)
    times = {name: [] for name in FORMS}
    for number in range(ROUNDS):
        for name, (variant, steps) in FORMS.items():
            config = _config(name, variant, steps, dtype)
            corpus = PreparedCorpus(prepare(config.data, folder, folder / "prepared"))
            times[name] += _train(config, corpus, folder / f"{name}-{number}")
            tf.keras.backend.clear_session()
    medians = {name: statistics.median(each) for name, each in times.items()}
    return {
        "dtype": dtype,
        **{
            name: {"step_ms": round(each, 1), "ratio": round(each / medians["word_vectors"], 1)}
            for name, each in medians.items()
        },
    }


def _config(name, variant, steps, dtype):
    config = get_config(variant).unlock()
    if config.data.bilm:
        config.data.bilm = "elmo/random"
        config.embedding.cached = name == "cached"
    config.dtype = dtype
    config.train.steps = config.train.evaluate_every = steps * PIECES
    config.train.log_every = steps
    return config


def _train(config, corpus, workdir) -> list[float]:
    """Milliseconds of a step in each piece but the first, which traces."""
    Trainer(config, corpus, workdir).run()
    records = MetricsLog.read(workdir / "metrics.jsonl")
    seconds = [each["seconds"] for each in records if each["split"] == "train"]
    return [1e3 * (b - a) / config.train.log_every for a, b in zip(seconds, seconds[1:])]


if __name__ == "__main__":
    report(measure, __doc__)
