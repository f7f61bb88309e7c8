"""Times and memory of the attention core, the training step and inference, in all forms."""

from collections.abc import Mapping
from functools import partial
from itertools import product

import numpy as np
import tensorflow as tf
from ml_collections import ConfigDict

from disan_tf.models.base import input_specs
from disan_tf.models.embeddings import Sources
from disan_tf.models.factory import TASKS, build_model, embedding_parts
from disan_tf.ops import available_forms, directional_attention
from disan_tf.study.benchmark.dense import (
    DenseDisan,
    dense_attention,
    make_dense_inference,
    make_dense_train_step,
)
from disan_tf.study.benchmark.timing import add_ratios, measure, peak_gib
from disan_tf.training.config import from_dict
from disan_tf.training.methods.policy_gradient import PolicyGradient
from disan_tf.training.steps import make_train_step

CORE_LENGTHS = (8, 14, 20, 40, 80, 120, 200, 400)
_MEMORY_LENGTHS = (14, 40, 80, 200, 400)
# Forms with about eight [batch, length, length, dim] tensors are measured where these fit.
_QUADRATIC = ("dense", "plain")
_LARGEST = 8 * 2**30
WORDS = 36_000  # trainable words of SNLI, about
CHARACTERS = 96  # ids of characters
DTYPES = ("float32", "mixed_bfloat16")
KINDS = ("train", "inference")
PAIR_LENGTHS = ((15, 8), (40, 40))  # as in the published timings
SENTENCE_LENGTHS = ((20,), (40,))


def is_pair(config) -> bool:
    """Returns whether the config's model classifies the relation between two sentences."""
    return config.task.name == "nli"


def inputs_of(config) -> list[tf.TensorSpec]:
    """Returns the input specs of the config's model."""
    options, make = embedding_parts(config.embedding, Sources((WORDS, 0)))
    return input_specs(TASKS[config.task.name].fields, make(**options))


def measure_steps(config, repetitions: int, forms: Mapping, lengths=None) -> list[dict]:
    """Measures whole steps at fixed lengths, without padding, by kind, lengths and form.

    The dense form keeps the authors' moving average of all weights (16 of its 229 ms at 15/8); ours
    has one only if `train.moving_average` is above 0. Forms and ratios: see `form_configs`,
    `add_ratios`.
    """
    records = []
    steps = {name: make_steps(name, form) for name, form in forms.items()}
    for tokens, kind in product(lengths or _default_lengths(config), KINDS):
        batch = make_batch(config, tokens)[: None if kind == "train" else -1]
        functions = {name: partial(each[kind], *batch) for name, each in steps.items()}
        timings = measure(functions, repetitions)
        times = {name: timing.summary() for name, timing in timings.items()}
        ours = {name: times[name] for name in DTYPES}
        add_ratios(ours, {name: timing.median for name, timing in timings.items()})
        records.append({"kind": kind, "lengths": list(tokens), "forms": times})
    return records


def measure_memory(config, _, forms: Mapping, lengths=None) -> dict:
    """Returns the peak memory of processes that compute the core alone, or two training steps.

    "core" has {"length", "form", "peak_gib"}, "step" {"lengths", "form", "peak_gib"}.
    """
    core = []
    for length in _MEMORY_LENGTHS if config.encoder.name == "disan" else ():
        sizes = config.train.batch_size, config.encoder.units
        for form in forms_at(length, *sizes):
            peak = peak_gib(_run_core, form, length, *sizes)
            core.append({"length": length, "form": form, "peak_gib": peak})
    step = []
    for tokens in lengths or _default_lengths(config):
        for name, form in forms.items():
            peak = peak_gib(_run, name, form.to_dict(), tokens)
            step.append({"lengths": list(tokens), "form": name, "peak_gib": peak})
    return {"core": core, "step": step}


def form_configs(config, disan) -> dict[str, ConfigDict]:
    """Returns the config of each form: ours by dtype and, for pairs, the authors' "dense".

    `disan` is the config of DiSAN's dense form. DSA is also compared with DiSAN by dtype.
    """
    ours = {dtype: _with_dtype(config, dtype) for dtype in DTYPES}
    if not is_pair(config) or config.encoder.name == "drcn":
        return ours
    beside = DTYPES if config.encoder.name == "dsa" else ()
    theirs = {f"disan {dtype}": _with_dtype(disan, dtype) for dtype in beside}
    return {"dense": _with_dtype(disan, "float32"), **theirs, **ours}


