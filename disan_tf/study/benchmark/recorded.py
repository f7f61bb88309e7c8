"""The page of all recorded benchmarks, `tables/benchmarks.md`."""

from collections.abc import Iterator, Mapping

from disan_tf.common.tables import markdown_table
from disan_tf.study.papers import TABLES

_BENCHMARKS = """# Recorded benchmarks

Times by `python run.py --mode=benchmark` ([how](../../disan_tf/study/benchmark/README.md)) are
medians in milliseconds for 300 units and batches of 64, unless a table says otherwise. "15/8" are
the lengths of premise and hypothesis. "Times the products" is a step's time divided by the time of
its matrix products alone, in the same precision. Compare only times on the same machine: the Xeon
multiplies bfloat16 matrices in AMX, the EPYC does not. On the H100, the steps were not compiled by
XLA; for compiled steps there is only [a computed lower bound](../FINDINGS.md#gpu).
[Findings](../FINDINGS.md#speed) draws conclusions.

"""
_DTYPES = {"float32": "float32", "mixed_bfloat16": "bfloat16"}  # form -> its name in tables
_STEPS = {"train": "training step, ms", "inference": "inference, ms"}  # kind -> its name in tables
# Column -> the forms whose values it shows.
_SELECTED = {
    "all": ["1.0"],
    "half of all": ["0.5"],
    "a quarter": ["0.25"],
    "a tenth": ["0.1"],
    "nothing sampled": ["all"],
    "without hard attention": ["without_hard_attention"],
    "iterative sampling": ["iterative"],
}
_DISAN = {"authors' formulation": ["dense"], **{_DTYPES[form]: [form] for form in _DTYPES}}
_DSA = {
    "DiSAN, authors' formulation": ["dense"],
    "DiSAN, float32 and bfloat16": [f"disan {form}" for form in _DTYPES],
    "DSA, float32 and bfloat16": list(_DTYPES),
}
# Column -> the key of a ratio, of which it shows the values of `_DTYPES`; digits after the point.
_CORE_RATIOS = {"times faster": ("dense_ratio", 0)}
_DISAN_RATIOS = {"times faster": ("dense_ratio", 1), "times the products": ("products_ratio", 2)}
_DSA_RATIOS = {
    "times faster than DiSAN": ("disan_ratio", 2),
    "than the authors'": ("dense_ratio", 1),
    "times the products": ("products_ratio", 2),
}


def benchmark_tables(benchmarks: Mapping[str, dict]) -> dict[str, str]:
    """Renders a table of each kind of recorded benchmark, for all machines; {} without any."""
    tables: dict[str, list] = {}
    for record in benchmarks.values():
        title, lines = _benchmark(record)
        machine = record["machine"]
        gpu = machine.get("gpu", "none")
        start = {
            "machine": machine["processor"] if gpu == "none" else gpu,
            "threads": machine["threads"],
            "TensorFlow": machine["tensorflow"],
        }
        tables.setdefault(title, []).extend({**start, **line} for line in lines)
    texts = [f"## {title}\n\n{markdown_table(lines)}" for title, lines in tables.items()]
    return {"benchmarks.md": _BENCHMARKS + "\n".join(texts)} if texts else {}


def _benchmark(record: dict) -> tuple[str, Iterator[dict]]:
    """Returns the title of a record's table and its lines."""
    config = record.get("config", {})
    encoder = config.get("encoder", {}).get("name")
    if "encoders" in record:
        paper = "ReSAN" if encoder == "resan" else "DiSAN"
        title = f"Encoders of {paper}'s Table 1, {record['encoders']['dtype']}"
        return title, _encoders(f"{paper.lower()}_table_1", record["encoders"]["encoders"])
    if "selection" in record:
        return "ReSAN, by the share of tokens selected", _selections(record)
    if encoder == "drcn":
        return "DRCN", _drcn(record)
    if encoder == "dsa":
        title = f"DSA beside DiSAN, batches of {config['train']['batch_size']}"
        return title, _dsa(record)
    return "DiSAN", _disan(record)


