"""A check of a config's values, before anything is prepared or trained."""

import inspect

from ml_collections import ConfigDict

from disan_tf.errors import UserError

_ANY_BILM = {"units": 1, "cells": 1, "filters": [(1, 1)]}  # its files are read later
DTYPES = ("float32", "mixed_bfloat16", "mixed_float16")
_COUNTS = (
    "encoder.units", "encoder.heads", "encoder.attentions", "encoder.iterations",
    "encoder.layers", "encoder.first_units", "encoder.dense_units", "encoder.compressed_units",
    "task.hidden_layers", "task.hidden_units", "train.plateau.patience", "embedding.dim",
    "embedding.character_dim", "embedding.character_units", "embedding.character_width",
)  # fmt: skip
_ABOVE_ZERO = ("encoder.negative_slope", "task.negative_slope", "train.plateau.factor")
_FRACTIONS = (
    "train.dropout", "train.moving_average", "train.plateau.factor", "train.plateau.threshold",
    "encoder.dropout", "encoder.word_dropout", "task.dropout",
)  # fmt: skip


def check_config(config: ConfigDict) -> None:
    """Refuses values that no training can have. The reader of a corpus checks `config.data`.

    Raises:
      UserError: naming the value, and what it may be.
    """
    from disan_tf.models.factory import HEADS, TASKS, encoders_of
    from disan_tf.models.nli import PAIR_FEATURES
    from disan_tf.models.relatedness import LOSSES
    from disan_tf.ops.direction_mask import (
        DIRECTIONS,  # configs are read before TensorFlow is loaded
    )
    from disan_tf.training.optimizers import OPTIMIZERS

    choices = {
        "dtype": DTYPES, "task.name": TASKS, "task.loss": LOSSES,
        "task.head": HEADS, "task.pair_features": PAIR_FEATURES, "train.optimizer": OPTIMIZERS,
        "train.plateau.monitor": ("train", "dev"),
    }  # fmt: skip
    for name, known in choices.items():
        if _has(config, name):
            _one_of(config, name, known)
    task = TASKS[config.task.name]
    _one_of(config, "embedding.name", task.embeddings)
    _one_of(config, "encoder.name", encoders_of(task))
    if config.embedding.name == "characters" and not config.data.get("word_features"):
        raise UserError(
            "--config.embedding.name=characters reads characters and matches of words: set "
            "--config.data.word_features=True."
        )
    for part in ("encoder", "task"):
        if "activation" in config[part]:
            _activation(config, f"{part}.activation")
    for name in ("batch_size", "window", "steps", "evaluate_every", "checkpoint_every"):
        _at_least(config, f"train.{name}", 1)
    for name in ("train.log_every", "evaluate.batch_size"):
        _at_least(config, name, 1)
    _check_optimizer(config.train, OPTIMIZERS)
    for name in _COUNTS:
        if _has(config, name):
            _at_least(config, name, 1)
    directions = config.encoder.get("directions", ("forward", "backward"))
    if len(directions) != 2 or not set(directions) <= set(DIRECTIONS):
        raise UserError(
            f"--config.encoder.directions={directions} must be two of {', '.join(DIRECTIONS)}."
        )
    for name in ("batch_tokens", "examples", "patience", "learning_rate", "l2"):
        _at_least(config, f"train.{name}", 0)
    _at_least(config, "seed", 0)
    for name in _FRACTIONS:
        if _has(config, name) and not 0.0 <= _value(config, name) < 1.0:
            raise UserError(f"--config.{name}={_value(config, name)} must lie in [0, 1).")
    for name in _ABOVE_ZERO:
        if _has(config, name) and not _value(config, name) > 0.0:
            raise UserError(f"--config.{name}={_value(config, name)} must be above 0.")
    _check_parts(config)


def _check_optimizer(train, optimizers):
    name = train.get("optimizer", "adadelta")
    known = list(inspect.signature(optimizers[name]).parameters)
    for option, value in train.get("optimizer_options", {}).items():
        if option not in known:
            raise UserError(
                f"--config.train.optimizer_options.{option}={value} is nothing to {name}, which "
                f"takes {', '.join(known)}."
            )


def _check_parts(config):
    """Encoder and head know best which of their own values exist and go together."""
    from disan_tf.models.embeddings import Sources
    from disan_tf.models.factory import make_embedding, make_encoder, make_head

    parts = {
        "embedding": lambda: make_embedding(config, Sources((1, 0), _ANY_BILM)),
        "encoder": lambda: make_encoder(config),
        "task": lambda: make_head(config, classes=2),
    }
    for part, make in parts.items():
        try:
            make()
        except ValueError as error:  # "name=value; remedy"
            raise UserError(f"--config.{part}.{error}") from None


def _has(config, name):
    *parts, last = name.split(".")
    for part in parts:
        config = config.get(part, {})
    return last in config


def _value(config, name):
    for part in name.split("."):
        config = config[part]
    return config


def _one_of(config, name, known):
    if _value(config, name) not in known:
        raise UserError(f"--config.{name}={_value(config, name)} must be {' or '.join(known)}.")


def _at_least(config, name, least):
    if not _value(config, name) >= least:
        raise UserError(f"--config.{name}={_value(config, name)} must be at least {least}.")


def _activation(config, name):
    import tensorflow as tf

    try:
        tf.keras.activations.get(_value(config, name))
    except ValueError:
        raise UserError(
            f"--config.{name}={_value(config, name)} is not an activation of Keras; the papers "
            "use elu and relu."
        ) from None
