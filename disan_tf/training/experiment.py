"""Runs one training in its work directory, and writes its description beside the model."""

import subprocess
import sys
from pathlib import Path
from typing import Optional

import numpy as np
import tensorflow as tf

import disan_tf
from disan_tf.common.errors import UserError
from disan_tf.common.files import check_format, read_json, write_json
from disan_tf.common.progress import is_terminal
from disan_tf.input_pipeline import PreparedCorpus, evaluation_batches, make_dataset, padding_share
from disan_tf.input_pipeline.format import Keys
from disan_tf.models.factory import count_parameters
from disan_tf.runs.machine import describe_machine, load
from disan_tf.runs.provenance import command_line, data_summary
from disan_tf.runs.work_directory import (
    FORMAT,
    OTHER_VERSION,
    RUN,
    claim,
    read_start,
    refuse_other_start,
)
from disan_tf.training.calibration import calibrate
from disan_tf.training.class_options import selecting_score
from disan_tf.training.distribution.cluster import make_distribution
from disan_tf.training.distribution.strategy import Distribution
from disan_tf.training.initial_model import InitialModel, describe_start
from disan_tf.training.loop import Trainer
from disan_tf.training.monitoring.console import ConsoleLog, Schedule, TrainingBar
from disan_tf.training.monitoring.projector import write_projector
from disan_tf.training.monitoring.tensorboard import TensorBoardLogger

_PROBE_EXAMPLES = 32


def train(
    config,
    corpus: PreparedCorpus,
    workdir,
    pictures: bool = True,
    distribution: Optional[Distribution] = None,
    initial: Optional[InitialModel] = None,
) -> dict:
    """Starts or resumes a training in `workdir`; returns the summary by `Trainer.run`.

    Args:
      config: a config of `configs/`.
      corpus: the prepared corpus.
      workdir: the training's folder.
      pictures: whether TensorBoard gets pictures of attention and confusions at each evaluation.
      distribution: None = the config's distribution, in this process alone.
      initial: the model with whose weights the training begins; None = random weights.

    Raises:
      UserError: the work directory belongs to another config, other data or another initial model,
        or see `Trainer` and `Trainer.run`.
    """
    workdir, distribution = Path(workdir), distribution or make_distribution(config)
    if distribution.is_chief:
        refuse_other_start(workdir, initial and initial.name)
        claim(workdir, config)
        _check_inputs(workdir, corpus)
    trainer = Trainer(config, corpus, workdir, distribution=distribution, initial=initial)
    return _run_as_chief(trainer, pictures) if distribution.is_chief else trainer.run()


def _run_as_chief(trainer: Trainer, pictures: bool) -> dict:
    """Runs a training, with its description, its progress and TensorBoard's files."""
    workdir = trainer.workdir
    write_json(workdir / "run.json", describe(trainer))
    print(introduce(trainer))
    progress = _progress(trainer)
    trainer.callbacks = [_tensorboard(trainer, pictures), progress]
    try:
        summary = trainer.run()
    finally:
        progress.on_train_end()  # an error's message stands below the bar
    if trainer.config.task.get("calibrate"):
        print(calibrate(workdir / "best", trainer.corpus))
    _record_load(workdir)
    write_projector(workdir / "tensorboard", trainer.model, trainer.corpus)
    return summary


def _check_inputs(workdir: Path, corpus: PreparedCorpus) -> None:
    """Raises UserError if a resumed training's data or biLM has changed."""
    path = workdir / "run.json"
    if not (path.exists() and any((workdir / "checkpoints").glob("*"))):
        return
    run = read_json(path, "choose another --workdir", RUN)
    check_format(path, run, FORMAT, OTHER_VERSION)
    inputs = corpus.manifest[Keys.INPUTS], run["inputs"]
    digests = ({file["sha256"] for file in files.values()} for files in inputs)
    same = set.intersection(*digests)
    changed = {name for files in inputs for name in files if files[name]["sha256"] not in same}
    if changed:
        raise UserError(
            f"{workdir} holds a training on other contents of {', '.join(sorted(changed))}; "
            "restore them, or choose another --workdir."
        )


def _record_load(workdir: Path) -> None:
    """Adds the load at the training's end to `run.json`."""
    path = workdir / "run.json"
    run = read_json(path, "choose another --workdir", RUN)
    write_json(path, {**run, "machine": {**run["machine"], "load_after": load()}})


def describe(trainer: Trainer) -> dict:
    """Returns a training's description for `run.json`: versions, machine, commit, data, size."""
    started = trainer.started or read_start(trainer.workdir)
    return {
        "format": FORMAT,
        "versions": {
            "disan_tf": disan_tf.__version__,
            "python": sys.version.split()[0],
            "tensorflow": tf.__version__,
            "numpy": np.__version__,
        },
        "machine": describe_machine(),
        "commit": _commit(),
        "command": command_line(sys.argv),
        "parameters": count_parameters(trainer.model),
        "epoch_steps": trainer.epoch_steps,
        "corpus": trainer.corpus.directory.name,
        "inputs": trainer.corpus.manifest[Keys.INPUTS],
        "data": data_summary(trainer.corpus.manifest),
        **({"init_from": started} if started else {}),
    }


def introduce(trainer: Trainer) -> str:
    """Returns the first lines that a training prints."""
    lengths, rows = trainer.train.field_lengths, trainer.plan.rows
    padding = padding_share(lengths, trainer.plan.batches(0))
    return (
        f"{trainer.config.name}: {count_parameters(trainer.model):,} parameters without "
        f"embeddings, {sum(trainer.corpus.words):,} words\n"
        f"{len(rows):,} training examples, {trainer.epoch_steps:,} steps an epoch, "
        f"{lengths[rows].sum() / trainer.epoch_steps:,.0f} tokens a step, "
        f"{padding:.1%} of the positions are padding"
        + (f"\n{describe_start(trainer.started)}" if trainer.started else "")
    )


def _commit():
    """Returns the code's commit, or None outside a git checkout."""
    root = Path(__file__).resolve().parent
    command = ["git", "-C", str(root), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _tensorboard(trainer, pictures):
    batches = evaluation_batches(trainer.dev.field_lengths, _PROBE_EXAMPLES)
    batch = next(iter(make_dataset(trainer.dev, batches[len(batches) // 2 :])))
    return TensorBoardLogger(
        trainer.workdir / "tensorboard",
        trainer.config,
        [batch[name] for name in trainer.model.reads],
        trainer.method.evaluation_step,
        _examples_a_step(trainer),
        _pictures(trainer) if pictures else (),
    )


def _pictures(trainer):
    """Returns the pictures to draw at each evaluation."""
    from disan_tf.training.monitoring.pictures import (  # imports matplotlib
        AttentionPictures,
        ConfusionPicture,
    )

    drawn = [AttentionPictures(trainer.model, trainer.corpus)]
    if trainer.model.criterion == "accuracy":
        drawn.append(ConfusionPicture(trainer))
    return drawn


def _progress(trainer):
    """Returns a callback that shows a bar on a terminal and prints lines elsewhere."""
    examples, train = _examples_a_step(trainer), trainer.config.train
    if not is_terminal():
        return ConsoleLog(train.steps, examples, trainer.epoch_steps)
    return TrainingBar(
        Schedule(train.steps, train.evaluate_every, train.patience),
        examples * len(trainer.model.fields),
        selecting_score(trainer.config.train, trainer.model),
        trainer.best.recorded,
    )


def _examples_a_step(trainer):
    return len(trainer.plan.rows) / trainer.epoch_steps
