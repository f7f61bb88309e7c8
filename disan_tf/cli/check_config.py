"""Checks a config before any corpus is prepared or any model is trained."""

from collections.abc import Iterator, Mapping
from typing import Optional

import tensorflow as tf

from data_prep.check_options import data_section
from data_prep.corpora import fields_of, splits_of
from disan_tf.common.options import DTYPES, check_at_least, check_choice, check_section
from disan_tf.encoders.custom import import_custom
from disan_tf.layers.base import BaseLayer
from disan_tf.models.factory import TASKS, model_sections
from disan_tf.runs.bundle import NAME
from disan_tf.training.compilation import check_xla
from disan_tf.training.distribution.cluster import check_replicas
from disan_tf.training.methods import training_sections
from disan_tf.training.methods.batch_statistics import check_head


def check_config(config) -> None:
    """Checks every section of a config against the components that take its options."""
    try:
        with tf.Graph().as_default():  # an eager variable would take all memory from other workers
            for section in _sections(config):
                check_section(*section)
    finally:
        BaseLayer()  # in a graph, Keras turns our layers into TensorFlow 1's; undo it
    check_head(config.train.get("batch_norm_batches", 0), config.task.head)
    check_replicas(config.train.get("distribution", "none"), config.embedding.name)
    check_xla(config.train, config.encoder, config.task.name, config.dtype)


def _sections(config) -> Iterator[tuple]:
    """Yields the arguments of `check_section`; a section may rely on earlier sections."""
    yield "", config, "a config", _check_sections
    import_custom(config.encoder)
    yield data_section(config.data)
    model = config.task, config.embedding, config.encoder, config.data
    encoder = yield from model_sections(*model, fields_of(config.data))
    training = config.train, config.evaluate, config.get("policy")
    kinds = config.encoder.name, encoder, TASKS[config.task.name]
    yield from training_sections(*kinds, *training, splits_of(config.data))


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
        raise ValueError(f"name={name} may contain only ASCII letters, digits, - and _.")
    check_at_least("seed", seed, 0)
    check_choice("dtype", dtype, DTYPES)
