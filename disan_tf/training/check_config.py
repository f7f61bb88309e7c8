"""A check of a config before anything is prepared or trained: every component is asked for its own.

The options of the corpus, `config.data`, are checked by `data_prep.check_options`.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Optional

from disan_tf.common.errors import UserError
from disan_tf.common.options import check_at_least, check_choice, check_section, chosen, flag
from disan_tf.encoders.own import import_encoder
from disan_tf.layers.heads.batch_norm import BatchNormHead
from disan_tf.models.embeddings import EMBEDDINGS, Sources
from disan_tf.models.factory import (
    ENCODERS,
    HEADS,
    TASKS,
    check_regularisation,
    encoder_maker,
    encoder_options,
    encoders_of,
    head_maker,
    head_options,
)
from disan_tf.runs.bundle import NAME
from disan_tf.training import optimizers, schedule
from disan_tf.training.distribution.cluster import check_distribution, distribution_of
from disan_tf.training.methods import method_for
from disan_tf.training.methods.batch_statistics import check_batch_norm_batches
from disan_tf.training.resources import check_data

DTYPES = ("float32", "mixed_bfloat16", "mixed_float16")
_ANY_BILM = {"units": 1, "cells": 1, "filters": [(1, 1)]}  # its files are read later


def check_config(
    config, fields: Optional[Sequence[str]] = None, splits: Optional[Sequence[str]] = None
) -> None:
    """Asks the components of a model and of its training whether they can be made of a config.

    Args:
      config: a config of `configs/`.
      fields: the names of the sentences of its corpus; None = they are not known.
      splits: the names of its splits; None = they are not known.

    Raises:
      UserError: an option that a component does not take, or a value that it cannot have; the
        sentence names the flag and what it may be.
    """
    check_sections(config)
    task = chosen(TASKS, "task", config.task)
    if fields is not None and tuple(fields) != task.fields:
        raise UserError(
            f"--config.task.name={config.task.name} reads {' and '.join(task.fields)}, but the "
            f"corpus {config.data.corpus} has {' and '.join(fields)}; choose a task that fits it."
        )
    encoder = _encoder(config, task)
    method = method_for(getattr(encoder, "samplers", ())).options(config)
    check_section(
        "train",
        config.train,
        "a training",
        schedule.check_batches,
        schedule.check_steps,
        check_regularisation,
        check_batch_norm_batches,
        optimizers.check_options,
        check_distribution,
        *_of(method, "train"),
    )
    evaluation = functools.partial(schedule.check_evaluation, known_splits=splits)
    check_section(
        "evaluate", config.evaluate, "an evaluation", evaluation, *_of(method, "evaluate")
    )
    _check_policy(config, *_of(method, "policy"))
    _check_embedding(config, task)
    _check_distribution(config)
    check_section("encoder", encoder_options(config), config.encoder.name, encoder_maker(config))
    _check_task(config, task)


def _encoder(config, task) -> type:
    """The class of the encoder, one of ours or of another package, which must fit the task."""
    name = config.encoder.get("name")
    if not isinstance(name, str) or ":" not in name:
        return chosen(_named(ENCODERS, encoders_of(task)), "encoder", config.encoder)
    try:
        encoder = import_encoder(name)
    except ValueError as error:
        raise UserError(flag("encoder", str(error))) from None
    if not issubclass(encoder, task.encoder_type):
        raise UserError(
            f"{flag('encoder', 'name')}={name} must be a {task.encoder_type.__name__}, which the "
            f"task {config.task.name} needs."
        )
    return encoder


def check_sections(config) -> None:
    """Raises UserError for a section that there is not, or that is missing, and likewise."""
    check_section("", config, "a config", _check_sections)


def _check_sections(
    name: str,
    seed: int,
    dtype: str,
    data: Mapping,
    embedding: Mapping,
    encoder: Mapping,
    task: Mapping,
    train: Mapping,
    evaluate: Mapping,
    policy: Optional[Mapping] = None,
) -> None:
    if not NAME.fullmatch(name):
        raise ValueError(f"name={name} must have letters of ASCII, digits, - and _ alone.")
    check_at_least("seed", seed, 0)
    check_choice("dtype", dtype, DTYPES)


def _check_policy(config, *components) -> None:
    """Hard attention needs `config.policy`, and nothing else takes it."""
    encoder = config.encoder.name
    if config.get("policy") is None and components:
        raise UserError(
            f"--config.policy is missing: {encoder} chooses tokens, which policy gradient trains; "
            "take its values from configs/papers/resan.py."
        )
    if components:
        check_section("policy", config.policy, "policy gradient", *components)
    elif config.get("policy") is not None:
        raise UserError(f"--config.policy is not for {encoder}, which chooses no tokens; omit it.")


def _check_embedding(config, task) -> None:
    known = _named(EMBEDDINGS, task.embeddings)
    make = functools.partial(
        chosen(known, "embedding", config.embedding),
        sources=Sources((1, 0), _ANY_BILM),
        shared={"l2": config.train.l2, "seed": config.seed, "dtype": config.dtype},
    )
    options = {name: value for name, value in config.embedding.items() if name != "name"}
    check_section("embedding", options, f"the embedding {config.embedding.name}", make)
    check_data(config)


def _check_distribution(config) -> None:
    """Raises UserError where the replicas of a training could not make the steps of one process."""
    name, embedding = distribution_of(config), config.embedding.name
    if name != "none" and embedding in ("elmo", "bytes"):
        raise UserError(
            f"--config.train.distribution={name} cannot train with the embedding {embedding} yet; "
            "leave it out."
        )


def _check_task(config, task) -> None:
    """The options of a task are those of its head, and perhaps some of the model's own."""
    chosen(_named(HEADS, task.heads), "task", config.task, "head")
    own = {name: config.task[name] for name in task.options if name in config.task}
    components = [head_maker(config, classes=2)]
    if task.options:
        components.append(functools.partial(task, embedding=None, encoder=None, head=None))
    owner = f"the task {config.task.name} with the head {config.task.head}"
    check_section("task", {**head_options(config), **own}, owner, *components)
    batches = config.train.get("batch_norm_batches", 0)
    if batches and not issubclass(HEADS[config.task.head], BatchNormHead):
        raise UserError(
            f"{flag('train', 'batch_norm_batches')}={batches} is for batch normalisation, which "
            f"--config.task.head={config.task.head} does not have; leave it at 0."
        )


def _named(components: Mapping, names: Sequence[str]) -> dict:
    return {name: components[name] for name in names}


def _of(options: Mapping, section: str) -> list:
    """The function, if any, that checks what a method of training takes of a section."""
    return [options[section]] if section in options else []