def _with_dtype(config, dtype: str) -> ConfigDict:
    config = config.copy_and_resolve_references()
    config.dtype = dtype
    return config


def _default_lengths(config) -> tuple:
    return PAIR_LENGTHS if is_pair(config) else SENTENCE_LENGTHS


def make_steps(form: str, config) -> dict:
    """Compiles {"train": f(*ids, label), "inference": f(*ids)} of a form of `form_configs`."""
    model = build(config)
    if form == "dense":
        dense = DenseDisan(model, config)
        return {"train": make_dense_train_step(dense), "inference": make_dense_inference(dense)}
    inference = tf.function(
        lambda *inputs: model(*inputs, training=False), input_signature=model.input_specs()
    )
    options = from_dict(config)
    if "policy" in config:  # the step that trains samplers and model at once
        return {"train": PolicyGradient(model, options).steps["both"], "inference": inference}
    train, variables = options.train, model.trainable_variables
    optimizer = train.optimizer.build(train.averaging, config.dtype, variables)
    return {"train": make_train_step(model, optimizer), "inference": inference}


def make_batch(config, lengths: tuple) -> tuple:
    """Draws random inputs for sentences of these lengths, and labels <int32>[batch]."""
    generator = np.random.default_rng(0)
    batch, arrays = config.train.batch_size, []
    for number, spec in enumerate(inputs_of(config)):
        shape, low, high = [batch, lengths[number % len(lengths)]], 2, WORDS + 2
        if spec.name.endswith("_characters"):
            shape, low, high = [*shape, config.data.word_length], 1, CHARACTERS
        elif spec.name.endswith("_match"):
            low, high = 0, 2
        arrays.append(generator.integers(low, high, shape))
    arrays.append(generator.integers(0, _classes(config), batch))
    return tuple(tf.constant(array, tf.int32) for array in arrays)


def build(config):
    """Builds the config's model, with as many words as SNLI has."""
    return build_model(config, (WORDS, 0), _classes(config))


def _classes(config):
    return 3 if is_pair(config) else config.data.get("classes", 5)


def _run(form, options, lengths):
    config = ConfigDict(options)
    batch = make_batch(config, lengths)
    step = make_steps(form, config)["train"]
    for _ in range(2):
        step(*batch)


def measure_core(config, repetitions: int, _=None, lengths=None) -> list[dict]:
    """Measures the attention in one direction at a config's sizes, by length and form.

    "elements_per_ns" counts pairs that may attend * features.
    """
    batch, units = config.train.batch_size, config.encoder.units
    records = []
    for length in lengths or CORE_LENGTHS:
        forms = forms_at(length, batch, units)
        timings = measure({it: make_core(it, length, batch, units) for it in forms}, repetitions)
        elements, times = batch * units * length * (length - 1) // 2, {}
        for form, timing in timings.items():
            times[form] = {**timing.summary(), "elements_per_ns": elements / timing.median / 1e9}
            if "dense" in timings:
                times[form]["dense_ratio"] = timings["dense"].median / timing.median
        records.append({"length": length, "forms": times})
    return records


def forms_at(length: int, batch: int, units: int) -> list[str]:
    """Returns the forms that this machine has and that fit into memory."""
    fits = 8 * 4 * batch * length**2 * units <= _LARGEST
    return [form for form in ["dense", *available_forms()] if fits or form not in _QUADRATIC]


def make_core(form: str, length: int, batch: int, units: int):
    """Compiles a function without arguments that returns the context and all three gradients."""
    *inputs, upstream = (
        tf.random.stateless_normal([batch, length, units], [0, seed]) for seed in range(4)
    )
    mask = tf.ones([batch, length], tf.bool)
    named = partial(directional_attention, form=form)
    attention = dense_attention if form == "dense" else named

    @tf.function(autograph=False)
    def core():
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            context = attention(*inputs, mask, direction="forward")
        return [context, *tape.gradient(context, inputs, output_gradients=upstream)]

    return core.get_concrete_function()


def _run_core(form, length, batch, units):
    core = make_core(form, length, batch, units)
    for _ in range(2):
        core()
