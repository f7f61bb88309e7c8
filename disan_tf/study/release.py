"""Publishes a trained model: `checkpoints/<name>/`, a model card, and a row of the manifest.

With `--prepared`, the model gets all words of its vector file, and is stored in half precision.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Optional

from disan_tf.common import files
from disan_tf.common.errors import UserError, exit_status
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.input_pipeline.format import Keys
from disan_tf.models.factory import TASKS, build_model
from disan_tf.runs.bundle import Bundle, check_digests, load_bundle, read_info, save_bundle
from disan_tf.serving.presets import COLUMNS, read_manifest
from disan_tf.study.model_card import model_card
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
      prepared: the corpus, prepared with all words of the vector file; None = the model as it is.
      result: the name of a recorded series, whose mean and deviation the card shows; "" = none.

    Raises:
      UserError: there is no such model, it is damaged, or it was not evaluated; or `prepared` is
        another corpus.
    """
    source, series, target = workdir / "best", None, checkpoints / name
    info = read_info(source)
    check_digests(source, info)
    model = TASKS[info["config"]["task"]["name"]]
    command = command or files.read_json(workdir / "run.json", "say --command")["command"]
    if result:
        path = checkpoints / "results" / f"{result}.json"
        series = files.read_json(path, "record it with --mode=report")
    with files.scratch_folder(target) as scratch:
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
                files.copy_file(source / file, new / file)
            remedy = "run --mode=evaluate with --split=dev and --split=test first"
            paths = {split: workdir / "evaluation" / f"{split}.json" for split in _SPLITS}
            reports = {split: files.read_json(path, remedy) for split, path in paths.items()}
        scores = {split: report[model.criterion] for split, report in reports.items()}
        card = model_card(name, model, info, scores, command, vectors, series)
        files.write_atomically(new / "README.md", card)
        if target.exists():
            os.replace(target, scratch / "old")
        files.sync_and_rename(new, target)
    _add_row(checkpoints, name, info, model.criterion, scores)
    return target


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


def _add_row(checkpoints, name, info, criterion, scores) -> None:
    path = checkpoints / "manifest.tsv"
    rows = read_manifest(path) if path.exists() else {}
    values = [f"{scores[split]:.4f}" for split in _SPLITS]
    digest = files.sha256(checkpoints / name / "model.json")
    row = [name, info["name"], digest, str(info["parameters"]), criterion, *values]
    rows[name] = dict(zip(COLUMNS, row))
    lines = [COLUMNS, *(row.values() for row in rows.values())]
    files.write_atomically(path, "".join("\t".join(line) + "\n" for line in lines))


def main() -> None:
    """Releases the model that the command line names."""
    parser = argparse.ArgumentParser(
        prog="disan_tf.study.release",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--workdir", type=Path, required=True, help="folder of an evaluated training")
    add("--name", required=True, help="name of the released model")
    add("--command", default="", help="training command (default: from run.json)")
    add("--prepared", type=Path, help="corpus prepared with fixed_words=all")
    add("--result", default="", help="name of the recorded series")
    print(release(**vars(parser.parse_args())))


if __name__ == "__main__":
    sys.exit(exit_status(main))
