"""Small trainings for tests: a config, a corpus of the synthetic grammar, a kill."""

import importlib.util
import shutil
from pathlib import Path
from typing import Callable, Optional

import numpy as np
import pytest
import tensorflow as tf
from ml_collections import ConfigDict

from data_prep.prepare import prepare
from data_prep.synthetic.treebank import write_treebank
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.runs.metrics_log import MetricsLog
from disan_tf.runs.work_directory import WorkDirectory
from disan_tf.training.config import from_dict
from disan_tf.training.distribution.strategy import Distribution
from disan_tf.training.loop import Loop
from disan_tf.training.methods import make_method
from disan_tf.training.train import build

ROOT = Path(__file__).resolve().parents[3]


def load_config(name: str, variant: str = ""):
    """`configs/<name>.py:<variant>`, unlocked for a test to change."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "configs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.get_config(variant).unlock()


def config_names() -> list[str]:
    """The names of all configs."""
    return sorted({path.stem for path in (ROOT / "configs").glob("*.py")} - {"__init__", "common"})


def variants(name: str) -> list[str]:
    """The default, "", and the variants that the error about an unknown one lists."""
    with pytest.raises(ValueError, match="has no variant '...'") as caught:
        load_config(name, "...")
    known = str(caught.value).partition(" it has ")[2]
    return [""] if known == "none" else ["", *known.split(", ")]


def tiny_config(dtype="float32", seed=1, name="disan_sst", **train):
    """`<name>.py:tiny` with changes."""
    config = load_config(name, "tiny")
    config.dtype = dtype
    config.seed = seed
    config.train.update(train)
    return config


def with_few_operations(config):
    """The config with the encoder of its kind that is traced in the shortest time."""
    name = "selected_source2token" if "policy" in config else "additive"
    config.encoder = ConfigDict({"name": name, "units": 4})
    return config


def corpus_of(config, folder: Path, sizes=None) -> PreparedCorpus:
    """A prepared corpus of synthetic trees."""
    write_treebank(folder, seed=0, sizes=sizes or {"train": 60, "dev": 40, "test": 40})
    return PreparedCorpus(prepare(config.data, folder, folder / "prepared"))


def method_of(config, model):
    """The training method of a config's model."""
    return make_method(model, from_dict(config))


def optimizer_of(config, variables):
    """The optimizer that a config's training would have for these variables."""
    config = from_dict(config)
    return config.train.optimizer.build(config.train.averaging, config.dtype, variables)


def make_loop(config, corpus, workdir, callbacks=(), devices=None, initial=None) -> Loop:
    """A model with its training method in its loop."""
    config = from_dict(config)
    work = WorkDirectory(workdir, config)
    loop = build(config, corpus, work, devices or Distribution(), initial)
    loop.callbacks = callbacks
    return loop


def records_of(loop, split: Optional[str] = None) -> list[dict]:
    """The lines of `metrics.jsonl`, of one split or of all.

    The seconds are left out, which no two trainings share.
    """
    records = MetricsLog.read(loop.work.metrics)
    return [
        {key: value for key, value in it.items() if key != "seconds"}
        for it in records
        if split in (None, it["split"])
    ]


def run_loop(config, corpus, workdir, callbacks=(), devices=None) -> Loop:
    """Trains to the end, or to a kill."""
    loop = make_loop(config, corpus, workdir, callbacks, devices)
    loop.run()
    return loop


def run_and_copy(train: Callable, folder: Path, step: int) -> tuple[Loop, Path]:
    """Trains, and keeps what a kill before a step would have left.

    Args:
      train: given a work directory and callbacks, trains there and returns the loop.
      folder: for both work directories.
      step: before which the work directory is copied.

    Returns:
      The loop, which nothing stopped, and the copy, in which another one may go on.
    """
    whole, killed = folder / "whole", folder / "killed"
    return train(whole, [CopyAt(step, whole, killed)]), killed


def check_resumes(train: Callable, folder: Path, step: int) -> None:
    """A training that is killed before a step ends as one that nothing stopped."""
    whole, killed = run_and_copy(train, folder, step)
    check_same(train(killed), whole)


def check_same(one, other) -> None:
    """Two trainings ended with the same bits, and recorded the same."""
    for weight, expected in zip(one.model.weights, other.model.weights):
        np.testing.assert_array_equal(weight, expected, weight.name)
    assert records_of(one) == records_of(other)


class CopyAt(tf.keras.callbacks.Callback):
    """Copies a work directory before a step."""

    def __init__(self, step: int, workdir: Path, copy: Path):
        super().__init__()
        self.step, self.workdir, self.copy = step, workdir, copy

    def on_train_batch_begin(self, batch, logs=None):
        if batch == self.step:
            shutil.copytree(self.workdir, self.copy)