def _encoders(table: str, encoders: dict) -> Iterator[dict]:
    rows = TABLES[table].rows
    paper = {row.variant or row.config.partition("_")[0]: float(row.seconds) for row in rows}
    for name, times in encoders.items():
        yield {
            "encoder": name,
            "parameters": f"{times['parameters']:,}",
            "seconds per epoch": f"{times['epoch_seconds']:,.0f}",
            "in epochs of DiSAN": f"{times['disan_ratio']:.2f}",
            "in epochs of DiSAN, paper": f"{paper[name] / paper['disan']:.2f}",
            "inference, pairs per second": f"{times['inference_pairs_per_second']:,.0f}",
        }


def _selections(record: dict) -> Iterator[dict]:
    measured, config = record["selection"], record["config"]
    options = {"batch": config["train"]["batch_size"], "precision": _DTYPES[config["dtype"]]}
    for what in ("core", "layer"):
        for row in measured[what]:
            for form, times in row["forms"].items():
                start = {"quantity": f"{what}, forward and backward, ms", "lengths": row["length"]}
                cells = _cells(_SELECTED, {}, times, "median_ms", 1)
                yield {**options, **start, "form": form, **cells}
    for row in measured["model"]:
        for kind, name in _STEPS.items():
            if kind in row:
                start = {"quantity": name, "lengths": _lengths(row), "form": ""}
                yield {**options, **start, **_cells(_SELECTED, {}, row[kind], "median_ms", 1)}


def _disan(record: dict) -> Iterator[dict]:
    for measured in record.get("core", []):
        if "dense" in (forms := measured["forms"]):
            forms = {"dense": forms["dense"], "float32": forms["native"]}
            name = "attention, forward and backward, ms"
            start = {"quantity": name, "lengths": measured["length"]}
            yield {**start, **_cells(_DISAN, _CORE_RATIOS, forms, "median_ms", 1)}
    yield from _steps(record, _DISAN, _DISAN_RATIOS)


def _dsa(record: dict) -> Iterator[dict]:
    yield from _steps(record, _DSA, _DSA_RATIOS)
    for lengths, forms in _peaks(record).items():
        start = {"quantity": "peak memory of training, GiB", "lengths": lengths}
        yield {**start, **_cells(_DSA, _DSA_RATIOS, forms, "peak_gib", 1)}


def _steps(record: dict, columns: dict, ratios: dict) -> Iterator[dict]:
    """Yields a line for each length and kind of step and one for an epoch."""
    for measured in record["step"]:
        start = {"quantity": _STEPS[measured["kind"]], "lengths": _lengths(measured)}
        yield {**start, **_cells(columns, ratios, measured["forms"], "median_ms")}
    if "epoch" in record:
        start = {"quantity": "epoch, pairs per second", "lengths": "of SNLI"}
        forms = record["epoch"]["forms"]
        yield {**start, **_cells(columns, ratios, forms, "pairs_per_second")}


def _cells(columns: dict, ratios: dict, forms: dict, key: str, digits: int = 0) -> dict[str, str]:
    """Returns the cells of columns, which show `key`, and of ratios, of the measured forms."""
    cells = {name: _joined(forms, shown, key, digits) for name, shown in columns.items()}
    return {**cells, **{name: _joined(forms, _DTYPES, *ratio) for name, ratio in ratios.items()}}


def _joined(forms: dict, names, key: str, digits: int) -> str:
    """Joins the values of forms that have one; a value below 20 has a digit after the point."""
    found = [forms[name][key] for name in names if key in forms.get(name, {})]
    return ", ".join(f"{it:,.{max(digits, int(it < 20))}f}" for it in found)


def _drcn(record: dict) -> Iterator[dict]:
    config = record["config"]
    for form, name in _DTYPES.items():
        epoch = record["epoch"]["forms"][form]
        yield {
            "functions": config["encoder"]["functions"],
            "batch": config["train"]["batch_size"],
            "precision": name,
            "pairs per second": f"{epoch['pairs_per_second']:,.0f}",
            "minutes an epoch of SNLI": f"{epoch['epoch_minutes']:,.0f}",
            **{
                f"peak memory at {lengths}, GiB": f"{forms[form]['peak_gib']:.1f}"
                for lengths, forms in _peaks(record).items()
            },
        }


def _peaks(record: dict) -> dict:
    """Returns lengths -> form -> record of training steps' memory, where it was measured."""
    peaks = {}
    for measured in record.get("memory", {"step": []})["step"]:
        peaks.setdefault(_lengths(measured), {})[measured["form"]] = measured
    return peaks


def _lengths(measured: dict) -> str:
    return "/".join(map(str, measured["lengths"]))
