"""The table of `--mode=transfer`'s recorded results: `tables/transfer.md` and `.csv`."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from disan_tf.common.files import read_json
from disan_tf.reporting.markdown import csv_table, markdown_table

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


class Column(NamedTuple):
    """A table's column.

    Attributes:
      head: its heading.
      task: a key of a result's scores.
      score: a score on the task's test part.
      scale: 100 where the table has per cent.
      digits: digits after the point.
    """

    head: str
    task: str
    score: str = "accuracy"
    scale: int = 100
    digits: int = 1

    def cell(self, tasks: dict) -> str:
        """Formats the score and, in parentheses, its deviation; "" for a task without scores."""
        if self.task not in tasks:
            return ""
        test = tasks[self.task]["test"]
        parts = [self._text(test[self.score])]
        if _DEVIATION in test:
            parts.append(f"({self._text(test[_DEVIATION])})")
        return " ".join(parts)

    def _text(self, value: float) -> str:
        return f"{self.scale * value:.{self.digits}f}"


_COLUMNS = (
    Column("CR", "cr"),
    Column("MPQA", "mpqa"),
    Column("SUBJ", "subj"),
    Column("TREC", "trec"),
    Column("SST-2", "sst_2"),
    Column("SICK-E", "sick_entailment"),
    Column("SICK-R, r", "sick_relatedness", "pearson", 1, 4),
    Column("ρ", "sick_relatedness", "spearman", 1, 4),
    Column("MSE", "sick_relatedness", "mse", 1, 4),
)


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
    head = ("vectors", "dim", "known tokens", *(column.head for column in _COLUMNS))
    rows = [row for name, result in found.items() for row in _rows(name, result)]
    remarks = "".join(f"- {name}: `{result['command']}`.\n" for name, result in found.items())
    lines = [line for name, result in found.items() for line in _lines(name, result)]
    markdown = f"{_TITLE}{markdown_table(head, rows)}\n{remarks}"
    return {f"{NAME}.md": markdown, f"{NAME}.csv": csv_table(lines)}


def _rows(name: str, result: dict) -> Iterator[list[str]]:
    about = {**result, "name": name, "encoder": result["config"]["encoder"]["name"]}
    for encoder, tasks in result["scores"].items():
        dims = {str(scores["dim"]) for scores in tasks.values()}
        cells = [column.cell(tasks) for column in _COLUMNS]
        yield [_ENCODERS[encoder].format(**about), ", ".join(dims), _known(tasks), *cells]


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
