"""Recorded benchmarks as Markdown, for `disan_tf/benchmark/README.md`."""

from pathlib import Path

from disan_tf.common.files import read_json
from disan_tf.reporting.markdown import markdown_table
from disan_tf.reporting.paper_tables.all_tables import TABLES

_DTYPES = {"float32": "float32", "mixed_bfloat16": "bfloat16"}  # form -> its name in tables
_STEPS = {"train": "training step", "inference": "inference"}  # kind -> its name in tables
_SPEED_HEAD = (
    "ms",
    "lengths",
    "authors' formulation",
    "float32",
    "bfloat16",
    "times faster",
    "times the products",
)
_ENCODERS_HEAD = (
    "encoder",
    "parameters",
    "seconds an epoch",
    "in epochs of DiSAN",
    "in epochs of DiSAN, paper",
    "inference, pairs a second",
)
_DSA_HEAD = (
    "DSA beside DiSAN",
    "lengths",
    "DiSAN, authors' formulation",
    "DiSAN, float32 and bfloat16",
    "DSA, float32 and bfloat16",
    "times faster than DiSAN",
    "than the authors'",
    "times the products",
)
_SELECTION_HEAD = (
    "ms",
    "lengths",
    "form",
    "all",
    "half of all",
    "a quarter",
    "a tenth",
    "nothing sampled",
    "without hard attention",
    "iterative sampling",
)
_SELECTION_KEYS = ("1.0", "0.5", "0.25", "0.1", "all", "without_hard_attention", "iterative")


def benchmark_tables(folder: Path) -> str:
    """Renders a title and a table for each benchmark in a folder, sorted by name."""
    return "\n".join(
        _benchmark(read_json(path, "restore it from the repository"))
        for path in sorted(folder.glob("*.json"))
    )


def _benchmark(record):
    machine = record["machine"]
    title = (
        f"{machine['processor']}, {machine['threads']} threads, TensorFlow {machine['tensorflow']}"
    )
    config = record.get("config", {})
    encoder = config.get("encoder", {}).get("name")
    if "encoders" in record:
        title = f"{title}, {record['encoders']['dtype']}"
        table = markdown_table(_ENCODERS_HEAD, _encoder_rows(record["encoders"]["encoders"]))
    elif "selection" in record:
        steps = f"steps of batches of {config['train']['batch_size']}"
        title = f"{title}, {config['dtype']}, {steps}; by the share of tokens selected"
        table = markdown_table(_SELECTION_HEAD, _selection_rows(record["selection"]))
    elif encoder == "dsa":
        title = f"{title}, batches of {config['train']['batch_size']}"
        table = markdown_table(_DSA_HEAD, _dsa_rows(record))
    elif encoder == "drcn":
        table = _drcn_table(record)
    else:
        table = markdown_table(_SPEED_HEAD, _speed_rows(record))
    return f"{title}:\n\n{table}"


def _encoder_rows(encoders):
    rows_of_paper = TABLES["disan_table_1"].rows
    paper = {row.variant or "disan": float(row.seconds) for row in rows_of_paper}
    for name, times in encoders.items():
        yield [
            name,
            f"{times['parameters']:,}",
            f"{times['epoch_seconds']:,.0f}",
            f"{times['disan_ratio']:.2f}",
            f"{paper[name] / paper['disan']:.2f}",
            f"{times['inference_pairs_per_second']:,.0f}",
        ]


def _selection_rows(record):
    for what in ("core", "layer"):
        for measured in record[what]:
            for form, times in measured["forms"].items():
                name = f"{what}, forward and backward"
                yield [name, measured["length"], form, *_selection_times(times)]
    for measured in record["model"]:
        for kind, name in _STEPS.items():
            if kind in measured:
                yield [name, _lengths(measured), "", *_selection_times(measured[kind])]


def _selection_times(times):
    return [f"{times[key]['median_ms']:,.1f}" if key in times else "" for key in _SELECTION_KEYS]


def _speed_rows(record):
    for measured in record["core"]:
        if "dense" in measured["forms"]:
            yield _core_row(measured)
    yield from map(_step_row, record["step"])
    dense, *ours = (record["epoch"]["forms"][name] for name in ("dense", *_DTYPES))
    speeds = [f"{form['pairs_per_second']:,.0f}" for form in (dense, *ours)]
    yield ["epoch, pairs a second", "of SNLI", *speeds, _joined(ours, "dense_ratio", 1), ""]


def _core_row(measured):
    dense, native = measured["forms"]["dense"], measured["forms"]["native"]
    times = [f"{form['median_ms']:,.1f}" for form in (dense, native)]
    faster = f"{native['dense_ratio']:.0f}"
    return ["attention, forward and backward", measured["length"], *times, "", faster, ""]


def _step_row(measured):
    dense, *ours = (measured["forms"][name] for name in ("dense", *_DTYPES))
    return [
        _STEPS[measured["kind"]],
        _lengths(measured),
        *(f"{form['median_ms']:,.0f}" for form in (dense, *ours)),
        _joined(ours, "dense_ratio", 1),
        _joined(ours, "products_ratio", 2),
    ]


def _dsa_rows(record):
    for measured in record["step"]:
        name = f"{_STEPS[measured['kind']]}, ms"
        yield [name, _lengths(measured), *_dsa_cells(measured["forms"], "median_ms")]
    if "epoch" in record:
        epoch = _dsa_cells(record["epoch"]["forms"], "pairs_per_second")
        yield ["epoch, pairs a second", "of SNLI", *epoch]
    for lengths, forms in _peaks(record).items():
        yield ["peak memory of training, GiB", lengths, *_dsa_cells(forms, "peak_gib", 1)]


def _dsa_cells(forms, key, digits=0):
    ours = [forms[dtype] for dtype in _DTYPES]
    disan = [forms[f"disan {dtype}"] for dtype in _DTYPES]
    return [
        *(_joined(group, key, digits) for group in ([forms["dense"]], disan, ours)),
        _joined(ours, "disan_ratio", 2),
        _joined(ours, "dense_ratio", 1),
        _joined(ours, "products_ratio", 2),
    ]


def _drcn_table(record):
    config, peaks = record["config"], _peaks(record)
    title = f"DRCN {config['encoder']['functions']}, batches of {config['train']['batch_size']}"
    head = [title, "pairs a second", "minutes an epoch of SNLI"]
    head += [f"peak memory at {lengths}, GiB" for lengths in peaks]
    rows = []
    for form, name in _DTYPES.items():
        epoch = record["epoch"]["forms"][form]
        cells = [name, f"{epoch['pairs_per_second']:,.0f}", f"{epoch['epoch_minutes']:,.0f}"]
        rows.append([*cells, *(f"{forms[form]['peak_gib']:.1f}" for forms in peaks.values())])
    return markdown_table(head, rows)


def _peaks(record):
    """Returns lengths -> form -> record of training steps' memory, where it was measured."""
    peaks = {}
    for measured in record.get("memory", {"step": []})["step"]:
        peaks.setdefault(_lengths(measured), {})[measured["form"]] = measured
    return peaks


def _joined(forms, key, digits):
    """Joins the values of the forms that have the key."""
    return ", ".join(f"{form[key]:,.{digits}f}" for form in forms if key in form)


def _lengths(measured):
    return "/".join(map(str, measured["lengths"]))
