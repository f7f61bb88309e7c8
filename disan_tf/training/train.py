"""Runs one training in its work directory, from the devices to the record beside the model."""

from dataclasses import replace
from typing import Callable, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.common.machine import emulates_bfloat16
from disan_tf.common.paths import PathLike
from disan_tf.common.progress import is_terminal
from disan_tf.elmo.bilm import official_tensors
from disan_tf.elmo.cache import cache_layers
from disan_tf.elmo.official_files import load_bilm, read_options
from disan_tf.input_pipeline import PreparedCorpus, evaluation_batches, make_dataset, padding_share
from disan_tf.models.base import Resources
from disan_tf.models.embeddings import EMBEDDINGS
from disan_tf.models.factory import TASKS, build_model, count_parameters, memory_limit
from disan_tf.models.language_model import BOUNDARIES
from disan_tf.runs.metrics_log import MetricsLog
from disan_tf.runs.series_summary import member_folders
from disan_tf.runs.work_directory import AUTO, WorkDirectory, check_origin, read_start
from disan_tf.training.checkpoints import has_checkpoint
from disan_tf.training.config import Config
from disan_tf.training.distribution.strategy import Distribution
from disan_tf.training.evaluation import calibrate
from disan_tf.training.initial_model import InitialModel, describe_start
from disan_tf.training.loop import Loop
from disan_tf.training.methods import make_method
from disan_tf.training.monitoring.console import ConsoleLog, TrainingBar
from disan_tf.training.monitoring.tensorboard import TensorBoardLogger

_PROBE_EXAMPLES = 32
_SLOW = (
    "\nwarning: oneDNN emulates bfloat16 on this processor; float32 (--config.dtype=float32) "
    "trains two to four times as fast."
)


def train(
    config: Config,
    corpus_of: Callable[[], PreparedCorpus],
    workdir: PathLike,
    devices: Optional[Distribution] = None,
    initial: Optional[InitialModel] = None,
    pictures: bool = True,
    series: Optional[WorkDirectory] = None,
) -> dict:
    """Starts or resumes a training in a work directory, which the caller owns.

    Args:
      config: its sections are checked.
      corpus_of: returns the prepared corpus, which other workers read when the first one has it.
      workdir: the folder of the training.
      devices: see `open_devices`; None = one device.
      initial: the model with whose weights the training begins; None = random weights.
      pictures: whether TensorBoard gets pictures of attention and confusions at each evaluation.
      series: the folder of the series to which the training belongs; None = a single training.

    Returns:
      The summary by `Loop.run`.

    Raises:
      UserError: the work directory belongs to another config, other data or another initial model,
        or see `build` and `Loop.run`.
    """
    work, devices = WorkDirectory(workdir, config), devices or Distribution()
    devices.check_same("config", work.config.to_dict())
    check_work(work, initial)
    with devices.chief_first():
        corpus = corpus_of()
    devices.check_same("corpus", corpus.manifest)
    loop = build(config, corpus, work, devices, initial)
    if devices.is_chief:
        resumes = has_checkpoint(work.checkpoints)
        start = initial.record if initial and not resumes else None
        for folder in (work.path, *(member_folders(series.path) if series else ())):
            check_origin(folder, corpus, start)
        if series:
            series.check()  # another process may have claimed it
            series.claim()
        work.claim()
    step = loop.restore()
    is_over = loop.is_over(step)
    if not devices.is_chief:
        return loop.run(step)
    parameters = count_parameters(loop.model)
    if not is_over or not (work.path / "run.json").exists():
        work.describe(parameters, loop.epoch_steps, corpus, start)
    print(introduce(loop, parameters) + (f"\n{describe_start(start)}" if start else ""))
    if initial and initial.name == AUTO and resumes:
        began = (read_start(work.path) or {"name": "random weights"})["name"]
        print(f"--init_from={AUTO} changes nothing in a resumed training, which began with {began}")
    progress = _progress(loop)
    loop.callbacks = [_tensorboard(loop, pictures), progress]
    try:
        summary = loop.run(step)
    finally:
        progress.on_train_end()  # an error's message stands below the bar
    if work.config.task.get("calibrate"):
        print(calibrate(work.best, loop.corpus))
    if not is_over:
        work.record_load()
    return summary


def check_work(work: WorkDirectory, initial: Optional[InitialModel]) -> None:
    """Checks that a training may begin or resume in a work directory, before a corpus is prepared.

    Raises UserError if it holds another training, or one whose checkpoints are missing, or if the
    initial model does not fit.
    """
    work.check(initial and initial.name)
    if not has_checkpoint(work.checkpoints):
        MetricsLog.check_begins(work.metrics)
        if initial:
            initial.check_fits(work.config)


def build(
    config: Config,
    corpus: PreparedCorpus,
    work: WorkDirectory,
    devices: Distribution,
    initial: Optional[InitialModel] = None,
) -> Loop:
    """Builds the model, its training method and their loop.

    Args:
      config, work, devices, initial: see `train`; a resumed training needs no initial model.
      corpus: the prepared corpus.

    Raises:
      UserError: the corpus is not what the config reads.
      MemoryError: the machine cannot hold the model, see `memory_limit`.
    """
    check_prepared(corpus, config)
    resources, corpus = gather_resources(config.embedding, config.dtype, corpus)
    tf.keras.utils.set_random_seed(config.seed)
    plan = config.train.batches.plan(corpus.split("train").field_lengths, config.seed)
    config = config.resolved(plan.count(0))
    resumes = devices.by_chief(lambda: has_checkpoint(work.checkpoints))
    with devices.scope():
        with memory_limit(copies=4):
            cached = corpus.layers is not None
            model = build_model(
                config, resources.words, resources.classes, bilm=resources.bilm, cached=cached
            )
        model.set_resources(resources)
        if initial and not resumes:
            initial.apply(model, corpus)
        config.train.prepare_loss(model, corpus)
        method = make_method(model, config)
    devices.check_same("initial model", initial and initial.record)
    return Loop(config, model, method, corpus, plan, work, devices)


