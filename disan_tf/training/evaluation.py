"""Scores a trained model on one split, and calibrates it on dev.

The calibration is temperature scaling (Guo et al. 2017): it divides the logits by one number.
"""

from pathlib import Path

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from disan_tf.common.atomic import write_arrays, write_atomically, write_json
from disan_tf.common.errors import UserError
from disan_tf.common.progress import notify, progress_bar
from disan_tf.common.tables import csv_table
from disan_tf.input_pipeline import PreparedCorpus, Split, draw_examples
from disan_tf.input_pipeline.corpus_format import Keys
from disan_tf.metrics.scores import (
    classification_scores,
    correlation_scores,
    expected_calibration_error,
    perplexities,
    scores_by_label,
)
from disan_tf.runs.bundle import Bundle, load_bundle, read_files, write_bundle
from disan_tf.runs.run_summary import FRACTIONS
from disan_tf.runs.score_tables import confusion_lines
from disan_tf.text.lookup import UNKNOWN_ID, VOCABULARY
from disan_tf.text.word_vectors import few_known
from disan_tf.training.compilation import make_compiler
from disan_tf.training.config import Config, of_bundle
from disan_tf.training.methods.policy_gradient import evaluation_steps
from disan_tf.training.scoring import run_split
from disan_tf.training.steps import make_evaluation_step, make_selection_step

_SELECTIONS = ("all", "sample", "greedy")
_BOUNDS = np.log(0.05), np.log(20.0)  # a dev set without mistakes would give 0


def evaluate(bundle: Bundle, corpus: PreparedCorpus, split_name: str) -> dict:
    """Scores a model on one split; "train" is limited to the examples of the training.

    Returns:
      A dictionary that JSON can hold: "config" and "step" (of the checkpoint), "split",
      "examples", "loss" (weight decay included), "criterion" (the score that chose the
      checkpoint on dev), and the task's scores. Classes have `classification_scores`,
      "calibration_error", and "temperature" and "calibration_error_before" if the model is
      calibrated; numbers have `correlation_scores` and "by_score" (`scores_by_label`); a language
      model has `perplexities`, "predictions" (the number of predicted words in each direction)
      and "unknown_words" (their share). Hard attention also has "head_fraction" and
      "dependent_fraction", the shares of tokens selected for these scores, and "<how>_<score>": the
      criterion and both shares for each selection in `_SELECTIONS`.

    Raises:
      UserError: the corpus has other classes or words than the model, or lacks the split.
    """
    check_corpus(bundle, corpus)
    return evaluate_split(bundle, scored_split(bundle, corpus, split_name), split_name)


def evaluate_split(bundle: Bundle, split: Split, split_name: str) -> dict:
    """Scores a model on a split with the word ids of the model; see `evaluate`."""
    return _score(bundle, split, split_name)[0]


def write_evaluation(folder, bundle: Bundle, corpus: PreparedCorpus, split_name: str) -> dict:
    """Writes and returns the scores of `evaluate`; also writes the predictions.

    `<split>.json` has the scores, `<split>_confusion.csv` the confusion matrix of classes. If the
    model predicts one class or number for each example, `<split>.npz` has "predictions" and
    "labels", <float32>[examples] or the smallest unsigned integers that hold the classes, and
    "step".
    """
    check_corpus(bundle, corpus)
    split = scored_split(bundle, corpus, split_name)
    (scores, predictions), labels = _score(bundle, split, split_name), split.labels
    if predictions.ndim == 1:
        classes = np.min_scalar_type(max(len(bundle.classes) - 1, 0))
        kind = np.float32 if predictions.dtype.kind == "f" else classes
        write_arrays(
            Path(folder) / f"{split_name}.npz",
            predictions=predictions.astype(kind),
            labels=labels.astype(kind),
            step=scores["step"],
        )
    if "confusion" in scores:
        matrix = csv_table(confusion_lines(scores["confusion"]))
        write_atomically(Path(folder) / f"{split_name}_confusion.csv", matrix)
    write_json(Path(folder) / f"{split_name}.json", scores)
    _warn_of_unknown_words(bundle, split, split_name)
    return scores


