"""Tables of our own: frozen vectors on transfer tasks, and fine-tuned models.

A line of `tables/fine_tuning.md` compares a series that began with a trained model (`--init_from`)
with the series of the same config, seeds and steps that began with random weights.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Optional

from disan_tf.common.errors import UserError
from disan_tf.common.files import read_json
from disan_tf.common.tables import csv_table, markdown_table
from disan_tf.reporting.differences import difference
from disan_tf.reporting.result_files import read_any_results, read_predictions
from disan_tf.reporting.results import describe_members, deviation, mean

TRANSFER, FINE_TUNING = "transfer", "fine_tuning"  # names of the results' folders and tables
_REMEDY = "run --mode=transfer again, or restore it from the repository"
_TASK = {
    "dim": int,
    "known_tokens": (float, type(None)),
    "dev": {str: float},
    "test": {str: float},
    "strengths": [float],
}
_RESULT = {
    "command": str,
    "vectors": (str, type(None)),
    "step": int,
    "config": {"encoder": {"name": str}},
    "scores": {str: {str: _TASK}},
}
_ENCODERS = {
    "trained": "`{name}`, step {step:,}",
    "mean_of_word_vectors": "mean of the word vectors of {vectors}",
    "random_weights": "{encoder} with random weights on these word vectors",
}
_DEVIATION = "standard_deviation"
_FURTHER = (_DEVIATION, "spearman", "mse")
_TRANSFER_TITLE = """# Frozen vectors of sentences on the transfer tasks of SentEval

Test accuracy (%), Pearson's r, Spearman's ρ and MSE of a logistic regression on the vectors, by
SentEval's protocol (Conneau and Kiela 2018): nested ten-fold cross-validation for CR, MPQA and SUBJ
(mean and standard deviation), the test parts of TREC, SST-2 and SICK. Two encoders that were never
trained follow each model.

"""
_COLUMNS = {  # column -> task, score on its test part, scale, digits after the point
    "CR": ("cr", "accuracy", 100, 1),
    "MPQA": ("mpqa", "accuracy", 100, 1),
    "SUBJ": ("subj", "accuracy", 100, 1),
    "TREC": ("trec", "accuracy", 100, 1),
    "SST-2": ("sst_2", "accuracy", 100, 1),
    "SICK-E": ("sick_entailment", "accuracy", 100, 1),
    "SICK-R, r": ("sick_relatedness", "pearson", 1, 4),
    "ρ": ("sick_relatedness", "spearman", 1, 4),
    "MSE": ("sick_relatedness", "mse", 1, 4),
}
_SCORES = {"pearson": ("Pearson's r", 1, 4), "accuracy": ("accuracy", 100, 2)}
_FINE_TUNING_TITLE = """# Training that begins with a trained model

Test accuracy (%) or Pearson's r, mean (standard deviation over seeds). Both series of a line have
the same config, seeds and steps. One began with random weights; the other with the named model's
encoder and words (`--init_from`) and a new head. 95 % intervals: bootstrap over seeds and examples.

"""


def transfer_tables(results: Path) -> dict[str, str]:
    """Renders both forms of the table: file name -> text; {} where nothing is recorded.

    Raises:
      UserError: a result below the folder `results` is damaged.
    """
    paths = sorted((results / TRANSFER).glob("*.json"))
    found = {path.stem: read_json(path, _REMEDY, _RESULT) for path in paths}
    if not found:
        return {}
    vectors = [line for name, result in found.items() for line in _vectors(name, result)]
    remarks = "".join(f"- {name}: `{result['command']}`.\n" for name, result in found.items())
    lines = [line for name, result in found.items() for line in _lines(name, result)]
    markdown = f"{_TRANSFER_TITLE}{markdown_table(vectors)}\n{remarks}"
    return {f"{TRANSFER}.md": markdown, f"{TRANSFER}.csv": csv_table(lines)}


def _vectors(name: str, result: dict) -> Iterator[dict]:
    """Yields a line for each encoder, with its scores on all tasks."""
    about = {**result, "name": name, "encoder": result["config"]["encoder"]["name"]}
    for encoder, tasks in result["scores"].items():
        dims = dict.fromkeys(str(scores["dim"]) for scores in tasks.values())
        yield {
            "vectors": _ENCODERS[encoder].format(**about),
            "dim": ", ".join(dims),
            "known tokens": _known(tasks),
            **{column: _task_cell(tasks, *score) for column, score in _COLUMNS.items()},
        }


def _task_cell(tasks: dict, task: str, score: str, scale: int, digits: int) -> str:
    """Formats a score and, in parentheses, its deviation; "" for a task without scores."""
    if task not in tasks:
        return ""
    test = tasks[task]["test"]
    return _show(test[score], test.get(_DEVIATION), scale, digits)


def _known(tasks: dict) -> str:
    """Returns the range, over the tasks, of an encoder's share of known tokens."""
    shares = [scores["known_tokens"] for scores in tasks.values()]
    if None in shares:
        return ""
    ends = dict.fromkeys(f"{100 * share:.1f}" for share in (min(shares), max(shares)))
    return f"{' to '.join(ends)} %"


