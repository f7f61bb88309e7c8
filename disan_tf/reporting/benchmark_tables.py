"""The page of recorded benchmarks, `tables/benchmarks.md`."""

from pathlib import Path

from disan_tf.common.files import read_json
from disan_tf.common.tables import markdown_table
from disan_tf.reporting.paper_tables.all_tables import TABLES

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


_INTRODUCTION = """# Recorded benchmarks

Times by `python run.py --mode=benchmark` ([how](../../disan_tf/benchmark/README.md)) are medians in
milliseconds for 300 units and batches of 64, unless a table says otherwise. "15/8" are the lengths
of premise and hypothesis. "Times the products" is a step's time divided by the time of its matrix
products alone, in the same precision. Compare only times of one processor: the Xeon multiplies
bfloat16 matrices in AMX, the EPYC does not. [Findings](../FINDINGS.md#speed) says what follows.

"""


def benchmark_tables(folder: Path) -> dict[str, str]:
    """Renders a title and a table for each benchmark in a folder; {} where there are none."""
    paths = sorted(folder.glob("*.json"))
    tables = [_benchmark(read_json(path, "restore it from the repository")) for path in paths]
    return {"benchmarks.md": _INTRODUCTION + "\n".join(tables)} if tables else {}


def _benchmark(record):
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
    elif encoder == "dsa":
        title = f"{title}, batches of {config['train']['batch_size']}"
        lines = _dsa_lines(record)
    else:
        lines = _drcn_lines(record) if encoder == "drcn" else _speeds(record)
    return f"{title}:\n\n{markdown_table(list(lines))}"


def _encoders(encoders):
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


def _selections(record):
    for what in ("core", "layer"):
        for measured in record[what]:
            for form, times in measured["forms"].items():
                yield _selection(f"{what}, forward and backward", measured["length"], form, times)
    for measured in record["model"]:
        for kind, name in _STEPS.items():
            if kind in measured:
                yield _selection(name, _lengths(measured), "", measured[kind])


def _selection(name, lengths, form, times):
    shares = {
        column: f"{times[key]['median_ms']:,.1f}" if key in times else ""
        for column, key in _SELECTED.items()
    }
    return {"ms": name, "lengths": lengths, "form": form, **shares}


def _speeds(record):
    for measured in record.get("core", []):
        if "dense" in (forms := measured["forms"]):
            forms = {"dense": forms["dense"], "float32": forms["native"]}
            name = "attention, forward and backward"
            yield _speed(name, measured["length"], forms, "median_ms", digits=1, ratio_digits=0)
    for measured in record["step"]:
        forms = measured["forms"]
        yield {
            **_speed(_STEPS[measured["kind"]], _lengths(measured), forms, "median_ms"),
            "times the products": _joined(forms, _DTYPES, "products_ratio", 2),
        }
    if "epoch" in record:
        forms = record["epoch"]["forms"]
        yield _speed("epoch, pairs a second", "of SNLI", forms, "pairs_per_second")


def _speed(name, lengths, forms, key, digits=0, ratio_digits=1):
    return {
        "ms": name,
        "lengths": lengths,
        "authors' formulation": _joined(forms, ["dense"], key, digits),
        **{column: _joined(forms, [dtype], key, digits) for dtype, column in _DTYPES.items()},
        "times faster": _joined(forms, _DTYPES, "dense_ratio", ratio_digits),
    }


def _dsa_lines(record):
    for measured in record["step"]:
        name = f"{_STEPS[measured['kind']]}, ms"
        yield _dsa_line(name, _lengths(measured), measured["forms"], "median_ms")
    if "epoch" in record:
        name = "epoch, pairs a second"
        yield _dsa_line(name, "of SNLI", record["epoch"]["forms"], "pairs_per_second")
    for lengths, forms in _peaks(record).items():
        yield _dsa_line("peak memory of training, GiB", lengths, forms, "peak_gib", digits=1)


def _dsa_line(name, lengths, forms, key, digits=0):
    disan = [f"disan {dtype}" for dtype in _DTYPES]
    return {
        "DSA beside DiSAN": name,
        "lengths": lengths,
        "DiSAN, authors' formulation": _joined(forms, ["dense"], key, digits),
        "DiSAN, float32 and bfloat16": _joined(forms, disan, key, digits),
        "DSA, float32 and bfloat16": _joined(forms, _DTYPES, key, digits),
        "times faster than DiSAN": _joined(forms, _DTYPES, "disan_ratio", 2),
        "than the authors'": _joined(forms, _DTYPES, "dense_ratio", 1),
        "times the products": _joined(forms, _DTYPES, "products_ratio", 2),
    }


def _drcn_lines(record):
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


def _peaks(record):
    """Returns lengths -> form -> record of training steps' memory, where it was measured."""
    peaks = {}
    for measured in record.get("memory", {"step": []})["step"]:
        peaks.setdefault(_lengths(measured), {})[measured["form"]] = measured
    return peaks


def _joined(forms, names, key, digits):
    """Joins the values of the named forms that were measured and have the key."""
    found = (forms[name] for name in names if name in forms)
    return ", ".join(f"{form[key]:,.{digits}f}" for form in found if key in form)


def _lengths(measured):
    return "/".join(map(str, measured["lengths"]))
