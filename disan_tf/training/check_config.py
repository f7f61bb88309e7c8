"""A check of a config before anything is prepared, read or trained: each component checks its own.

The options of a corpus, `config.data`, are `data_prep.check_options`' own.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Optional

import numpy as np
import tensorflow as tf

from disan_tf.errors import UserError
from disan_tf.input_pipeline import BatchPlan
from disan_tf.layers.base import BaseLayer
from disan_tf.models.embeddings import EMBEDDINGS, Sources
from disan_tf.models.factory import ENCODERS, HEADS, TASKS, encoders_of
from disan_tf.options import check_at_least, check_choice, check_section, chosen
from disan_tf.training import loop, optimizers
from disan_tf.training.methods import method_of

DTYPES = ("float32", "mixed_bfloat16", "mixed_float16")


def check_config(config, splits: Sequence[str] = ("train", "dev", "test")) -> None:
    """Asks the components of a config for its sections.

    Args:
      config: a config of `configs/`.
      splits: of its corpus.

    Raises:
      UserError: an option that there is not, or a value that cannot be; the sentence names the flag
        and what it may be.
    """
    check_section("", config, "a config", _check_sections)
    task = chosen(TASKS, "task", config.task)
    encoders = {name: ENCODERS[name] for name in encoders_of(task)}
    encoder = chosen(encoders, "encoder", config.encoder)
    method = method_of(encoder)
    of_method = method.options(config)
    _check_training(config.train, of_method.get("train"))
    _check_model(config, task, encoder)
    evaluation = functools.partial(loop.check_evaluation, known_splits=splits)
    check_section(
        "evaluate", config.evaluate, "evaluation", evaluation, *_given(of_method, "evaluate")
    )
    ...
