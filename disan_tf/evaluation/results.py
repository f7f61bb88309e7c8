"""What real runs and benchmarks showed: small JSON files, and the README's tables of them.

    python -m disan_tf.evaluation.results record --workdir=runs/disan_sst --name=disan_sst \
        --paper=51.72 --command="python run.py ..." --note="why it differs"
    python -m disan_tf.evaluation.results table
"""

import argparse
import sys
from pathlib import Path

from disan_tf.errors import UserError, exit_status
from disan_tf.files import read_json, write_atomically, write_json
from disan_tf.training.metrics_log import MetricsLog

ROOT = Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "checkpoints" / "results"
BENCHMARKS = ROOT / "checkpoints" / "benchmarks"


def summarise_run(workdir: Path) -> dict:
    """Config, versions, steps, time, dev curve and scores of a trained and evaluated run.

    Raises:
      UserError: the run was not trained, or not evaluated on dev and test.
    """
    remedy = "train, then run --mode=evaluate with --split=dev and --split=test"
    reports = {
        split: read_json(workdir / "evaluation" / f"{split}.json", remedy)
        for split in ("dev", "test")
    }
    records = MetricsLog.read(workdir / "metrics.jsonl")
    dev = [record for record in records if record["split"] == "dev"]
    best = next(record for record in dev if record["step"] == reports["dev"]["step"])
    run = read_json(workdir / "run.json", remedy)
    return {
        "config": read_json(workdir / "config.json", remedy),
        **{key: run[key] for key in ("versions", "commit", "parameters", "inputs")},
        "steps": records[-1]["step"],
        "minutes": round(records[-1]["seconds"] / 60, 1),
        "best_step": best["step"],
        "best_epoch": round(best["epoch"], 2),
        "minutes_to_best": round(best["seconds"] / 60, 1),
        "dev_curve": [[record["step"], round(record["accuracy"], 4)] for record in dev],
        "dev": reports["dev"],
        "test": reports["test"],
    }


def table(results: Path = RESULTS) -> str:
    """The Markdown table of all recorded runs."""
    rows = [
        "| run | parameters | best dev step (epoch) | minutes to it | dev | test | paper |",
        "|---|---|---|---|---|---|---|",
    ]
    for path in sorted(results.glob("*.json")):
        run = read_json(path, "restore it from the repository")
        rows.append(
            f"| {path.stem} (seed {run['config']['seed']}) | {run['parameters']:,} "
            f"| {run['best_step']:,} ({run['best_epoch']:.1f}) | {run['minutes_to_best']:.0f} "
            f"| {100 * run['dev']['accuracy']:.2f} | {100 * run['test']['accuracy']:.2f} "
            f"| {run['paper']} |"
        )
    return "\n".join(rows) + "\n"


def benchmark_table(benchmarks: Path = BENCHMARKS) -> str:
    """The Markdown tables of all recorded benchmarks."""
    return "\n".join(
        _benchmark(read_json(path, "restore it from the repository"))
        for path in sorted(benchmarks.glob("*.json"))
    )


def _benchmark(record):
    machine = record["machine"]
    rows = [
        f"{machine['processor']}, {machine['threads']} threads, TensorFlow "
        f"{machine['tensorflow']}:",
        "",
        "| | lengths | authors' formulation | float32 | bfloat16 | faster | times the products |",
        "|---|---|---|---|---|---|---|",
    ]
    rows += [_core_row(each) for each in record["core"] if "dense" in each["forms"]]
    rows += [_step_row(each) for each in record["step"]]
    rows.append(_epoch_row(record["epoch"]["forms"]))
    return "\n".join(rows) + "\n"


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


def _epoch_row(forms):
    dense, *ours = (forms[name] for name in ("dense", "float32", "mixed_bfloat16"))
    speeds = [f"{form['pairs_per_second']:,.0f}" for form in (dense, *ours)]
    faster = [f"{form['dense_ratio']:.1f}" for form in ours]
    return f"| epoch, pairs per second | of SNLI | {' | '.join(speeds)} | {', '.join(faster)} | |"


def update_readme(
    readme: Path = ROOT / "README.md", results: Path = RESULTS, benchmarks: Path = BENCHMARKS
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


def main(arguments=None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="disan_tf.evaluation.results")
    modes = parser.add_subparsers(dest="mode", required=True)
    record = modes.add_parser("record")
    for name in ("workdir", "name", "paper", "command", "note"):
        record.add_argument(f"--{name}", required=True)
    modes.add_parser("table")
    options = parser.parse_args(arguments)
    return exit_status(lambda: _run(options))


def _run(options):
    if options.mode == "record":
        said = {key: getattr(options, key) for key in ("command", "paper", "note")}
        run = summarise_run(Path(options.workdir))
        write_json(RESULTS / f"{options.name}.json", {**said, **run})
    update_readme()


if __name__ == "__main__":
    sys.exit(main())