def _warn_of_unknown_words(bundle, split, split_name) -> None:
    ids = np.concatenate([split.ids[field] for field in split.fields])
    share = np.mean(ids > UNKNOWN_ID)
    if bundle.config.data.get("vectors") and few_known(share):
        notify(f"warning: only {share:.1%} of the words of {split_name} are in the vocabulary.")


def _score(bundle, split, split_name):
    """Returns the scores, see `evaluate`, and the model's predictions."""
    model, config = bundle.model, of_bundle(bundle)
    steps = _steps(bundle, config)
    with progress_bar(f"evaluate {split_name}", "examples", len(split)) as bar:
        size = config.evaluate.batch_size
        outcome = run_split(steps["final"], split, model, size, bar.update)
    predictions = model.predictions(outcome.outputs).numpy()
    scores = {
        "config": bundle.info["name"],
        "step": bundle.info["scores"]["step"],
        "split": split_name,
        "examples": len(split),
        "loss": outcome.loss,
        "criterion": config.train.selecting_score(model),
        **_SCORES[model.criterion](split, predictions, bundle.classes),
        **(_calibration(bundle, outcome.outputs, split.labels) if model.criteria else {}),
        **(_selections(steps, config, model, split) if model.samplers else {}),
    }
    return scores, predictions


def _steps(bundle: Bundle, config: Config) -> dict:
    """Returns the evaluation steps by name; all splits share them.

    The step "final" computes the reported scores. For a model with hard attention, it is the step
    that `evaluate.selection` names.
    """
    if bundle.steps:
        return bundle.steps
    model, evaluate = bundle.model, config.evaluate
    compiler = make_compiler(config.train, model)
    if model.samplers:
        bundle.steps.update(evaluation_steps(model, evaluate.samples, compiler))
        bundle.steps["final"] = bundle.steps[evaluate.selection]
        for how in _SELECTIONS:
            bundle.steps[f"{how}_shares"] = make_selection_step(model, how)
    else:
        step = make_evaluation_step(model, compiler=compiler, rows=evaluate.batch_size)
        bundle.steps["final"] = step
    return bundle.steps


def scored_split(bundle: Bundle, corpus: PreparedCorpus, name: str) -> Split:
    """Returns a split; "train" has only the examples that `train.examples` drew."""
    split = corpus.split(name)
    examples = bundle.config.train.get("examples", 0) if name == "train" else 0
    return split.take(draw_examples(len(split), examples)) if examples else split


def _selections(steps: dict, config: Config, model, split: Split) -> dict:
    """Returns the scores that `evaluate` adds for hard attention."""
    scores, arguments = {}, (split, model, config.evaluate.batch_size)
    for how in _SELECTIONS:
        outcome = run_split(steps[how], *arguments)
        measured = model.scores(outcome.outputs, split.labels)
        scores[f"{how}_{model.criterion}"] = measured[model.criterion]
        shares = run_split(steps[f"{how}_shares"], *arguments).outputs.mean(axis=0)
        scores.update({f"{how}_{key}": float(share) for key, share in zip(FRACTIONS, shares)})
    scored = "greedy" if config.evaluate.selection == "greedy" else "sample"
    return {**{key: scores[f"{scored}_{key}"] for key in FRACTIONS}, **scores}


def _classes(split: Split, predictions: np.ndarray, classes: list) -> dict:
    lengths, genres = split.lengths, split.genres
    return classification_scores(predictions, split.labels, classes, lengths, genres)


def _calibration(bundle: Bundle, logits: np.ndarray, labels: np.ndarray) -> dict:
    """Returns the calibration error; for a calibrated model, also the error before calibration."""

    def error(factor):
        return expected_calibration_error(softmax(factor * logits, axis=1), labels)

    temperature = bundle.info["scores"].get("temperature")
    scores = {"calibration_error": error(1.0)}
    if temperature is not None:
        scores["temperature"] = temperature
        scores["calibration_error_before"] = error(temperature)
    return scores


