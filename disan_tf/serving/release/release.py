"""Publishes a trained model: `checkpoints/<name>/`, a model card, and a row of the manifest.

python -m disan_tf.serving.release --workdir=demo/run --name=demo --command="make demo"
python -m disan_tf.serving.release --workdir=runs/trec/seed-1 --name=disan_trec \
    --prepared=prepared/trec-0123456789ab --result=disan_trec

With `--prepared`, the same corpus prepared with `--config.data.fixed_words=all`, the model gets all
words of its vector file; it is stored, and then scored, with matrices in half precision.
"""

import argparse
import os
from pathlib import Path
from typing import Optional

from disan_tf.common.errors import UserError, exit_status
from disan_tf.common.files import (
    copy_file,
    read_json,
    scratch_folder,
    sha256,
    sync_and_rename,
    write_atomically,
)
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.input_pipeline.format import Keys
from disan_tf.models.factory import TASKS, build_model
from disan_tf.runs.bundle import Bundle, check_digests, load_bundle, read_info, save_bundle
from disan_tf.serving.release.model_card import model_card
from disan_tf.serving.release.released import COLUMNS, read_manifest
from disan_tf.training.evaluation import evaluate

_SPLITS = ("dev", "test")


def release(
    workdir: Path,
    name: str,
    command: str = "",
    checkpoints: Path = CHECKPOINTS,
    prepared: Optional[Path] = None,
    result: str = "",
) -> Path:
    """Copies the best model of an evaluated work directory; returns the new folder.

    Args:
      workdir: the work directory of the training.
      name: the model's name.
      command: the command that trained it; "" = the one in `run.json`.
      checkpoints: the parent of the new folder, with a `manifest.tsv` that gets a row.
      prepared: the corpus of the training, prepared with all words of the vector file; None leaves
        the model as it is.
      result: the name of the series' recorded result, whose mean and deviation the card shows;
        "" = none.

    Raises:
      UserError: there is no such model, it is damaged, or it was not evaluated; or `prepared` is
        another corpus.
    """
    source = workdir / "best"
    info = read_info(source)
    check_digests(source, info)
    model = TASKS[info["config"]["task"]["name"]]
    command = command or read_json(workdir / "run.json", "say --command")["command"]
    series = None
    if result:
        path = checkpoints / "results" / f"{result}.json"
        series = read_json(path, "record it with --mode=report")
    with scratch_folder(checkpoints / name) as scratch:
        new, vectors = scratch / "new", None
        new.mkdir()
        if prepared:
            corpus = PreparedCorpus(prepared)
            _extend(load_bundle(source), corpus, new)
            bundle = load_bundle(new)
            reports = {split: evaluate(bundle, corpus, split) for split in _SPLITS}
            info, vectors = bundle.info, corpus.manifest[Keys.VECTORS]
        else:
            for file in ("model.json", *info["sha256"]):
                copy_file(source / file, new / file)
            remedy = "run --mode=evaluate with --split=dev and --split=test first"
            reports = {
                split: read_json(workdir / "evaluation" / f"{split}.json", remedy)
                for split in _SPLITS
            }
        scores = {split: report[model.criterion] for split, report in reports.items()}
        card = model_card(name, model, info, scores, command, vectors, series)
        write_atomically(new / "README.md", card)
        if (checkpoints / name).exists():
            os.replace(checkpoints / name, scratch / "old")
        sync_and_rename(new, checkpoints / name)
    _add_row(checkpoints, name, info, model.criterion, scores)
    return checkpoints / name


def _extend(bundle: Bundle, corpus: PreparedCorpus, directory: Path) -> None:
    """Saves a model with all words of `corpus`; its training words keep their vectors."""
    trained = bundle.info["words"][0]
    words = corpus.vocabulary
    if corpus.words[0] != trained or words[:trained] != bundle.vocabulary[:trained]:
        raise UserError(
            f"{corpus.directory} has other training words than {bundle.directory}; prepare it with "
            "the `data` values of the model's config and --config.data.fixed_words=all."
        )
    config = bundle.config.copy_and_resolve_references().unlock()
    config.data.fixed_words = "all"
    model = build_model(config, corpus.words, len(corpus.classes))
    table = {id(model.embedding.fixed): corpus.vectors[trained:]}
    for ours, theirs in zip(model.weights, bundle.model.weights):
        ours.assign(table.get(id(ours), theirs))
    scores = bundle.info["scores"]
    save_bundle(directory, model, config.lock(), corpus, scores, halve=True)


def _add_row(checkpoints, name, info, criterion, scores):
    path = checkpoints / "manifest.tsv"
    rows = read_manifest(path) if path.exists() else {}
    values = [f"{scores[split]:.4f}" for split in _SPLITS]
    digest = sha256(checkpoints / name / "model.json")
    row = [name, info["name"], digest, str(info["parameters"]), criterion, *values]
    rows[name] = dict(zip(COLUMNS, row))
    lines = [COLUMNS, *(row.values() for row in rows.values())]
    write_atomically(path, "".join("\t".join(line) + "\n" for line in lines))


def main(arguments=None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="disan_tf.serving.release",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--workdir", type=Path, required=True, help="folder of an evaluated training"
    )
    parser.add_argument("--name", required=True, help="name of the released model")
    parser.add_argument("--command", default="", help="training command (default: from run.json)")
    parser.add_argument("--prepared", type=Path, help="corpus prepared with fixed_words=all")
    parser.add_argument("--result", default="", help="name of the recorded series")
    options = parser.parse_args(arguments)
    return exit_status(lambda: print(release(**vars(options))))
