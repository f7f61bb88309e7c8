"""The summary of a work directory: state of its training, times, curves and scores."""

from collections.abc import Mapping
from pathlib import Path

from disan_tf.common.errors import UserError
from disan_tf.common.files import read_json
from disan_tf.common.schema import check_schema
from disan_tf.runs.metrics_log import MetricsLog
from disan_tf.runs.recorded_config import read_config
from disan_tf.runs.schedule import Schedule
from disan_tf.runs.work_directory import RUN

CRITERIA = ("accuracy", "pearson", "log_likelihood")  # select models; a config may name another
FRACTIONS = ("head_fraction", "dependent_fraction")  # of tokens that hard attention selects
SCORES = (*CRITERIA, "spearman", "mse")  # in tables
REMEDY = "train, then run --mode=evaluate with --split=dev and --split=test"


def is_finished(workdir: Path, schedule: Schedule) -> bool:
    """Returns whether a run is trained to its end and scored on every split but train.

    The function reads small files only and builds no model.
    """
    if not all((workdir / name).is_file() for name in ("run.json", "best/model.json")):
        return False
    run = read_json(workdir / "run.json", REMEDY, RUN)
    epoch_steps = run.get("epoch_steps", 0)
    if not (epoch_steps or schedule.steps and schedule.evaluate_every):
        return False  # the steps of its epochs are unknown
    splits, schedule = run["data"]["splits"], schedule.resolved(epoch_steps)
    dev = _curve(MetricsLog.read(workdir / "metrics.jsonl"), "dev")
    return (
        bool(splits and dev)
        and schedule.is_over(dev[-1]["step"], best_step(workdir))
        and splits.keys() - {"train"} <= read_scores(workdir).keys()
    )


def best_step(workdir: Path) -> int:
    """Returns the step of the model in `best/`."""
    return _best(workdir)["step"]


def count_classes(workdir: Path) -> int:
    """Returns the number of classes of the model in `best/`; 0 = it has none."""
    schema = {"classes?": [str]}
    return len(read_json(workdir / "best" / "model.json", REMEDY, schema).get("classes", ()))


def _best(workdir):
    schema = {"scores": {"step": int}}
    return read_json(workdir / "best" / "model.json", REMEDY, schema)["scores"]


def read_scores(workdir: Path) -> dict:
    """Returns split -> scores of `evaluate`, for the splits that the best model was scored on."""
    best = _best(workdir)
    by_split = {
        path.stem: read_json(path, REMEDY, {"step": int})
        for path in (workdir / "evaluation").glob("*.json")
    }
    return {
        split: scores
        for split, scores in by_split.items()
        if all(scores.get(key) == best.get(key) for key in ("step", "temperature"))
    }


def criteria(config: Mapping) -> tuple[str, ...]:
    """Returns the score that the config selects the model by; `CRITERIA` if it names none."""
    named = config.get("train", {}).get("criterion")
    return (named,) if named else CRITERIA


def summarise_run(workdir: Path) -> dict:
    """Returns the config, origin, steps, times, curves and scores of a finished run.

    Returns:
      "config"; "versions", "commit", "command", "parameters", "inputs", "data" of `run.json`, and
      "machine" and "init_from" if it has them; "steps", "epochs", "minutes", "seconds_per_epoch"
      (without evaluations), "best_step", "best_epoch", "minutes_to_best"; "dev_curve", pairs of a
      step and the criterion, and "<split>_curve" for each watched split
      (`config.evaluate.splits`); for hard attention "selection_curve", lists of an evaluation's
      step and the fractions of heads and dependents that training selected before it; the scores
      of each split under its name; and for each watched split "best_on_<split>", the best of its
      curve, which is optimistic, since the split both chooses and scores the model.

    Raises:
      UserError: the run was not trained, or not evaluated on dev and, if there is one, test.
    """
    run = read_json(workdir / "run.json", REMEDY, RUN)
    scores = read_scores(workdir)
    for split in ("dev", "test"):
        if split not in scores and split in run["data"]["splits"]:
            raise UserError(f"{workdir} has no scores of its best model on {split}: {REMEDY}.")
    config = read_config(workdir)
    names, records = criteria(config), MetricsLog.read(workdir / "metrics.jsonl")
    for record in records:
        if record["split"] != "train":
            scored = tuple({name: float} for name in names)
            check_schema(workdir / "metrics.jsonl", record, scored, REMEDY)
    dev = _curve(records, "dev")
    best = next((record for record in dev if record["step"] == scores["dev"]["step"]), None)
    if best is None or records[-1]["epoch"] <= 0:
        raise UserError(f"{workdir / 'metrics.jsonl'} lacks the step of the best model; {REMEDY}.")
    return {
        "config": config,
        **{key: run[key] for key in ("versions", "commit", "command", "parameters")},
        **{key: run[key] for key in ("machine", "inputs", "data", "init_from") if key in run},
        "steps": records[-1]["step"],
        "epochs": round(records[-1]["epoch"], 2),
        "minutes": round(records[-1]["seconds"] / 60, 1),
        "seconds_per_epoch": _seconds_per_epoch(records),
        "best_step": best["step"],
        "best_epoch": round(best["epoch"], 2),
        "minutes_to_best": round(best["seconds"] / 60, 1),
        **{
            f"{split}_curve": [
                [record["step"], round(_criterion(record, names), 4)] for record in curve
            ]
            for split, curve in {"dev": dev, **_watched(records)}.items()
        },
        **_selections(records),
        **dict(sorted(scores.items())),
        **_best_on(records, names),
    }


def _curve(records, split):
    return [record for record in records if record["split"] == split]


def _watched(records):
    """Returns the curves of the watched splits, which choose no model."""
    names = {record["split"] for record in records} - {"train", "dev"}
    return {split: _curve(records, split) for split in sorted(names)}


def _selections(records):
    """Returns the "selection_curve" of `summarise_run`; {} without hard attention."""
    points = [
        [after["step"], *(round(before[name], 4) for name in FRACTIONS)]
        for before, after in zip(records, records[1:])
        if after["split"] == "dev" and FRACTIONS[0] in before
    ]
    return {"selection_curve": points} if points else {}


def _criterion(record, names):
    """Returns the score that chooses the best model on dev; `names` is the result of `criteria`."""
    return next(record[name] for name in names if name in record)


def _best_on(records, names):
    """Returns the best scores on every watched split, see `summarise_run`."""
    best = {}
    for split, curve in _watched(records).items():
        record = max(curve, key=lambda record: _criterion(record, names))
        keys = dict.fromkeys(("step", *names, *SCORES))
        best[f"best_on_{split}"] = {key: record[key] for key in keys if key in record}
    return best


def _seconds_per_epoch(records):
    """Returns the training time of an epoch, without evaluations, which end at their records."""
    pairs = zip([{"seconds": 0.0}, *records], records)
    seconds = sum(
        after["seconds"] - before["seconds"] for before, after in pairs if after["split"] == "train"
    )
    return round(seconds / records[-1]["epoch"], 1)
