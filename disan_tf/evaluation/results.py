"""What real runs showed: small JSON files, and the README's table made from them.

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
_MARKS = ("<!-- results: begin -->\n", "<!-- results: end -->\n")


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


def update_readme(readme: Path = ROOT / "README.md", results: Path = RESULTS) -> None:
    """Puts `table` between the README's two marks.

    Raises:
      UserError: the marks are missing.
    """
    text = readme.read_text(encoding="utf-8")
    before, begin, rest = text.partition(_MARKS[0])
    _, end, after = rest.partition(_MARKS[1])
    if not begin or not end:
        raise UserError(f"{readme} has not the lines {' and '.join(m.strip() for m in _MARKS)}.")
    write_atomically(readme, before + begin + table(results) + end + after)


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
