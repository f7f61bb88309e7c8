"""Runs one training in its work directory, and writes its description beside the model."""

import functools
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Callable, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.common.files import check_format, read_json, write_json
from disan_tf.common.installation import VERSION
from disan_tf.common.progress import is_terminal
from disan_tf.input_pipeline import PreparedCorpus, evaluation_batches, make_dataset
from disan_tf.input_pipeline.batch_plan import padding_share
from disan_tf.input_pipeline.format import Keys
from disan_tf.models.factory import build_model, count_parameters
from disan_tf.models.memory import memory_limit
from disan_tf.runs import work_directory
from disan_tf.runs.bundle import save_bundle
from disan_tf.runs.machine import describe_machine, emulates_bfloat16, load
from disan_tf.runs.run_summary import in_steps
from disan_tf.runs.work_directory import command_line, data_summary
from disan_tf.training.calibration import calibrate
from disan_tf.training.checkpoints import has_checkpoint
from disan_tf.training.distribution.cluster import make_distribution, report_lost_workers
from disan_tf.training.distribution.strategy import Distribution
from disan_tf.training.initial_model import InitialModel, check_start, describe_start
from disan_tf.training.loop import TrainingLoop, plan_of
from disan_tf.training.methods import make_method
from disan_tf.training.monitoring.console import ConsoleLog, TrainingBar
from disan_tf.training.monitoring.tensorboard import TensorBoardLogger
from disan_tf.training.options import selecting_score, weights_of_classes
from disan_tf.training.resources import check_prepared, gather_resources

_PROBE_EXAMPLES = 32
_SLOW = (
    "\nwarning: oneDNN emulates bfloat16 on this processor; float32 (--config.dtype=float32) "
    "trains two to four times as fast."
)
Prepare = Callable[[], PreparedCorpus]


class Trainer(TrainingLoop):
    """The training of a config's model: the model, its training method and its loop.

    Args:
      config, corpus, workdir, initial: see `train`; a training that resumes needs no initial model.
      callbacks, distribution: see `TrainingLoop`; None = one device.

    Attributes:
      started: the record by `InitialModel.apply`; None without `initial` or in a resumed training.

    Raises:
      UserError: the corpus is not what the config reads, or the initial model does not fit.
      MemoryError: the machine cannot hold the model, see `memory_limit`.
    """

    def __init__(
        self,
        config,
        corpus: PreparedCorpus,
        workdir,
        callbacks: Sequence[tf.keras.callbacks.Callback] = (),
        distribution: Optional[Distribution] = None,
        initial: Optional[InitialModel] = None,
    ):
        distribution = distribution or Distribution()
        checkpoints = Path(workdir) / "checkpoints"
        if initial and distribution.by_chief(lambda: has_checkpoint(checkpoints)):
            initial = None
        if initial:
            initial.check_fits(config.embedding, config.encoder)
        check_prepared(corpus, config.task.name, config.evaluate.splits, config.train.examples)
        resources, corpus = gather_resources(config.embedding, config.dtype, corpus)
        tf.keras.utils.set_random_seed(config.seed)
        plan = plan_of(corpus.split("train"), config.seed, config.train)
        self.config = config = _in_steps(config, plan.count(0))
        with distribution.scope():
            with memory_limit(copies=4):
                cached = corpus.layers is not None
                model = build_model(
                    config, resources.words, resources.classes, bilm=resources.bilm, cached=cached
                )
            model.set_resources(resources)
            self.started = initial and initial.apply(model, corpus)
            if config.train.get("class_weights"):
                model.class_weights = weights_of_classes(config.train, corpus)
            sections = config.train, config.dtype, config.evaluate, config.get("policy")
            method = make_method(model, *sections)
        distribution.check_same("initial model", self.started)
        parts = model, method, corpus, Path(workdir), plan, config.train, config.evaluate
        save = functools.partial(save_bundle, model=model, config=config, corpus=corpus)
        super().__init__(*parts, save, callbacks, distribution)


def _in_steps(config, epoch_steps: int):
    """Returns the config with the steps of `in_steps`."""
    config = config.copy_and_resolve_references()
    with config.unlocked():
        config.train = in_steps(config.train, epoch_steps)
    return config


