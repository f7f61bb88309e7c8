"""Publishes a trained model: `checkpoints/<name>/`, a model card, and a row of the manifest.

With `--prepared`, the model gets all words of its vector file, and is stored as int8 or float16.
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Optional

import tensorflow as tf
from ml_collections import ConfigDict

from disan_tf.common import atomic, files
from disan_tf.common.errors import UserError, exit_status
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.common.paths import home_path
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.input_pipeline.corpus_format import Keys
from disan_tf.models.factory import TASKS, build_model
from disan_tf.runs.bundle import Bundle, check_digests, load_bundle, read_info, save_bundle
from disan_tf.runs.series_summary import fold_of
from disan_tf.serving.presets import COLUMNS, describe_task, read_manifest
from disan_tf.study.results import describe_examples, training_share
from disan_tf.training.evaluation import evaluate

_SPLITS = ("dev", "test")
_INPUTS = {1: "sentences.txt", 2: "pairs.txt"}  # by the number of sentences
_CORPORA = {  # config.data.corpus -> its description
    "sst": "the Stanford Sentiment Treebank (Socher et al. 2013), film reviews",
    "snli": "the Stanford Natural Language Inference corpus (Bowman et al. 2015; CC BY-SA 4.0), "
    "captions of photographs",
    "multinli": "the Multi-Genre Natural Language Inference corpus (Williams et al. 2018)",
    "sick": "SICK of SemEval-2014 (Marelli et al. 2014; CC BY-NC-SA 3.0), captions of photographs "
    "and videos",
    "cr": "customer reviews (Hu and Liu 2004)",
    "mpqa": "the MPQA opinion corpus (Wiebe et al. 2005)",
    "subj": "the subjectivity data (Pang and Lee 2004), sentences about films",
    "trec": "TREC questions (Li and Roth 2002)",
}
_LICENCES = {  # config.data.corpus -> its licence
    "snli": "CC BY-SA 4.0",
    "multinli": "the terms of the Open American National Corpus, and others for fiction",
    "sick": "CC BY-NC-SA 3.0, no commercial use",
    "mpqa": "academic and research use only",
    **dict.fromkeys(("sst", "cr", "subj", "trec"), "its authors state no licence"),
}
_SYNTHETIC = "a synthetic treebank"
_LICENCE = """
GloVe's vectors (Pennington et al. 2014) are in the public domain (PDDL 1.0). The model contains no
sentence of the corpus, but the corpus' licence may restrict its use.
"""


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
      workdir: the work directory of the training, or the folder of a released model.
      name: the model's name.
      command: the command that trained it; "" = the one in `run.json`.
      checkpoints: the parent of the new folder, with a `manifest.tsv` that gets a row.
      prepared: the corpus, prepared with all words of the vector file; None = the model as it is.
      result: the name of a recorded series, whose statistics the card shows; "" = none.

    Raises:
      UserError: there is no such model, it is damaged, or its best model was not evaluated; or
        `prepared` is another corpus.
    """
    source, series, target = workdir / "best", None, checkpoints / name
    source = source if source.is_dir() else workdir
    info = read_info(source)
    check_digests(source, info)
    model = TASKS[info["config"]["task"]["name"]]
    command = command or files.read_json(workdir / "run.json", "say --command")["command"]
    if result:
        path = checkpoints / "results" / f"{result}.json"
        series = files.read_json(path, "record it with --mode=report")
    with atomic.scratch_folder(target) as scratch:
        if prepared:
            corpus = PreparedCorpus(prepared)
            new, precision, reports = _pack(load_bundle(source), corpus, scratch)
            info, vectors = read_info(new), corpus.manifest[Keys.VECTORS]
        else:
            new, precision, vectors = scratch / "new", "", None
            new.mkdir()
            for file in ("model.json", *info["sha256"]):
                atomic.copy_file(source / file, new / file)
            remedy = "run --mode=evaluate with --split=dev and --split=test first"
            paths = {split: workdir / "evaluation" / f"{split}.json" for split in _SPLITS}
            reports = {
                split: files.read_json(path, remedy, {"step": int}) for split, path in paths.items()
            }
            best = info["scores"]["step"]
            for split, report in reports.items():
                if report["step"] != best:
                    raise UserError(
                        f"{paths[split]} has the scores of step {report['step']:,}, and the best "
                        f"model is of step {best:,}; {remedy}."
                    )
        scores = {split: report[model.criterion] for split, report in reports.items()}
        card = model_card(name, model, info, scores, command, vectors, series, precision)
        atomic.write_atomically(new / "README.md", card)
        atomic.replace_folder(new, target)
    _add_row(checkpoints, name, info, model.criterion, scores)
    return target


