"""The table of `--mode=transfer`'s recorded results: `tables/transfer.md` and `.csv`."""

from collections.abc import Iterator
from pathlib import Path

from disan_tf.common.files import read_json
from disan_tf.common.tables import csv_table, markdown_table

NAME = "transfer"  # name of the results' folder and of the table
_REMEDY = "run --mode=transfer again, or restore it from the repository"
_SCORES = {
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
    "scores": {str: {str: _SCORES}},
}
_ENCODERS = {
    "trained": "`{name}`, step {step:,}",
    "mean_of_word_vectors": "mean of the word vectors of {vectors}",
    "random_weights": "{encoder} with random weights on these word vectors",
}
_DEVIATION = "standard_deviation"
_FURTHER = (_DEVIATION, "spearman", "mse")
_TITLE = """# Frozen vectors of sentences on the transfer tasks of SentEval

Accuracy on test in per cent, Pearson's r, Spearman's ρ and MSE of a logistic regression on the
vectors, by the protocol of SentEval (Conneau and Kiela 2018): CR, MPQA and SUBJ by nested ten-fold
cross-validation, with the standard deviation over the folds; TREC, SST-2 and SICK on their test
parts. Below the vectors of a model stand those of two encoders that were never trained.

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


def transfer_tables(results: Path) -> dict[str, str]:
    """Renders both forms of the table: file name -> text; {} where nothing is recorded.

    Args:
      results: the folder with the recorded results.

    Raises:
      UserError: a recorded result is damaged.
    """
    paths = sorted((results / NAME).glob("*.json"))
    found = {path.stem: read_json(path, _REMEDY, _RESULT) for path in paths}
    if not found:
        return {}
    vectors = [line for name, result in found.items() for line in _vectors(name, result)]
    remarks = "".join(f"- {name}: `{result['command']}`.\n" for name, result in found.items())
    lines = [line for name, result in found.items() for line in _lines(name, result)]
    markdown = f"{_TITLE}{markdown_table(vectors)}\n{remarks}"
    return {f"{NAME}.md": markdown, f"{NAME}.csv": csv_table(lines)}


def _vectors(name: str, result: dict) -> Iterator[dict]:
    """Yields a line for each encoder, with its scores on all tasks."""
    about = {**result, "name": name, "encoder": result["config"]["encoder"]["name"]}
    for encoder, tasks in result["scores"].items():
        dims = dict.fromkeys(str(scores["dim"]) for scores in tasks.values())
        yield {
            "vectors": _ENCODERS[encoder].format(**about),
            "dim": ", ".join(dims),
            "known tokens": _known(tasks),
            **{column: _cell(tasks, *score) for column, score in _COLUMNS.items()},
        }


def _cell(tasks: dict, task: str, score: str, scale: int, digits: int) -> str:
    """Formats a score and, in parentheses, its deviation; "" for a task without scores."""
    if task not in tasks:
        return ""
    test = tasks[task]["test"]
    value = f"{scale * test[score]:.{digits}f}"
    return f"{value} ({scale * test[_DEVIATION]:.{digits}f})" if _DEVIATION in test else value


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
