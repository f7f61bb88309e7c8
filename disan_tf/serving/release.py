"""A trained model -> `checkpoints/<name>/` with a model card, and a row of the manifest.

python -m disan_tf.serving.release --workdir=demo/run --name=demo --command="make demo"
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from disan_tf.errors import exit_status
from disan_tf.files import CHECKPOINTS, read_json, sha256, write_atomically
from disan_tf.models.factory import TASKS
from disan_tf.serving.released import COLUMNS, read_manifest
from disan_tf.training.bundle import check_digests, read_info

_INPUTS = {1: "sentences.txt", 2: "pairs.txt"}  # by the number of sentences


def release(workdir: Path, name: str, command: str, checkpoints: Path = CHECKPOINTS) -> Path:
    """Copies the best model of an evaluated work directory; returns the new folder.

    Raises:
      UserError: there is no such model, it is damaged, or it was not evaluated.
    """
    source = workdir / "best"
    info = read_info(source)
    check_digests(source, info)
    model = TASKS[read_json(source / "config.json", "train again")["task"]["name"]]
    remedy = "run --mode=evaluate with --split=dev and --split=test first"
    scores = {
        split: read_json(workdir / "evaluation" / f"{split}.json", remedy)[model.criterion]
        for split in ("dev", "test")
    }
    with tempfile.TemporaryDirectory(dir=checkpoints, prefix=f".{name}.") as scratch:
        new = Path(scratch) / "new"
        new.mkdir()
        for file in ("model.json", *info["sha256"]):
            shutil.copyfile(source / file, new / file)
        write_atomically(new / "README.md", model_card(name, model, info, scores, command))
        if (checkpoints / name).exists():
            os.replace(checkpoints / name, Path(scratch) / "old")
        os.replace(new, checkpoints / name)
    _add_row(checkpoints, name, info, model.criterion, scores)
    return checkpoints / name


def model_card(name: str, model: type, info: dict, scores: dict, command: str) -> str:
    """The README of a released model, from what is known of it.

    Args:
      name: of the folder.
      model: its class, of `TASKS`.
      info: its `model.json`.
      scores: its criterion on dev and test.
      command: that trained it.
    """
    case = "lower-cased" if info["tokenizer"]["lowercase"] else "in its case"
    return f"""# {name}

Config `{info["name"]}`, trained by `{command}`, step {info["scores"]["step"]:,}.

| | |
|---|---|
| task | {_task(model, info["classes"])} |
| parameters | {info["parameters"]:,}, and {sum(info["words"]):,} word vectors |
| {_score_row(model.criterion, scores)} |
| text | tokenised as in the Penn Treebank, {case} |

    python run.py --mode=predict --checkpoint={name} --input={_INPUTS[len(model.fields)]}

Words outside of its vocabulary are unknown to it, and it knows only sentences like those that it
was trained on. `model.json` holds the digests of all files.
"""


def _task(model, classes):
    sentences = "one sentence" if len(model.fields) == 1 else " and ".join(model.fields)
    if model.label_dtype.is_floating:
        return f"{sentences} -> how related they are, from {classes[0]} to {classes[-1]}"
    return f"{sentences} -> {', '.join(classes)}"


def _score_row(criterion, scores):
    if criterion == "accuracy":
        dev, test = (f"{100 * scores[split]:.2f} %" for split in ("dev", "test"))
        return f"accuracy | {dev} on dev, {test} on test"
    return f"Pearson's r | {scores['dev']:.4f} on dev, {scores['test']:.4f} on test"


def _add_row(checkpoints, name, info, criterion, scores):
    path = checkpoints / "manifest.tsv"
    rows = read_manifest(path) if path.exists() else {}
    values = [f"{scores[split]:.4f}" for split in ("dev", "test")]
    digest = sha256(checkpoints / name / "model.json")
    row = [name, info["name"], digest, str(info["parameters"]), criterion, *values]
    rows[name] = dict(zip(COLUMNS, row))
    lines = [COLUMNS, *(row.values() for row in rows.values())]
    write_atomically(path, "".join("\t".join(line) + "\n" for line in lines))


def main(arguments=None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="disan_tf.serving.release")
    for name in ("workdir", "name", "command"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args(arguments)
    return exit_status(lambda: print(release(Path(options.workdir), options.name, options.command)))


if __name__ == "__main__":
    sys.exit(main())