def _numbers(split: Split, predictions: np.ndarray, classes: list) -> dict:
    return {
        **correlation_scores(predictions, split.labels),
        "by_score": scores_by_label(predictions, split.labels, len(classes), int(classes[0])),
    }


def _words(split: Split, predictions: np.ndarray, classes: list) -> dict:
    return {
        **perplexities(predictions),
        "predictions": int(np.sum(predictions[:, 2], dtype=np.float64)),
        "unknown_words": float(np.mean(split.ids["sentence"] == UNKNOWN_ID)),
    }


_SCORES = {"accuracy": _classes, "pearson": _numbers, "log_likelihood": _words}  # by criterion


def check_corpus(bundle: Bundle, corpus: PreparedCorpus) -> None:
    """Raises UserError unless the corpus and the model have the same classes and vocabulary."""
    remedy = "prepare the corpus with the `data` values of the model's config"
    if corpus.classes != bundle.classes:
        raise UserError(
            f"{corpus.directory} has the classes {', '.join(corpus.classes)}, the model in "
            f"{bundle.directory} has {', '.join(bundle.classes)}; {remedy}."
        )
    given, known = corpus.vocabulary, bundle.vocabulary
    if given != known:
        shared = min(len(given), len(known))
        line = next((k for k in range(shared) if given[k] != known[k]), shared)
        words = [repr(words[line]) if line < len(words) else "no word" for words in (given, known)]
        differences = "".join(f" {warning}" for warning in corpus.manifest[Keys.WARNINGS])
        raise UserError(
            f"{corpus.directory / VOCABULARY} and {bundle.directory / VOCABULARY} "
            f"differ at line {line + 1} ({words[0]} and {words[1]}); {remedy}.{differences}"
        )


def fit_temperature(logits: np.ndarray, labels: np.ndarray) -> float:
    """Returns the temperature of the lowest cross-entropy, between 0.05 and 20.

    `logits` are <float>[examples, classes] and `labels` <int>[examples].
    """
    rows = np.arange(len(labels))

    def loss(log_temperature):
        return -log_softmax(logits / np.exp(log_temperature), axis=1)[rows, labels].mean()

    return float(np.exp(minimize_scalar(loss, bounds=_BOUNDS, method="bounded").x))


def calibrate(folder, corpus: PreparedCorpus) -> str:
    """Fits the temperature of a bundle on dev and divides the last layer's weights by it.

    All predictions, exports and copies of the model are then calibrated. `model.json` keeps the
    temperature; a bundle that has one stays as it is. Returns a line that names the temperature and
    the calibration errors on dev.
    """
    bundle = load_bundle(folder)
    dev, model = corpus.split("dev"), bundle.model
    scores = bundle.info["scores"]
    if "temperature" in scores:
        return f"the model is calibrated, with the temperature {scores['temperature']:.3f}"
    config = of_bundle(bundle)
    step = _steps(bundle, config)["final"]
    logits = run_split(step, dev, model, config.evaluate.batch_size).outputs
    temperature = fit_temperature(logits, dev.labels)
    for weight in model.head.logits.trainable_weights:
        weight.assign(weight / temperature)
    files = read_files(bundle)
    names = bundle.info["sha256"].keys() - {bundle.info["weights"]}
    info = {**bundle.info, "scores": {**scores, "temperature": temperature}}
    write_bundle(folder, model, info, {name: files[name] for name in names})
    errors = [
        expected_calibration_error(softmax(logits / t, axis=1), dev.labels)
        for t in (1.0, temperature)
    ]
    return (
        f"temperature {temperature:.3f}: expected calibration error on dev {errors[0]:.4f} before, "
        f"{errors[1]:.4f} after"
    )
