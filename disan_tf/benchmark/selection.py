"""Times of hard attention by the share of selected tokens."""

import contextlib
from functools import partial

import numpy as np
import tensorflow as tf

from configs.papers.resan import RESAN_VARIANTS
from disan_tf.benchmark.core import make_core
from disan_tf.benchmark.step import PAIR_LENGTHS, build, change_config, make_batch, make_steps
from disan_tf.benchmark.timing import measure
from disan_tf.layers.hard_attention.reinforced import ReinforcedSelfAttention
from disan_tf.ops import available_forms, portable
from disan_tf.training.methods import make_method
from disan_tf.training.steps import make_evaluation_step

RATES = (1.0, 0.75, 0.5, 0.25, 0.1)
LENGTHS = (14, 40, 80)


def measure_selection(config, repetitions: int, lengths=LENGTHS, pair_lengths=PAIR_LENGTHS) -> dict:
    """Measures attention core, layer and model by the share of selected heads and dependents.

    Returns:
      "core" and "layer": for each length {"length", "forms"}, forward and backward times by form
      and rate, with "ratio", the share of the time at rate 1; the layer's forms are "native" and
      "portable". "model": for each pair of lengths {"lengths", "train", "inference"}, times by
      rate and for "all" (nothing sampled), "without_hard_attention" and "iterative" (half of the
      tokens), with "ratio" to "all".
    """
    sizes = config.train.batch_size, config.encoder.units
    return {
        "core": [_core(length, *sizes, repetitions) for length in lengths],
        "layer": [_layer(config, length, *sizes, repetitions) for length in lengths],
        "model": [_model(config, pair, repetitions) for pair in pair_lengths],
    }


def _core(length, batch, units, repetitions):
    forms = {
        (form, rate): make_core(form, length, batch, units, rate)
        for form in available_forms()
        for rate in RATES
    }
    return {"length": length, **_by_form(measure(forms, repetitions))}


def _layer(config, length, batch, units, repetitions):
    runs = {}
    for form in ("native", "portable"):
        if form == "native" and "native" not in available_forms():
            continue
        with portable() if form == "portable" else contextlib.nullcontext():
            for rate in RATES:
                runs[form, rate] = _make_layer(config, length, batch, units, rate)
    return {"length": length, **_by_form(measure(runs, repetitions))}


def _make_layer(config, length, batch, units, rate):
    """Compiles a function without arguments: the layer's output and its input's gradient."""
    layer = ReinforcedSelfAttention(units, config.encoder.activation)
    x = tf.random.stateless_normal([batch, length, units], [0, 1])
    mask = tf.ones([batch, length], tf.bool)
    layer.build(x.shape)

    @tf.function(autograph=False)
    def run():
        choose_at_rate(layer.samplers.values(), rate)
        selections = layer.select(x, mask, "sample")
        with tf.GradientTape() as tape:
            tape.watch(x)
            output, _ = layer(x, mask, selections=selections)
        return output, tape.gradient(output, x)

    return run.get_concrete_function()


def choose_at_rate(samplers, rate: float) -> None:
    """Makes samplers select this share of all tokens, whatever the tokens are."""
    for sampler in samplers:
        kernel, bias = (sampler.score.dense.kernel, sampler.score.dense.bias)
        kernel.assign(tf.zeros_like(kernel))
        odds = rate / max(1.0 - rate, 1e-9)
        bias.assign(tf.fill(bias.shape, float(np.log(odds))))


def _model(config, lengths, repetitions):
    batch = make_batch(config, lengths)
    train, inference = model_steps(config, batch)
    iterative = _hard_steps(change_config(config, RESAN_VARIANTS["iterative"]))
    train["iterative"] = lambda: iterative["both"](*batch)
    inference["iterative"] = lambda: iterative["sample"](*batch)
    name = "without_hard_attention"
    steps = make_steps(config.dtype, change_config(config, RESAN_VARIANTS[name]))
    train[name] = lambda: steps["train"](*batch)
    inference[name] = lambda: steps["inference"](*batch[:-1])
    kinds = {"train": train, "inference": inference}
    return {
        "lengths": list(lengths),
        **{kind: _ratios(measure(runs, repetitions), "all") for kind, runs in kinds.items()},
    }


def model_steps(config, batch):
    """Returns training steps and inferences by rate, and "all"."""
    steps = _hard_steps(config)
    samplers = steps["samplers"]

    def run(kind, rate):
        choose_at_rate(samplers, rate)
        return steps[kind](*batch)

    train = {str(rate): partial(run, "both", rate) for rate in RATES}
    inference = {str(rate): partial(run, "sample", rate) for rate in RATES}
    train["all"] = lambda: steps["pretrain"](*batch)
    inference["all"] = lambda: steps["everything"](*batch)
    return train, inference


def _hard_steps(config):
    """Returns the compiled steps of a model with hard attention, and its samplers."""
    model = build(config)
    return {
        **make_method(config, model).steps,
        "sample": make_evaluation_step(model, "sample"),
        "everything": make_evaluation_step(model, "all"),
        "samplers": model.encoder.samplers,
    }


def _by_form(timings):
    """Converts timings by (form, rate) to {"forms": {form: {rate: times}}}."""
    forms = {}
    for form, rate in timings:
        forms.setdefault(form, {})[str(rate)] = timings[form, rate]
    return {"forms": {form: _ratios(rates, "1.0") for form, rates in forms.items()}}


def _ratios(timings, whole):
    """Returns times with their "ratio" to the times of `whole`."""
    return {
        name: {**timing.summary(), "ratio": timing.median / timings[whole].median}
        for name, timing in timings.items()
    }
