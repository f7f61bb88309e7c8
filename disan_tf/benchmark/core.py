"""Times of the attention core, forward and backward, in all its forms and over lengths."""

import tensorflow as tf

from disan_tf.benchmark.dense import dense_attention
from disan_tf.benchmark.timing import measure, peak_gib
from disan_tf.ops import available_forms, directional_attention

LENGTHS = (8, 14, 20, 40, 80, 120, 200, 400)
MEMORY_LENGTHS = (14, 40, 80, 200, 400)

# Forms with about eight [batch, length, length, dim] tensors are measured where these fit.
_QUADRATIC = ("dense", "plain")
_LARGEST = 8 * 2**30


def measure_core(config, repetitions: int, lengths=None) -> list[dict]:
    """Measures the attention in one direction at a config's batch size and units.

    Returns:
      For each length {"length", "forms"}; a form has its times, "elements_per_ns" (pairs that
      may attend * features) and, where the dense form was measured, "dense_ratio", its speedup
      over the dense form.
    """
    batch, units = config.train.batch_size, config.encoder.units
    return [_measure_length(length, batch, units, repetitions) for length in lengths or LENGTHS]


def measure_core_memory(config, lengths=None) -> list[dict]:
    """Returns {"length", "form", "peak_gib"} of processes that compute the core alone."""
    batch, units = config.train.batch_size, config.encoder.units
    return [
        {"length": length, "form": form, "peak_gib": peak_gib(_run, form, length, batch, units)}
        for length in lengths or MEMORY_LENGTHS
        for form in forms_at(length, batch, units)
    ]


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
    options = {} if form == "dense" else {"form": form}
    attention = dense_attention if form == "dense" else directional_attention

    @tf.function(autograph=False)
    def core():
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            context = attention(*inputs, mask, direction="forward", **options)
        return [context, *tape.gradient(context, inputs, output_gradients=upstream)]

    return core.get_concrete_function()


def _measure_length(length, batch, units, repetitions):
    forms = forms_at(length, batch, units)
    cores = {form: make_core(form, length, batch, units) for form in forms}
    timings = measure(cores, repetitions)
    elements = batch * units * length * (length - 1) // 2
    records = {}
    for form, timing in timings.items():
        records[form] = {**timing.summary(), "elements_per_ns": elements / timing.median / 1e9}
        if "dense" in timings:
            records[form]["dense_ratio"] = timings["dense"].median / timing.median
    return {"length": length, "forms": records}


def _run(form, length, batch, units):
    core = make_core(form, length, batch, units)
    for _ in range(2):
        core()