def run(
    config, prepare: Prepare, workdir, pictures: bool = True, initial: Optional[InitialModel] = None
) -> Optional[dict]:
    """Trains in this process alone, or as one of the workers that the config asks for.

    Args and errors: see `train`; Stopped if another worker has ended or cannot be reached. Returns
    the summary by `Trainer.run`; None in a worker that does not report.
    """
    workdir = Path(workdir)
    distribution = make_distribution(config.train.get("distribution", "none"))
    with report_lost_workers(distribution), distribution.writing(workdir):
        distribution.check_same("config", config.to_dict())
        check_start(initial, workdir, config.embedding, config.encoder)
        summary = train(config, prepare, workdir, pictures, distribution, initial)
    return summary if distribution.is_chief else None


def train(
    config,
    prepare: Prepare,
    workdir,
    pictures: bool = True,
    distribution: Optional[Distribution] = None,
    initial: Optional[InitialModel] = None,
) -> dict:
    """Starts or resumes a training in `workdir`; returns the summary by `Trainer.run`.

    Args:
      config, workdir: a config of `configs/`, and the training's folder.
      prepare: returns the prepared corpus, which other workers read when the first one has it.
      pictures: whether TensorBoard gets pictures of attention and confusions at each evaluation.
      distribution: None = the config's distribution, without further workers.
      initial: the model with whose weights the training begins; None = random weights.

    Raises:
      UserError: the work directory belongs to another config, other data or another initial model,
        or see `Trainer` and `Trainer.run`.
    """
    workdir = Path(workdir)
    distribution = distribution or make_distribution(config.train.get("distribution", "none"))
    work_directory.check_same_config(workdir, config)
    with distribution.chief_first():
        corpus = prepare()
    distribution.check_same("corpus", corpus.manifest)
    if distribution.is_chief:
        work_directory.check_same_start(workdir, initial and initial.name)
        work_directory.claim(workdir, config)
        _check_inputs(workdir, corpus)
    trainer = Trainer(config, corpus, workdir, (), distribution, initial)
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
    return summary


def _check_inputs(workdir: Path, corpus: PreparedCorpus) -> None:
    """Raises UserError if a resumed training's data or biLM has changed."""
    path = workdir / "run.json"
    if not (path.exists() and any((workdir / "checkpoints").glob("*"))):
        return
    run = read_json(path, "choose another --workdir", work_directory.RUN)
    check_format(path, run, work_directory.FORMAT, work_directory.VERSION_REMEDY)
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
    run = read_json(path, "choose another --workdir", work_directory.RUN)
    write_json(path, {**run, "machine": {**run["machine"], "load_after": load()}})


def describe(trainer: Trainer) -> dict:
    """Returns a training's description for `run.json`: versions, machine, commit, data, size."""
    started = trainer.started or work_directory.read_start(trainer.workdir)
    return {
        "format": work_directory.FORMAT,
        "versions": {
            "disan_tf": VERSION,
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
        f"{trainer.model.name}: {count_parameters(trainer.model):,} parameters without "
        f"embeddings, {sum(trainer.corpus.words):,} words\n"
        f"{len(rows):,} training examples, {trainer.epoch_steps:,} steps per epoch, "
        f"{lengths[rows].sum() / trainer.epoch_steps:,.0f} tokens per step, "
        f"{padding:.1%} of the positions are padding"
        + (f"\n{describe_start(trainer.started)}" if trainer.started else "")
        + (_SLOW if trainer.config.dtype == "mixed_bfloat16" and emulates_bfloat16() else "")
    )


def _commit():
    """Returns the code's commit, or None outside a git checkout."""
    command = ["git", "-C", str(Path(__file__).resolve().parent), "rev-parse", "HEAD"]
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
    train = trainer.options
    if is_terminal():
        return TrainingBar(
            train.steps, selecting_score(train, trainer.model), trainer.best.recorded
        )
    return ConsoleLog(train.steps, _examples_a_step(trainer), trainer.epoch_steps)


def _examples_a_step(trainer):
    return len(trainer.plan.rows) / trainer.epoch_steps