def introduce(loop: Loop, parameters: int) -> str:
    """Returns the first lines that a training prints."""
    lengths, rows = loop.train.field_lengths, loop.plan.rows
    padding = padding_share(lengths, loop.plan.batches(0))
    is_slow = loop.config.dtype == "mixed_bfloat16" and emulates_bfloat16()
    return (
        f"{loop.model.name}: {parameters:,} parameters without "
        f"embeddings, {sum(loop.corpus.words):,} words\n"
        f"{len(rows):,} training examples, {loop.epoch_steps:,} steps per epoch, "
        f"{lengths[rows].sum() / loop.epoch_steps:,.0f} tokens per step, "
        f"{padding:.1%} of the positions are padding" + (_SLOW if is_slow else "")
    )


def _tensorboard(loop: Loop, pictures: bool) -> TensorBoardLogger:
    batches = evaluation_batches(loop.dev.field_lengths, _PROBE_EXAMPLES)
    batch = next(iter(make_dataset(loop.dev, batches[len(batches) // 2 :])))
    drawn: list = []
    if pictures:
        from disan_tf.training.monitoring import pictures as kinds  # imports matplotlib

        drawn.append(kinds.AttentionPictures(loop.model, loop.corpus))
        if loop.model.criterion == "accuracy":
            drawn.append(kinds.ConfusionPicture(loop))
    return TensorBoardLogger(
        loop.work.tensorboard,
        loop.config,
        [batch[name] for name in loop.model.reads],
        loop.method.evaluation_step,
        _examples_a_step(loop),
        drawn,
    )


def _progress(loop: Loop) -> tf.keras.callbacks.Callback:
    """Returns a callback that shows a bar on a terminal and prints lines elsewhere."""
    steps = loop.config.train.schedule.steps
    if is_terminal():
        return TrainingBar(steps, loop.criterion, loop.best.recorded)
    return ConsoleLog(steps, _examples_a_step(loop), loop.epoch_steps)


def _examples_a_step(loop: Loop) -> float:
    return len(loop.plan.rows) / loop.epoch_steps


def gather_resources(
    embedding, dtype: str, corpus: PreparedCorpus
) -> tuple[Resources, PreparedCorpus]:
    """Reads the resources of a model; computes the biLM's layers, if cached.

    Returns the resources, and the corpus, with the biLM's layers if the embedding caches them.
    Raises UserError if the corpus lacks word features that the embedding reads, or see
    `disan_tf.elmo`.
    """
    kind = EMBEDDINGS[embedding.name]
    prepared = kind.prepared
    if prepared and not getattr(corpus, prepared.name):
        raise UserError(f"{corpus.directory} {prepared.lack}; prepare it with {prepared.flag}.")
    resources = Resources(corpus.words, len(corpus.classes), corpus.vectors)
    if kind.counts_words:  # how often a language model must predict each word and boundary
        split = corpus.split("train")
        counts = np.bincount(split.ids["sentence"], minlength=sum(corpus.words) + 2)
        counts = np.concatenate([[len(split)] * BOUNDARIES, counts[1:]])
        resources = replace(resources, word_counts=counts)
    if kind.reads_bilm:
        options, file = read_options(corpus.bilm[0]), corpus.bilm[1]
        size = file.stat().st_size if file.is_file() else 0
        try:
            with memory_limit(1, (str(file), 4 * size + (1 << 20))):
                bilm = load_bilm(*corpus.bilm, dtype=dtype)
        except MemoryError:
            raise UserError(
                f"{corpus.bilm[0]} describes a larger biLM than {file} holds; name the two files "
                "of one biLM."
            ) from None
        weights = {name: weight.numpy() for name, weight in official_tensors(bilm).items()}
        resources = replace(resources, bilm=options, bilm_weights=weights)
        if embedding.cached:
            corpus = corpus.with_layers(cache_layers(corpus, bilm, embedding.phrases))
    return resources, corpus


def check_prepared(corpus: PreparedCorpus, config) -> None:
    """Checks that a prepared corpus has what the training of a `Config` reads.

    Raises:
      UserError: the corpus lacks the sentences or the labels that the task reads, or a split, or
        has fewer training examples.
    """
    task, examples = TASKS[config.task.name], config.train.batches.examples
    fields = [" and ".join(names) for names in (corpus.fields, task.fields)]
    kinds = [
        "scores" if is_score else "classes"
        for is_score in (corpus.scores, task.label_dtype.is_floating)
    ]
    for present, wanted in (fields, kinds):
        if present != wanted:
            raise UserError(
                f"{corpus.directory} holds {present}, but the task of the config reads {wanted}; "
                "choose a config.task.name that fits config.data.corpus."
            )
    for name in ("dev", *config.evaluate.splits):
        corpus.split(name)
    available = len(corpus.split("train"))
    if examples > available:
        raise UserError(
            f"--config.train.examples={examples} is more than the {available} training examples of "
            "the corpus; 0 takes all."
        )