def _pack(bundle: Bundle, corpus: PreparedCorpus, parent: Path) -> tuple[Path, str, dict]:
    """Saves a model with all words of `corpus`, in the precision of `choose_precision`.

    Returns:
      The folder of the model, which is below `parent`; its precision; and its reports by split.
    """
    model, config = _extend(bundle, corpus)
    reports = {}
    for precision in ("float16", "int8"):
        folder = parent / precision
        save_bundle(folder, model, config, corpus, bundle.info["scores"], precision)
        saved = load_bundle(folder)
        reports[precision] = {split: evaluate(saved, corpus, split) for split in _SPLITS}
    precision = choose_precision(
        model.criterion, *(reports[precision]["test"] for precision in ("float16", "int8"))
    )
    return parent / precision, precision, reports[precision]


def choose_precision(criterion: str, half: Mapping, coded: Mapping) -> str:
    """Returns "int8" if int8 loses little on test compared with float16, else "float16".

    It may lose one example, or .0005 of Pearson's r. `half` and `coded` are the reports on test in
    float16 and int8.
    """
    most = 0.0005 if criterion == "pearson" else 1.5 / coded["examples"]  # 1.5, for rounding
    return "int8" if half[criterion] - coded[criterion] <= most else "float16"


def _extend(bundle: Bundle, corpus: PreparedCorpus) -> tuple[tf.keras.Model, ConfigDict]:
    """Returns a model with all words of `corpus`; its training words keep their vectors."""
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
    return model, config.lock()


def _add_row(checkpoints, name, info, criterion, scores) -> None:
    path = checkpoints / "manifest.tsv"
    rows = read_manifest(path) if path.exists() else {}
    values = [f"{scores[split]:.4f}" for split in _SPLITS]
    digest = files.sha256(checkpoints / name / "model.json")
    row = [name, info["name"], digest, str(info["parameters"]), criterion, *values]
    rows[name] = dict(zip(COLUMNS, row))
    lines = [COLUMNS, *(row.values() for row in rows.values())]
    atomic.write_atomically(path, "".join("\t".join(line) + "\n" for line in lines))


def model_card(
    name: str,
    model: type,
    info: dict,
    scores: dict,
    command: str,
    vectors: Optional[dict] = None,
    series: Optional[dict] = None,
    precision: str = "",
) -> str:
    """Returns the model card in Markdown.

    Args:
      name: the folder's name.
      model, info: the model's class, and the content of its `model.json`.
      scores: its criterion on dev and test.
      command: the command that trained it.
      vectors: the vector file's entry in the manifest of the corpus; None if there is none.
      series: the recorded result of its series of trainings; None without one.
      precision: "int8" or "float16", in which its matrices are stored; used with `vectors` only.
    """
    rows = _rows(model, info, scores, vectors, series, precision)
    fold = fold_of(info["config"])
    member = f"seed {info['config']['seed']}" + f" and fold {fold}" * (fold is not None)
    temperature = info["scores"].get("temperature")
    calibration = "Probabilities are not calibrated."
    if temperature is not None:
        calibration = (
            f"Probabilities are calibrated on dev, with the temperature {temperature:.3f}."
        )
    table = "".join(f"| {title} | {content} |\n" for title, content in rows.items())
    return f"""# {name}

This command trained the model with the config `{info["name"]}`:

    {command}

Its weights are from step {info["scores"]["step"]:,} of {member}, the best on dev.

| | |
|---|---|
{table}
    python run.py --mode=predict --checkpoint={name} --input={_INPUTS[len(model.fields)]}
    python run.py --mode=export --checkpoint={name} --output=exported

The second command writes SavedModels. The process that loads the SavedModel of text must
`import tensorflow_text` ([export](../../disan_tf/serving/README.md#export)).

Out-of-vocabulary words map to one token. {calibration} Expect lower scores on
sentences unlike the training data. `model.json` has the digests of all files.
{_LICENCE if vectors else ""}"""


