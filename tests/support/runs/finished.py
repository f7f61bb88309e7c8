"""Work directories and recorded results of trainings that never took place."""

import json
from pathlib import Path

from disan_tf.runs.recorded_config import FORMAT

DATA = {
    "splits": {"train": 900, "dev": 40, "test": 40},
    "training_examples": 900,
    "unit": "trees",
    "training_read": 1000,
    "official_training_examples": 8544,
    "training_tokens_covered": 0.683,
}
LENGTHS = {"1-4": {"count": 4, "accuracy": 0.5}, "5-11": {"count": 0, "accuracy": None}}
COMMAND = "python run.py --config=configs/disan_sst.py"
MACHINE = {
    "processor": "Some CPU",
    "cores": 4,
    "threads": 2,
    "load_before": 0.5,
    "load_after": 2.25,
}


def config_of(corpus="sst", encoder="disan", seed=3, embedding_dim=300, **data) -> dict:
    """As much of a config as results look at."""
    options = {"corpus": corpus, "embedding_dim": embedding_dim, "vectors": "glove/some.txt"}
    data = {**options, "seed": seed, **data}
    if corpus == "sst":
        data.setdefault("classes", 5)
    train = {"batch_size": 2, "steps": 30, "patience": 0, "log_every": 5}
    train.update({"evaluate_every": 10, "checkpoint_every": 10})
    experiment = {"name": f"disan_{corpus}", "seed": seed}
    parts = {"embedding": {"name": "words"}, "encoder": {"name": encoder}}
    return {**experiment, "data": data, **parts, "train": train}


def write(path: Path, value) -> None:
    """Writes JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def write_run(folder: Path, config: dict, dev=0.5, test=0.475, **run) -> Path:
    """A training of 30 steps that was best at step 20, and scored there; returns `folder`."""
    write(folder / "config.json", {"format": FORMAT, **config})
    described = {"format": FORMAT, "versions": {}, "commit": "abc", "parameters": 1000}
    described["inputs"] = {}
    write(folder / "run.json", {**described, "command": COMMAND, "data": DATA, **run})
    write(folder / "best" / "model.json", {"scores": {"step": 20}})
    for split, accuracy in (("dev", dev), ("test", test)):
        scores = {"accuracy": accuracy, "loss": 1.25, "step": 20, "by_length": LENGTHS}
        write(folder / "evaluation" / f"{split}.json", scores)
    records = [
        {"step": 10, "split": "train", "accuracy": 0.125, "epoch": 0.5, "seconds": 50.0},
        {"step": 10, "split": "dev", "accuracy": 0.25, "epoch": 0.5, "seconds": 60.0},
        {"step": 10, "split": "test", "accuracy": 0.49, "epoch": 0.5, "seconds": 60.0},
        {"step": 20, "split": "dev", "accuracy": dev, "epoch": 1.0, "seconds": 120.0},
        {"step": 20, "split": "test", "accuracy": test, "epoch": 1.0, "seconds": 120.0},
        {"step": 30, "split": "train", "accuracy": 0.625, "epoch": 1.5, "seconds": 170.0},
        {"step": 30, "split": "dev", "accuracy": 0.375, "epoch": 1.5, "seconds": 180.0},
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "metrics.jsonl").write_text(lines)
    return folder


def choose_by_macro_f1(folder: Path) -> Path:
    """Makes a run one that macro F1 selected, which is 1 - accuracy here; returns `folder`."""
    config = json.loads((folder / "config.json").read_text())
    write(folder / "config.json", {**config, "train": {**config["train"], "criterion": "macro_f1"}})
    for path in (folder / "evaluation").glob("*.json"):
        scores = json.loads(path.read_text())
        write(path, {**scores, "macro_f1": 1 - scores["accuracy"]})
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    records = [{**(it := json.loads(line)), "macro_f1": 1 - it["accuracy"]} for line in lines]
    (folder / "metrics.jsonl").write_text("".join(f"{json.dumps(it)}\n" for it in records))
    return folder


def write_series(folder: Path, config: dict, tests=(0.4, 0.5, 0.6), first_seed=1, **run) -> Path:
    """A series with a seed for each score on test; returns `folder`."""
    write(folder / "config.json", {"format": FORMAT, **config})
    write(folder / "series.json", {})
    for seed, test in enumerate(tests, first_seed):
        member = {**config, "seed": seed, "data": {**config["data"], "seed": seed}}
        command = f"{COMMAND} --seeds=1,2"
        write_run(folder / f"seed-{seed}", member, test=test, command=command, **run)
    return folder
