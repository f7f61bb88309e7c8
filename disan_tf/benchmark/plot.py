"""Time and memory of the attention core against the length, as a plot."""

import io

from matplotlib.figure import Figure

_COLOURS = {"dense": "tab:red", "plain": "tab:orange", "lean": "tab:blue", "native": "tab:green"}


def plot_core(core: list[dict], memory: list[dict]) -> bytes:
    """Draws a PNG with a curve for every form.

    Args:
      core: see `disan_tf.benchmark.core.measure_core`.
      memory: see `disan_tf.benchmark.core.measure_core_memory`; may be empty.
    """
    times = [
        (form, measured["length"], times["median_ms"])
        for measured in core
        for form, times in measured["forms"].items()
    ]
    peaks = [(peak["form"], peak["length"], peak["peak_gib"]) for peak in memory]
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    time_axes, memory_axes = figure.subplots(1, 2)
    _draw(time_axes, times, "forward and backward, ms")
    time_axes.set_yscale("log")
    _draw(memory_axes, peaks, "peak memory of the process, GiB")
    memory_axes.set_ylim(bottom=0)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=150)
    return picture.getvalue()


def _draw(axes, points, label):
    """Draws curves of (form, length, value)."""
    for form in dict.fromkeys(form for form, *_ in points):
        curve = [point[1:] for point in points if point[0] == form]
        axes.plot(*zip(*curve), marker="o", label=form, color=_COLOURS.get(form))
    lengths = sorted({length for _, length, _ in points})
    axes.set_xscale("log", base=2)
    axes.set_xticks(lengths, [str(length) for length in lengths])
    axes.minorticks_off()
    axes.set(xlabel="tokens in a sentence", ylabel=label)
    axes.grid(alpha=0.3)
    if points:
        axes.legend()
