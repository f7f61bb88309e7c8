"""The page of recorded benchmarks, `tables/benchmarks.md`."""

from collections.abc import Iterator, Mapping

from disan_tf.common.tables import markdown_table
from disan_tf.reporting.papers import TABLES

_DTYPES = {"float32": "float32", "mixed_bfloat16": "bfloat16"}  # form -> its name in tables
_STEPS = {"train": "training step", "inference": "inference"}  # kind -> its name in tables
_SELECTED = {  # column -> key of its times
    "all": "1.0",
    "half of all": "0.5",
    "a quarter": "0.25",
    "a tenth": "0.1",
    "nothing sampled": "all",
    "without hard attention": "without_hard_attention",
    "iterative sampling": "iterative",
}
# Column -> forms, key of their values, digits after the point; "" = the key and digits of the line.
_DISAN = {
    "authors' formulation": (("dense",), "", 0),
    **{name: ((form,), "", 0) for form, name in _DTYPES.items()},
    "times faster": (_DTYPES, "dense_ratio", 1),
    "times the products": (_DTYPES, "products_ratio", 2),
}
_DSA = {
    "DiSAN, authors' formulation": (("dense",), "", 0),
    "DiSAN, float32 and bfloat16": ([f"disan {form}" for form in _DTYPES], "", 0),
    "DSA, float32 and bfloat16": (_DTYPES, "", 0),
    "times faster than DiSAN": (_DTYPES, "disan_ratio", 2),
    "than the authors'": (_DTYPES, "dense_ratio", 1),
    "times the products": (_DTYPES, "products_ratio", 2),
}
_INTRODUCTION = """# Recorded benchmarks

Times by `python run.py --mode=benchmark` ([how](../../disan_tf/benchmark/README.md)) are medians in
milliseconds for 300 units and batches of 64, unless a table says otherwise. "15/8" are the lengths
of premise and hypothesis. "Times the products" is a step's time divided by the time of its matrix
products alone, in the same precision. Compare only times of one processor: the Xeon multiplies
bfloat16 matrices in AMX, the EPYC does not. [Findings](../FINDINGS.md#speed) says what follows.

"""


def benchmark_tables(benchmarks: Mapping[str, dict]) -> dict[str, str]:
    """Renders a title and a table for each recorded benchmark; {} where there are none."""
    tables = [_benchmark(record) for record in benchmarks.values()]
    return {"benchmarks.md": _INTRODUCTION + "\n".join(tables)} if tables else {}


def _benchmark(record: dict) -> str:
    machine, config = record["machine"], record.get("config", {})
    gpu = f"{machine['gpu']}, " if machine.get("gpu", "none") != "none" else ""
    title = f"{gpu}{machine['processor']}, {machine['threads']} threads"
    title = f"{title}, TensorFlow {machine['tensorflow']}"
    encoder = config.get("encoder", {}).get("name")
    if "encoders" in record:
        title = f"{title}, {record['encoders']['dtype']}"
        lines = _encoders(record["encoders"]["encoders"])
    elif "selection" in record:
        steps = f"steps of batches of {config['train']['batch_size']}"
        title = f"{title}, {config['dtype']}, {steps}; by the share of tokens selected"
        lines = _selections(record["selection"])
    elif encoder == "drcn":
        lines = _drcn(record)
    elif encoder == "dsa":
        title = f"{title}, batches of {config['train']['batch_size']}"
        lines = _dsa(record)
    else:
        lines = _disan(record)
    return f"{title}:\n\n{markdown_table(list(lines))}"


def _encoders(encoders: dict) -> Iterator[dict]:
    rows_of_paper = TABLES["disan_table_1"].rows
    paper = {row.variant or "disan": float(row.seconds) for row in rows_of_paper}
    for name, times in encoders.items():
        yield {
            "encoder": name,
            "parameters": f"{times['parameters']:,}",
            "seconds an epoch": f"{times['epoch_seconds']:,.0f}",
            "in epochs of DiSAN": f"{times['disan_ratio']:.2f}",
            "in epochs of DiSAN, paper": f"{paper[name] / paper['disan']:.2f}",
            "inference, pairs a second": f"{times['inference_pairs_per_second']:,.0f}",
        }


def _selections(record: dict) -> Iterator[dict]:
    for what in ("core", "layer"):
        for measured in record[what]:
            for form, times in measured["forms"].items():
                yield _selection(f"{what}, forward and backward", measured["length"], form, times)
    for measured in record["model"]:
        for kind, name in _STEPS.items():
            if kind in measured:
                yield _selection(name, _lengths(measured), "", measured[kind])


def _selection(name, lengths, form, times) -> dict:
    shares = {
        column: f"{times[key]['median_ms']:,.1f}" if key in times else ""
        for column, key in _SELECTED.items()
    }
    return {"ms": name, "lengths": lengths, "form": form, **shares}


def _disan(record: dict) -> Iterator[dict]:
    core = {**_DISAN, "times faster": (_DTYPES, "dense_ratio", 0)}
    for measured in record.get("core", []):
        if "dense" in (forms := measured["forms"]):
            forms = {"dense": forms["dense"], "float32": forms["native"]}
            start = {"ms": "attention, forward and backward", "lengths": measured["length"]}
            yield {**start, **_cells(core, forms, "median_ms", 1)}
    yield from _steps(record, "ms", _DISAN)


def _dsa(record: dict) -> Iterator[dict]:
    title = "DSA beside DiSAN"
    yield from _steps(record, title, _DSA, ", ms")
    for lengths, forms in _peaks(record).items():
        start = {title: "peak memory of training, GiB", "lengths": lengths}
        yield {**start, **_cells(_DSA, forms, "peak_gib", 1)}


def _steps(record: dict, title: str, columns: dict, unit: str = "") -> Iterator[dict]:
    """Yields a line for each length and kind of step and one for an epoch, named under `title`."""
    for measured in record["step"]:
        start = {title: f"{_STEPS[measured['kind']]}{unit}", "lengths": _lengths(measured)}
        yield {**start, **_cells(columns, measured["forms"], "median_ms")}
    if "epoch" in record:
        start = {title: "epoch, pairs a second", "lengths": "of SNLI"}
        yield {**start, **_cells(columns, record["epoch"]["forms"], "pairs_per_second")}


def _cells(columns: dict, forms: dict, key: str, digits: int = 0) -> dict[str, str]:
    """Returns the cells of columns such as `_DSA`, from the forms that were measured."""
    cells = {}
    for column, (names, own_key, own_digits) in columns.items():
        name, places = (own_key, own_digits) if own_key else (key, digits)
        found = (forms[form] for form in names if form in forms)
        cells[column] = ", ".join(f"{form[name]:,.{places}f}" for form in found if name in form)
    return cells


def _drcn(record: dict) -> Iterator[dict]:
    config = record["config"]
    title = f"DRCN {config['encoder']['functions']}, batches of {config['train']['batch_size']}"
    for form, name in _DTYPES.items():
        epoch = record["epoch"]["forms"][form]
        yield {
            title: name,
            "pairs a second": f"{epoch['pairs_per_second']:,.0f}",
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
