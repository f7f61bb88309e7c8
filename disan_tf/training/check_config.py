"""Checks a config before any corpus is prepared or any model is trained."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Callable, Optional

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
_ANY_BILM = {"units": 1, "cells": 1, "filters": [(1, 1)]}  # the biLM's files are read later


@dataclass(frozen=True)
class CorpusRules:
    """The rules of `config.data`, as functions of that section.

    Attributes:
      section: returns the arguments of `check_section`.
      fields: returns the names of the sentences.
      splits: returns the names of the splits.
    """

    section: Callable[[Mapping], tuple]
    fields: Callable[[Mapping], Sequence[str]]
    splits: Callable[[Mapping], Sequence[str]]


def check_config(config, corpus: Optional[CorpusRules] = None) -> None:
    """Checks every section of a config against the components that take its options.

    Args:
      config: a config of `configs/`.
      corpus: the rules of `config.data`; None = `config.data` is not checked.

    Raises:
      UserError: an option that a component does not take, or an impossible value; the message
        names the flag and the possible values.
    """
    for section in _sections(config, corpus):
        check_section(*section)


def _sections(config, corpus: Optional[CorpusRules]) -> Iterator[tuple]:
    """Yields the arguments of `check_section`; a section may rely on earlier sections."""
    yield "", config, "a config", _check_sections
    if corpus:
        yield corpus.section(config.data)
    task = chosen(TASKS, "task", config.task)
    _check_fields(config, task, corpus)
    encoder = _encoder(config, task)
    method = method_for(getattr(encoder, "samplers", ())).options(config)
    yield (
        "train",
        config.train,
        "a training",
        schedule.check_batches,
        schedule.check_steps,
        check_regularisation,
        check_batch_norm_batches,
        optimizers.check_options,
        check_distribution,
        *_checks(method, "train"),
    )
    splits = corpus and corpus.splits(config.data)
    evaluation = functools.partial(schedule.check_evaluation, known_splits=splits)
    yield "evaluate", config.evaluate, "an evaluation", evaluation, *_checks(method, "evaluate")
    policy = _checks(method, "policy")
    _check_policy(config, policy)
    if policy:
        yield "policy", config.policy, "policy gradient", *policy
    yield _embedding(config, task)
    check_data(config)
    _check_distribution(config)
    yield "encoder", encoder_options(config), config.encoder.name, encoder_maker(config)
    yield _task(config, task)
    _check_batch_norm(config)


def _check_fields(config, task, corpus: Optional[CorpusRules]) -> None:
    """Raises UserError if a corpus has other sentences than the task reads."""
    fields = corpus and tuple(corpus.fields(config.data))
    if fields and fields != task.fields:
        raise UserError(
            f"--config.task.name={config.task.name} reads {' and '.join(task.fields)}, but the "
            f"corpus {config.data.corpus} has {' and '.join(fields)}; choose a task that fits it."
        )


def _encoder(config, task) -> type:
    """Returns the encoder's class, ours or another package's; it must fit the task."""
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


def _check_policy(config, components: Sequence) -> None:
    """Raises UserError unless `config.policy` exists exactly for encoders with hard attention."""
    encoder = config.encoder.name
    if config.get("policy") is None and components:
        raise UserError(
            f"--config.policy is missing: {encoder} chooses tokens, which policy gradient trains; "
            "take its values from configs/papers/resan.py."
        )
    if config.get("policy") is not None and not components:
        raise UserError(f"--config.policy is not for {encoder}, which chooses no tokens; omit it.")


def _embedding(config, task) -> tuple:
    """Returns the arguments of `check_section` for the embedding."""
    make = functools.partial(
        chosen(_named(EMBEDDINGS, task.embeddings), "embedding", config.embedding).make,
        sources=Sources((1, 0), _ANY_BILM),
        shared={"l2": config.train.l2, "seed": config.seed, "dtype": config.dtype},
    )
    options = {name: value for name, value in config.embedding.items() if name != "name"}
    return "embedding", options, f"the embedding {config.embedding.name}", make


def _check_distribution(config) -> None:
    """Raises UserError if an embedding cannot be trained on several replicas."""
    name, embedding = distribution_of(config), config.embedding.name
    if name != "none" and not EMBEDDINGS[embedding].distributes:
        raise UserError(
            f"--config.train.distribution={name} cannot train with the embedding {embedding} yet; "
            "leave it out."
        )


def _task(config, task) -> tuple:
    """Returns the arguments of `check_section` for the task: the head's and the model's options."""
    chosen(_named(HEADS, task.heads), "task", config.task, "head")
    own = {name: config.task[name] for name in task.options if name in config.task}
    components = [head_maker(config, classes=2)]
    if task.options:
        components.append(functools.partial(task, embedding=None, encoder=None, head=None))
    owner = f"the task {config.task.name} with the head {config.task.head}"
    return "task", {**head_options(config), **own}, owner, *components


def _check_batch_norm(config) -> None:
    """Raises UserError if `batch_norm_batches` is set for a head without batch normalisation."""
    batches = config.train.get("batch_norm_batches", 0)
    if batches and not issubclass(HEADS[config.task.head], BatchNormHead):
        raise UserError(
            f"{flag('train', 'batch_norm_batches')}={batches} is for batch normalisation, which "
            f"--config.task.head={config.task.head} does not have; leave it at 0."
        )


def _named(components: Mapping, names: Sequence[str]) -> dict:
    return {name: components[name] for name in names}


def _checks(options: Mapping, section: str) -> list:
    """Returns the function, if any, that checks a training method's options in a section."""
    return [options[section]] if section in options else []