def _rows(model, info, scores, vectors, series, precision) -> dict[str, str]:
    """Returns the card's table, see `model_card`."""
    corpus, trained = info["config"]["data"]["corpus"], info["words"][0]
    score = "accuracy" if model.criterion == "accuracy" else "Pearson's r"
    dev, test = (_show(model.criterion, scores[split]) for split in ("dev", "test"))
    rows = {
        "task": describe_task(model, info["classes"]),
        "trained on": _SYNTHETIC if info["name"] == "demo" else _CORPORA.get(corpus, corpus),
        **licence_row("" if info["name"] == "demo" else corpus),
        "parameters": f"{info['parameters']:,}, and {sum(info['words']):,} word vectors",
        score: f"{dev} on dev, {test} on test",
        **(_series_rows(model.criterion, series) if series else {}),
    }
    if vectors:
        kept = "fixed"
        if info["config"]["embedding"]["trainable"]:
            kept = (
                f"the vectors of the {trained:,} training words were trained, the others are fixed"
            )
        covered = 100 * vectors["training_tokens_covered"]
        rows["word vectors"] = (
            f"{vectors['rows']:,} of GloVe; {kept}; {covered:.1f} % of the training tokens have a "
            "vector"
        )
        rows["precision"] = (
            f"matrices are stored as {precision}; the scores were measured with these weights, in "
            "float32"
        )
    case = "lower-cased" if info["tokenizer"]["lowercase"] else "case kept"
    return {**rows, "text": f"tokenised as in the Penn Treebank, {case}"}


def licence_row(corpus: str) -> dict[str, str]:
    """Returns the card's row on the licence; no row for a corpus that is not listed."""
    if corpus not in _LICENCES:
        return {}
    statement = "[data statement](../../data_prep/DATA.md#licences)"
    return {"licence": f"treat the weights like the corpus: {_LICENCES[corpus]} ({statement})"}


def _show(criterion: str, score: float) -> str:
    return f"{100 * score:.2f} %" if criterion == "accuracy" else f"{score:.4f}"


def _series_rows(criterion, series):
    """Returns the series' test mean and standard deviation, before rounding, and its examples."""
    members = len(series.get("members", [0]))
    text = _show(criterion, series.get("mean", series)["test"][criterion])
    spread = (series.get("standard_deviation") or {}).get("test", {}).get(criterion)
    if spread is not None:
        text += f" (standard deviation {_show(criterion, spread).rstrip(' %')})"
    label = f"mean of {members} trainings" if members > 1 else "before rounding"
    rows = {label: f"{text} on test"}
    if training_share(series) not in (1, None):
        statement = "[data statement](../../data_prep/DATA.md)"
        rows["training examples"] = f"{describe_examples(series)}; see the {statement}"
    return rows


def main() -> None:
    """Releases the model that the command line names."""
    parser = argparse.ArgumentParser(
        prog="disan_tf.study.release",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "--workdir",
        type=home_path,
        required=True,
        help="work directory, evaluated, or released model",
    )
    add("--name", required=True, help="name of the released model")
    add("--command", default="", help="training command (default: from run.json)")
    add("--prepared", type=home_path, help="corpus prepared with fixed_words=all")
    add("--result", default="", help="name of the recorded series")
    print(release(**vars(parser.parse_args())))


if __name__ == "__main__":
    sys.exit(exit_status(main))
