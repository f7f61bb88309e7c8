"""Times of a config's training step and inference, beside the dense form."""

from typing import Callable

import numpy as np
import tensorflow as tf
from ml_collections import ConfigDict

from configs.papers.disan import disan
from disan_tf.benchmark.dense import (
    DenseDisan,
    make_dense_inference,
    make_dense_train_step,
)
from disan_tf.benchmark.timing import measure, peak_gib
from disan_tf.models.base import input_specs
from disan_tf.models.embeddings import Sources
from disan_tf.models.factory import TASKS, build_model, embedding_parts
from disan_tf.training.optimizers import build_optimizer
from disan_tf.training.steps import make_train_step

WORDS = 36_000  # trainable words of SNLI, about
CHARACTERS = 96  # ids of characters
DTYPES = ("float32", "mixed_bfloat16")
KINDS = ("train", "inference")
PAIR_LENGTHS = ((15, 8), (40, 40))
_SENTENCE_LENGTHS = ((20,), (40,))


def is_pair(config) -> bool:
    """Returns whether the config's model classifies the relation between two sentences."""
    return config.task.name == "nli"


def inputs_of(config) -> list[tf.TensorSpec]:
    """Returns the input specs of the config's model."""
    options, make = embedding_parts(config.embedding, Sources((WORDS, 0)))
    return input_specs(TASKS[config.task.name].fields, make(**options))


def measure_steps(config, repetitions: int, lengths=None) -> list[dict]:
    """Measures whole steps at fixed lengths, without padding.

    The dense form keeps the authors' moving average of all weights (16 of its 229 ms at 15/8); ours
    has one only if `train.moving_average` is above 0.

    Returns:
      For each kind and lengths {"kind", "lengths", "forms"}. The forms are ours by dtype, and for
      pairs "dense". All forms have times. Ours also have "dense_ratio", the speedup over the dense
      form. DSA on pairs is compared with DiSAN with equal batches, "disan float32" and "disan
      mixed_bfloat16", and DiSAN's dense form; "disan_ratio" is DSA's speedup over DiSAN in the
      same dtype.
    """
    forms = {name: make_steps(name, config) for name in form_names(config)}
    return [
        _measure(config, kind, tokens, forms, repetitions)
        for tokens in lengths or default_lengths(config)
        for kind in KINDS
    ]


def measure_step_memory(config, lengths=None) -> list[dict]:
    """Returns {"lengths", "form", "peak_gib"} of processes that run two training steps."""
    options = config.to_dict()
    return [
        {"lengths": list(tokens), "form": form, "peak_gib": peak_gib(_run, form, options, tokens)}
        for tokens in lengths or default_lengths(config)
        for form in form_names(config)
    ]


def form_names(config) -> list[str]:
    """Returns the forms to compare: dense, if it has the task; DiSAN, for DSA; ours by dtype."""
    if not is_pair(config) or config.encoder.name == "drcn":
        return list(DTYPES)
    beside = [f"disan {dtype}" for dtype in DTYPES] if config.encoder.name == "dsa" else []
    return ["dense", *beside, *DTYPES]


def default_lengths(config) -> tuple:
    """Returns the sentence lengths of the examples, as in the published timings."""
    return PAIR_LENGTHS if is_pair(config) else _SENTENCE_LENGTHS


def form_config(form: str, config) -> ConfigDict:
    """Returns a form's config: `config`, or for comparison with DSA a DiSAN with equal batches."""
    if config.encoder.name == "dsa" and form not in DTYPES:
        beside = disan("disan_snli", config.data.corpus, config.task.name)
        beside.data.embedding_dim = config.data.embedding_dim
        beside.train.batch_size = config.train.batch_size
        config = beside
    dtype = "float32" if form == "dense" else form.split()[-1]
    return change_config(config, lambda config: config.update(dtype=dtype))


def change_config(config, change: Callable) -> ConfigDict:
    """Returns a copy of a config that a function has changed."""
    config = config.copy_and_resolve_references()
    with config.unlocked():
        change(config)
    return config


def make_steps(form: str, config) -> dict:
    """Compiles {"train": f(*ids, label), "inference": f(*ids)}; `form`: see `form_names`."""
    config = form_config(form, config)
    if form == "dense":
        model = DenseDisan(config, WORDS, _classes(config))
        return {"train": make_dense_train_step(model), "inference": make_dense_inference(model)}
    model = build(config)
    optimizer = build_optimizer(config.train, config.dtype, model.trainable_variables)
    inference = tf.function(
        lambda *inputs: model(*inputs, training=False), input_signature=model.input_specs()
    )
    return {"train": make_train_step(model, optimizer), "inference": inference}


def make_batch(config, lengths: tuple) -> tuple:
    """Draws random inputs for sentences of these lengths, and labels <int32>[batch]."""
    generator = np.random.default_rng(0)
    batch, arrays = config.train.batch_size, []
    for number, spec in enumerate(inputs_of(config)):
        shape = [batch, lengths[number % len(lengths)]]
        if spec.name.endswith("_characters"):
            arrays.append(generator.integers(1, CHARACTERS, [*shape, config.data.word_length]))
        elif spec.name.endswith("_match"):
            arrays.append(generator.integers(0, 2, shape))
        else:
            arrays.append(generator.integers(2, WORDS + 2, shape))
    arrays.append(generator.integers(0, _classes(config), batch))
    return tuple(tf.constant(array, tf.int32) for array in arrays)


def build(config):
    """Builds the config's model, with as many words as SNLI has."""
    return build_model(config, (WORDS, 0), _classes(config))


def _measure(config, kind, lengths, forms, repetitions):
    arguments = make_batch(config, lengths)[: None if kind == "train" else -1]
    functions = {name: lambda step=steps[kind]: step(*arguments) for name, steps in forms.items()}
    timings = measure(functions, repetitions)
    return {
        "kind": kind,
        "lengths": list(lengths),
        "forms": {name: _record(name, timings) for name in timings},
    }


def _record(name, timings):
    record = timings[name].summary()
    if f"disan {name}" in timings:
        record["disan_ratio"] = timings[f"disan {name}"].median / timings[name].median
    if name in DTYPES and "dense" in timings:
        record["dense_ratio"] = timings["dense"].median / timings[name].median
    return record


def _classes(config):
    return 3 if is_pair(config) else config.data.get("classes", 5)


def _run(form, options, lengths):
    config = ConfigDict(options)
    batch = make_batch(config, lengths)
    step = make_steps(form, config)["train"]
    for _ in range(2):
        step(*batch)
