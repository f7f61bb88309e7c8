"""One training in its work directory: who may use it, what is written beside the model."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

import disan_tf
from disan_tf.errors import UserError
from disan_tf.files import read_json, write_json
from disan_tf.input_pipeline import PreparedCorpus, evaluation_batches, make_dataset
from disan_tf.input_pipeline.batch_plan import padding_share, plan_batches
from disan_tf.tasks import count_parameters
from disan_tf.training.console import ConsoleLog
from disan_tf.training.loop import Trainer
from disan_tf.training.tensorboard import TensorBoardLogger

# A finished training may be asked for more steps; everything else makes another experiment.
_MAY_CHANGE = {"train.steps"}
_PROBE_SENTENCES = 32


def train(config, corpus: PreparedCorpus, workdir) -> dict:
    """Trains, or goes on training, in `workdir`; returns `Trainer.run`'s summary.

    Raises:
      UserError: the work directory belongs to another config, or see `Trainer.run`.
    """
    workdir = Path(workdir)
    claim(workdir, config)
    trainer = Trainer(config, corpus, workdir)
    write_json(workdir / "run.json", describe(trainer))
    print(introduce(trainer))
    trainer.callbacks = [_tensorboard(trainer), _progress(config)]
    return trainer.run()


def claim(workdir: Path, config) -> None:
    """Writes `config.json`, or checks that the one that is there is the same.

    Raises:
      UserError: naming the values that differ.
    """
    path = workdir / "config.json"
    wanted = flatten(config.to_dict())
    if path.exists():
        found = flatten(read_json(path, "choose another --workdir"))
        differing = [
            f"{key} ({found.get(key)!r} there, {wanted.get(key)!r} here)"
            for key in sorted(found.keys() | wanted.keys())
            if found.get(key) != wanted.get(key) and key not in _MAY_CHANGE
        ]
        if differing:
            raise UserError(
                f"{workdir} holds a training of another config: {', '.join(differing)}; choose "
                "another --workdir or the same values."
            )
    write_json(path, config.to_dict())


def flatten(tree: dict, prefix: str = "") -> dict:
    """{"train": {"steps": 5}} -> {"train.steps": 5}."""
    flat = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat.update(flatten(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat


def describe(trainer: Trainer) -> dict:
    """What a reader of a result wants to know: versions, commit, data, size."""
    return {
        "versions": {
            "disan_tf": disan_tf.__version__,
            "python": sys.version.split()[0],
            "tensorflow": tf.__version__,
            "numpy": np.__version__,
        },
        "commit": _commit(),
        "parameters": count_parameters(trainer.model),
        "corpus": trainer.corpus.directory.name,
        "inputs": trainer.corpus.manifest["inputs"],
    }


def introduce(trainer: Trainer) -> str:
    """The lines that a training starts with."""
    train = trainer.config.train
    plan = plan_batches(trainer.train.lengths, train.batch_size, train.window, 0, 0)
    tokens = trainer.train.lengths.mean() * train.batch_size
    return (
        f"{trainer.config.name}: {count_parameters(trainer.model):,} parameters without "
        f"embeddings, {sum(trainer.corpus.words):,} words\n"
        f"{len(trainer.train):,} training examples, {trainer.epoch_steps:,} steps an epoch, "
        f"{tokens:,.0f} tokens a step, "
        f"{padding_share(trainer.train.lengths, plan):.1%} of the positions are padding"
    )


def _commit():
    """The commit of the code, or None outside of a git checkout."""
    root = Path(__file__).resolve().parent
    command = ["git", "-C", str(root), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _tensorboard(trainer):
    batches = evaluation_batches(trainer.dev.lengths, _PROBE_SENTENCES)
    probe = next(iter(make_dataset(trainer.dev, batches[len(batches) // 2 :])))["sentence"]
    return TensorBoardLogger(
        trainer.workdir / "tensorboard", trainer.config, probe, trainer.evaluation_step,
        trainer.config.train.log_every,
    )  # fmt: skip


def _progress(config):
    """A bar on a terminal, lines in a file."""
    if sys.stderr.isatty():
        from disan_tf.addons import progress_bar  # only then is tensorflow-addons needed

        return progress_bar(config.train.batch_size)
    return ConsoleLog(config)
