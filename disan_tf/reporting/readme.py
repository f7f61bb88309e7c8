"""The README's tables of recorded runs and benchmarks."""

from pathlib import Path

from disan_tf.errors import UserError
from disan_tf.files import CHECKPOINTS, read_json, write_atomically
from disan_tf.reporting.paper_tables.all_tables import TABLES
from disan_tf.reporting.results import describe_members, deviation, mean, read_results

README = CHECKPOINTS.parent / "README.md"
RESULTS = CHECKPOINTS / "results"
BENCHMARKS = CHECKPOINTS / "benchmarks"
_SPEED_HEAD = (
    "| | lengths | authors' formulation | float32 | bfloat16 | faster | times the products |",
    "|---|---|---|---|---|---|---|",
)
_ENCODERS_HEAD = (
    "| encoder | parameters | T(s)/epoch | in epochs of DiSAN | the paper's | inference, pairs/s |",
    "|---|---|---|---|---|---|",
)
_DSA_HEAD = (
    "| DSA beside DiSAN | lengths | DiSAN, authors' formulation | DiSAN, float32 and bfloat16 "
    "| DSA, float32 and bfloat16 | faster than DiSAN | than the authors' | times the products |",
    "|---|---|---|---|---|---|---|---|",
)
_RATES = ("1.0", "0.5", "0.25", "0.1")
_BESIDE = ("all", "without_hard_attention", "iterative")
_SELECTION_HEAD = (
    "| ms | lengths | form | all | half of all | a quarter | a tenth | nothing sampled "
    "| without hard attention | iterative sampling |",
    "|---|---|---|---|---|---|---|---|---|---|",
)


