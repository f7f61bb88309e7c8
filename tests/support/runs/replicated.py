"""A tiny training on one device and on several logical CPUs, in a process of its own.

    python -m tests.support.runs.replicated disan_sst --folder=... --replicas=2

A process has logical devices only if they are made before TensorFlow computes anything.
"""

import argparse
import json
import re
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

from disan_tf.training.distribution.strategy import Distribution
from tests.support.corpora.pairs import make_feature_corpus, make_pair_corpus
from tests.support.processes import run_program
from tests.support.runs.training import (
    check_same,
    corpus_of,
    records_of,
    run_loop,
    tiny_config,
)

STEPS = {"steps": 50, "window": 1, "evaluate_every": 25, "log_every": 5, "moving_average": 0.9}
LEAST_NORM = 2e-3
LEAST = {"policy_loss": 1.0}  # a mean of small differences times large logarithms
# In training the normaliser cancels the biases before it. Of their gradients, which are rounding,
# RMSProp makes whole steps, and the moving averages have them too.
UNDETERMINED = re.compile(r"drcn.*/head/(hidden_\d/dense/bias|norm_\d/moving_mean):")


def compare(
    name: str, folder: Path, replicas: int = 2, dtype: str = "float32", twice=False
) -> dict:
    """What `main` prints, in a process of its own."""
    arguments = [name, f"--folder={folder}", f"--replicas={replicas}", f"--dtype={dtype}"]
    command = sys.executable, "-m", "tests.support.runs.replicated", *arguments
    done = run_program(*command, *["--twice"] * twice, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def config_of(name: str, dtype: str = "float32"):
    """`<name>:tiny` in which all that a training has changes within 50 steps."""
    name, _, variant = name.partition(":")
    config = tiny_config(dtype, name=name, **STEPS)
    if name == "disan_sst":  # whose words occur several times in a batch
        config.train.clip_norm = 0.05
    if name == "resan_snli":
        config.policy.update({"pretrain_steps": 12, "policy_steps": 8, "baseline": 0.9})
    if config.train.get("plateau"):
        config.train.plateau.update({"patience": 1, "threshold": 0.2})
    if variant:
        config.encoder.update(json.loads(variant))
    if "bottleneck_units" in variant:  # RMSProp makes whole steps of a bias' gradient of rounding
        # Short steps leave biases so small that float32 rounds 3e-5 of them.
        config.train.update({"optimizer": "adadelta", "learning_rate": 4.0})
    return config


def make_corpus(name: str, config, folder: Path):
    """A prepared corpus of what the config reads."""
    if name.endswith("sst"):
        return corpus_of(config, folder)
    make = make_feature_corpus if name.startswith("drcn") else make_pair_corpus
    options = {"word_length": 8} if name.startswith("drcn") else {}
    return make(folder / "corpus", **options)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--twice", action="store_true", help="compares two runs of the replicas")
    options = parser.parse_args()
    (cpu,) = tf.config.list_physical_devices("CPU")
    devices = [tf.config.LogicalDeviceConfiguration()] * options.replicas
    tf.config.set_logical_device_configuration(cpu, devices)
    config = config_of(options.name, options.dtype)
    corpus = make_corpus(options.name.partition(":")[0], config, options.folder)

    def train(folder, distribution=None):
        return run_loop(config, corpus, options.folder / folder, devices=distribution)

    def on_all(folder):
        return train(folder, Distribution(tf.distribute.MirroredStrategy()))

    one, several = train("one"), on_all("several")
    if options.twice:
        check_same(on_all("again"), several)
    print(json.dumps({**differences(one, several), "replicas": several.devices.replicas}))


def differences(one, other) -> dict:
    """Relative differences of two trainings: of a weight, and of a number in the log by split."""
    train, dev = (
        record_difference(records_of(one, split), records_of(other, split))
        for split in ("train", "dev")
    )
    weights = weight_difference(one.model.weights, other.model.weights)
    return {"weights": weights, "train": train, "dev": dev}


def weight_difference(weights, others) -> float:
    """The largest ||w - w'|| / ||w|| of two models' weights, but for those of `UNDETERMINED`.

    A weight smaller than `LEAST_NORM` is that of a bias before a softmax, whose gradient is 0 but
    for rounding.
    """
    pairs = [
        (np.asarray(w, np.float64), np.asarray(v, np.float64))
        for w, v in zip(weights, others)
        if not UNDETERMINED.search(w.name)
    ]
    ratios = [np.linalg.norm(w - v) / max(np.linalg.norm(w), LEAST_NORM) for w, v in pairs]
    return float(np.max(ratios))  # also nan


def record_difference(records, others) -> float:
    """The largest relative difference of a number in two logs of as many lines."""
    assert len(records) == len(others)
    numbers = [
        (record[key], other[key], LEAST.get(key, 1e-12))
        for record, other in zip(records, others)
        for key in record
        if isinstance(record[key], float)
    ]
    return float(np.max([abs(x - y) / max(abs(x), least) for x, y, least in numbers]))  # also nan


if __name__ == "__main__":
    main()