def _lines(name: str, result: dict) -> Iterator[dict]:
    """Yields a line with all recorded values for each encoder and task."""
    for encoder, tasks in result["scores"].items():
        for task, scores in tasks.items():
            (criterion,) = scores["dev"]
            yield {
                "model": name,
                "vectors": encoder,
                "task": task,
                "dim": scores["dim"],
                "known_tokens": scores["known_tokens"],
                "score": criterion,
                "dev": scores["dev"][criterion],
                "test": scores["test"][criterion],
                **{key: scores["test"].get(key, "") for key in _FURTHER},
                "strengths": " ".join(map(str, scores["strengths"])),
            }


def fine_tuning_tables(checkpoints: Path) -> dict[str, str]:
    """Renders both forms of the table: file name -> text; {} where nothing is recorded.

    Raises:
      UserError: a result below `checkpoints` is damaged, or lacks its counterpart.
    """
    results = read_any_results(checkpoints / "results" / FINE_TUNING)
    predictions = read_predictions(checkpoints / "predictions" / FINE_TUNING)
    lines, remarks = [], ""
    for name, tuned in results.items():
        if "init_from" in tuned:
            counterpart = _counterpart(checkpoints, name, results)
            answers = predictions.get(name), predictions.get(counterpart)
            lines.append(_gain(tuned, results[counterpart], answers))
            remarks += f"- `{tuned['command']}`.\n"
    if not lines:
        return {}
    remarks = f"Without `--init_from` for random weights:\n\n{remarks}"
    markdown = f"{_FINE_TUNING_TITLE}{markdown_table(lines)}\n{remarks}"
    return {f"{FINE_TUNING}.md": markdown, f"{FINE_TUNING}.csv": csv_table(lines)}


def _counterpart(checkpoints: Path, name: str, results: dict) -> str:
    """Returns the name of the series of the same config that began with random weights."""
    for other, result in results.items():
        same = result["config"] == results[name]["config"]
        if same and "init_from" not in result and _seeds(result) == _seeds(results[name]):
            return other
    raise UserError(
        f"{checkpoints / 'results' / FINE_TUNING / name}.json has no counterpart without "
        "--init_from of the same config and seeds; record one beside it, or delete it."
    )


def _seeds(result: dict) -> list:
    return [(member["seed"], member["fold"]) for member in result.get("members", [])]


def _gain(tuned: dict, random: dict, answers: tuple) -> dict:
    score = next(score for score in _SCORES if mean(tuned, "test", score) is not None)
    title, scale, digits = _SCORES[score]
    gain = scale * (mean(tuned, "test", score) - mean(random, "test", score))
    interval = difference(*answers, score, over_seeds=True) if all(answers) else None
    ends = (f"{scale * end:+.{digits}f}" for end in interval[1:]) if interval else ()
    return {
        "config": tuned["config"]["name"],
        "score": title,
        "seeds": describe_members(tuned),
        "steps": f"{tuned['config']['train']['steps']:,}",
        "random weights": _cell(random, score, scale, digits),
        f"from {tuned['init_from']['name']}": _cell(tuned, score, scale, digits),
        "gain": f"{gain:+.{digits}f}",
        "interval": " to ".join(ends),
        "words of the trained model": f"{tuned['init_from']['words_found']:,}",
    }


def _cell(run: dict, score: str, scale: int, digits: int) -> str:
    return _show(mean(run, "test", score), deviation(run, "test", score), scale, digits)


def _show(value: float, spread: Optional[float], scale: int, digits: int) -> str:
    """Formats a score and, in parentheses, its standard deviation if there is one."""
    text = f"{scale * value:.{digits}f}"
    return text if spread is None else f"{text} ({scale * spread:.{digits}f})"