def table(results: Path = RESULTS) -> str:
    """The Markdown table of all recorded runs."""
    rows = [
        "| run | parameters | best dev step (epoch) | minutes to it | dev | test | paper |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, run in read_results(results).items():
        rows.append(
            f"| {name} ({describe_members(run)}) | {run['parameters']:,} "
            f"| {run['best_step']:,.0f} ({run['best_epoch']:.1f}) | {run['minutes_to_best']:.0f} "
            f"| {_scores(run, 'dev')} | {_scores(run, 'test')} | {run['paper']} |"
        )
    return "\n".join(rows) + "\n"


def _scores(run, split):
    """Accuracy in per cent, perplexity, or correlations and error; of a series with deviations."""
    if mean(run, split, "accuracy") is not None:
        return _score(run, split, "accuracy", 100, 2)
    if mean(run, split, "perplexity") is not None:
        return f"perplexity {_score(run, split, 'perplexity', 1, 2)}"
    names = {"r": "pearson", "ρ": "spearman", "MSE": "mse"}
    return ", ".join(f"{name} {_score(run, split, key, 1, 4)}" for name, key in names.items())


def _score(run, split, key, scale, digits):
    text, spread = f"{scale * mean(run, split, key):.{digits}f}", deviation(run, split, key)
    return text if spread is None else f"{text} ± {scale * spread:.{digits}f}"


def benchmark_table(benchmarks: Path = BENCHMARKS) -> str:
    """The Markdown tables of all recorded benchmarks."""
    return "\n".join(
        _benchmark(read_json(path, "restore it from the repository"))
        for path in sorted(benchmarks.glob("*.json"))
    )


def _benchmark(record):
    machine = record["machine"]
    title = (
        f"{machine['processor']}, {machine['threads']} threads, TensorFlow {machine['tensorflow']}"
    )
    if "encoders" in record:
        rows = _encoder_rows(title, record["encoders"])
    elif "selection" in record:
        rows = _selection_rows(title, record["config"]["dtype"], record["selection"])
    elif record["config"]["encoder"]["name"] == "dsa":
        rows = [f"{title}, batches of {record['config']['train']['batch_size']}:", "", *_DSA_HEAD]
        rows += _dsa_rows(record)
    elif record["config"]["encoder"]["name"] == "drcn":
        rows = _drcn_rows(title, record)
    else:
        rows = [
            f"{title}:",
            "",
            *_SPEED_HEAD,
            *(_core_row(each) for each in record["core"] if "dense" in each["forms"]),
            *map(_step_row, record["step"]),
            _epoch_row(record["epoch"]["forms"]),
        ]
    return "\n".join(rows) + "\n"


def _encoder_rows(title, record):
    rows = [f"{title}, {record['dtype']}:", "", *_ENCODERS_HEAD]
    rows_of_paper = TABLES["disan_table_1"].rows
    paper = {row.variant or "disan": float(row.seconds) for row in rows_of_paper}
    for name, each in record["encoders"].items():
        rows.append(
            f"| {name} | {each['parameters']:,} | {each['epoch_seconds']:,.0f} "
            f"| {each['disan_ratio']:.2f} | {paper[name] / paper['disan']:.2f} "
            f"| {each['inference_pairs_per_second']:,.0f} |"
        )
    return rows


def _selection_rows(title, dtype, record):
    rows = [f"{title}, {dtype}; heads and dependents selected:", "", *_SELECTION_HEAD]
    for what in ("core", "layer"):
        for each in record[what]:
            for form, times in each["forms"].items():
                rows.append(
                    _selection_row(f"{what}, forward and backward", each["length"], form, times)
                )
    for each in record["model"]:
        lengths = "/".join(map(str, each["lengths"]))
        for kind, name in (("train", "training step"), ("inference", "inference")):
            rows.append(_selection_row(name, lengths, "", each[kind]))
    return rows


def _selection_row(what, lengths, form, times):
    cells = [f"{times[key]['median_ms']:,.1f}" if key in times else ""
             for key in (*_RATES, *_BESIDE)]  # fmt: skip
    return f"| {what} | {lengths} | {form} | {' | '.join(cells)} |"


def _core_row(each):
    dense, native = each["forms"]["dense"], each["forms"]["native"]
    return (
        f"| attention, forward and backward | {each['length']} | {dense['median_ms']:,.1f} "
        f"| {native['median_ms']:,.1f} | | {native['dense_ratio']:.0f} | |"
    )


def _step_row(each):
    dense, *ours = (each["forms"][name] for name in ("dense", "float32", "mixed_bfloat16"))
    times, faster, products = (
        [f"{form[key]:,.{digits}f}" for form in ours]
        for key, digits in (("median_ms", 0), ("dense_ratio", 1), ("products_ratio", 2))
    )
    lengths = "/".join(map(str, each["lengths"]))
    name = {"train": "training step", "inference": "inference"}[each["kind"]]
    return (
        f"| {name} | {lengths} | {dense['median_ms']:,.0f} | {' | '.join(times)} "
        f"| {', '.join(faster)} | {', '.join(products)} |"
    )


def _dsa_rows(record):
    names = {"train": "training step, ms", "inference": "inference, ms"}
    rows = []
    for each in record["step"]:
        rows.append(_dsa_row(names[each["kind"]], each["lengths"], each["forms"], "median_ms"))
    rows.append(
        _dsa_row("epoch, pairs per second", "of SNLI", record["epoch"]["forms"], "pairs_per_second")
    )
    forms = {}  # by lengths
    for each in record["memory"]["step"]:
        forms.setdefault(tuple(each["lengths"]), {})[each["form"]] = each
    for lengths, each in forms.items():
        rows.append(_dsa_row("peak memory of training, GiB", lengths, each, "peak_gib"))
    return rows


def _dsa_row(what, lengths, forms, key):
    dtypes = ("float32", "mixed_bfloat16")
    ours = [forms[dtype] for dtype in dtypes]
    values = [forms["dense"], *(forms[f"disan {dtype}"] for dtype in dtypes), *ours]
    digits = 1 if key == "peak_gib" else 0
    dense, *others = (f"{each[key]:,.{digits}f}" for each in values)
    ratios = [
        ", ".join(f"{form[ratio]:.{places}f}" for form in ours if ratio in form)
        for ratio, places in (("disan_ratio", 2), ("dense_ratio", 1), ("products_ratio", 2))
    ]
    where = lengths if isinstance(lengths, str) else "/".join(map(str, lengths))
    pairs = ", ".join(others[:2]), ", ".join(others[2:])
    return f"| {what} | {where} | {dense} | {' | '.join([*pairs, *ratios])} |"


def _drcn_rows(title, record):
    config, lengths = record["config"], []
    for each in record["memory"]["step"]:
        if each["lengths"] not in lengths:
            lengths.append(each["lengths"])
    head = [
        f"DRCN {config['encoder']['functions']}, batches of {config['train']['batch_size']}",
        "pairs per second", "minutes an epoch of SNLI",
        *(f"peak memory at {'/'.join(map(str, each))}, GiB" for each in lengths),
    ]  # fmt: skip
    rows = [f"{title}:", "", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for form, name in (("float32", "float32"), ("mixed_bfloat16", "bfloat16")):
        epoch = record["epoch"]["forms"][form]
        peaks = [each["peak_gib"] for each in record["memory"]["step"] if each["form"] == form]
        cells = [name, f"{epoch['pairs_per_second']:,.0f}", f"{epoch['epoch_minutes']:,.0f}"]
        rows.append(f"| {' | '.join([*cells, *(f'{peak:.1f}' for peak in peaks)])} |")
    return rows


def _epoch_row(forms):
    dense, *ours = (forms[name] for name in ("dense", "float32", "mixed_bfloat16"))
    speeds = [f"{form['pairs_per_second']:,.0f}" for form in (dense, *ours)]
    faster = [f"{form['dense_ratio']:.1f}" for form in ours]
    return f"| epoch, pairs per second | of SNLI | {' | '.join(speeds)} | {', '.join(faster)} | |"


def update_readme(
    readme: Path = README, results: Path = RESULTS, benchmarks: Path = BENCHMARKS
) -> None:
    """Puts `table` and `benchmark_table` between the README's marks.

    Raises:
      UserError: marks are missing.
    """
    text = readme.read_text(encoding="utf-8")
    for name, content in (("results", table(results)), ("benchmark", benchmark_table(benchmarks))):
        marks = (f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n")
        before, begin, rest = text.partition(marks[0])
        _, end, after = rest.partition(marks[1])
        if not begin or not end:
            raise UserError(f"{readme} has not the lines {' and '.join(map(str.strip, marks))}.")
        text = before + begin + content + end + after
    write_atomically(readme, text)
