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
    embedding_parts,
    encoder_parts,
    head_parts,
)
from disan_tf.runs.bundle import NAME
from disan_tf.training import optimizers, schedule
from disan_tf.training.calibration import check_calibration
from disan_tf.training.check_xla import check_jit_compile, check_xla
from disan_tf.training.class_options import check_class_options
from disan_tf.training.distribution.cluster import check_distribution, distribution_of
from disan_tf.training.methods import method_for
from disan_tf.training.methods.batch_statistics import check_batch_norm_batches
from disan_tf.training.methods.policy_gradient import PolicyGradient

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
    _check_embedding(config)
    _check_batch_norm(config)
    check_xla(config)


def _sections(config, corpus: Optional[CorpusRules]) -> Iterator[tuple]:
    """Yields the arguments of `check_section`; a section may rely on earlier sections."""
    yield "", config, "a config", _check_sections
    if corpus:
        yield corpus.section(config.data)
    task, encoder = _choose(config, corpus)
    method = method_for(getattr(encoder, "samplers", ()))
    has_policy, method = method is PolicyGradient, method.options(config)
    kind = {"task": task, "has_policy": has_policy}
    yield (
        "train",
        config.train,
        "a training",
        schedule.check_batches,
        schedule.check_steps,
        check_regularisation,
        check_batch_norm_batches,
        optimizers.check_options,
        functools.partial(check_class_options, **kind),
        check_jit_compile,
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
    options, make = embedding_parts(config, Sources((1, 0), _ANY_BILM))
    yield "embedding", options, f"the embedding {config.embedding.name}", make
    options, make = head_parts(config, classes=2)
    options.update((name, config.task[name]) for name in task.options if name in config.task)
    model = functools.partial(task, embedding=None, encoder=None, head=None)
    owner = f"the task {config.task.name} with the head {config.task.head}"
    if "calibrate" in config.task:
        options["calibrate"] = config.task.calibrate
    own = [functools.partial(check_calibration, **kind), *([model] if task.options else [])]
    yield "task", options, owner, make, *own
    options, make = encoder_parts(config)
    yield "encoder", options, config.encoder.name, make


def _choose(config, corpus: Optional[CorpusRules]) -> tuple[type, type]:
    """Returns the classes of the task and of the encoder; all parts must fit the task.

    Raises:
      UserError: a name of no task, embedding, head or encoder, or of one that the task cannot have;
        or a corpus with other sentences than the task reads.
    """
    task = chosen(TASKS, "task", config.task)
    fields = corpus and tuple(corpus.fields(config.data))
    if fields and fields != task.fields:
        raise UserError(
            f"--config.task.name={config.task.name} reads {' and '.join(task.fields)}, but the "
            f"corpus {config.data.corpus} has {' and '.join(fields)}; choose a task that fits it."
        )
    chosen(_named(EMBEDDINGS, task.embeddings), "embedding", config.embedding)
    chosen(_named(HEADS, task.heads), "task", config.task, "head")
    name = config.encoder.get("name")
    if not isinstance(name, str) or ":" not in name:  # one of ours
        fitting = [own for own, kind in ENCODERS.items() if issubclass(kind, task.encoder_type)]
        return task, chosen(_named(ENCODERS, fitting), "encoder", config.encoder)
    try:
        encoder = import_encoder(name)
    except ValueError as error:
        raise UserError(flag("encoder", str(error))) from None
    if not issubclass(encoder, task.encoder_type):
        raise UserError(
            f"{flag('encoder', 'name')}={name} must be a {task.encoder_type.__name__}, which the "
            f"task {config.task.name} needs."
        )
    return task, encoder


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


def _check_embedding(config) -> None:
    """Raises UserError for a corpus or a distribution that the embedding or task cannot have."""
    embedding, data = config.embedding, config.data
    kind = EMBEDDINGS[embedding.name]
    for name, prepared in kind.equal.items():
        if data.get(prepared) != embedding[name]:
            raise UserError(
                f"--config.data.{prepared}={data.get(prepared)} must be {embedding[name]}, as "
                f"config.embedding.{name} is."
            )
    if embedding.name == "words" and not embedding.get("trainable", True) and not data.vectors:
        raise UserError(
            "--config.embedding.trainable=False would leave random vectors as they are; name "
            "--config.data.vectors, or train them."
        )
    for name, reason in kind.required.items():
        if not data.get(name):
            raise UserError(
                f"--config.embedding.name={embedding.name} {reason}: set --config.data.{name}=True."
            )
    if embedding.get("phrases") == "cut" and not data.get("contexts"):
        raise UserError(
            "--config.embedding.phrases=cut reads the sentences around phrases: set "
            "--config.data.contexts=True."
        )
    if data.get("score") and data.lowest != config.task.get("lowest", 1):
        raise UserError(
            f"--config.task.lowest={config.task.get('lowest', 1)} must be {data.lowest}, as "
            "config.data.lowest is."
        )
    distribution = distribution_of(config)
    if distribution != "none" and not kind.distributes:
        raise UserError(
            f"--config.train.distribution={distribution} cannot train with the embedding "
            f"{embedding.name} yet; leave it out."
        )


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
