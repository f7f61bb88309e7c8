"""The table of fine-tuned models: `tables/fine_tuning.md` and `.csv`.

Each line compares a series that began with a trained model (`--init_from`) with the series of the
same config, seeds and steps that began with random weights, both recorded below
<output>/results/fine_tuning/.
"""

from pathlib import Path

from disan_tf.common.errors import UserError
from disan_tf.common.tables import csv_table, markdown_table
from disan_tf.reporting.differences import difference
from disan_tf.reporting.result_files import read_any_results, read_predictions
from disan_tf.reporting.results import describe_members, deviation, mean

NAME = "fine_tuning"  # name of the results' folder and of the table
_SCORES = {"pearson": ("Pearson's r", 1, 4), "accuracy": ("accuracy", 100, 2)}
_TITLE = """# Training that begins with a trained model

Scores on test: accuracy in per cent, or Pearson's r. Both series of a line have the same config,
seeds and number of steps; one began with random weights, and one with the encoder and the words of
the named model (`--init_from`), and with a new head. In parentheses is the standard deviation over
the seeds. The interval of the gain is a bootstrap over seeds and test examples, of 95 %.

"""


def fine_tuning_tables(checkpoints: Path) -> dict[str, str]:
    """Renders both forms of the table: file name -> text; {} where nothing is recorded.

    Args:
      checkpoints: the folder with `results/fine_tuning/` and `predictions/fine_tuning/`.

    Raises:
      UserError: a recorded result is damaged, or lacks its counterpart.
    """
    results = read_any_results(checkpoints / "results" / NAME)
    predictions = read_predictions(checkpoints / "predictions" / NAME)
    lines, remarks = [], ""
    for name, tuned in results.items():
        if "init_from" in tuned:
            counterpart = _counterpart(checkpoints, name, results)
            answers = predictions.get(name), predictions.get(counterpart)
            lines.append(_line(tuned, results[counterpart], answers))
            remarks += f"- `{tuned['command']}`.\n"
    if not lines:
        return {}
    markdown = (
        f"{_TITLE}{markdown_table(lines)}\nWithout `--init_from` for random weights:\n\n{remarks}"
    )
    return {f"{NAME}.md": markdown, f"{NAME}.csv": csv_table(lines)}


def _counterpart(checkpoints: Path, name: str, results: dict) -> str:
    """Returns the name of the series of the same config that began with random weights."""
    for other, result in results.items():
        same = result["config"] == results[name]["config"]
        if same and "init_from" not in result and _seeds(result) == _seeds(results[name]):
            return other
    raise UserError(
        f"{checkpoints / 'results' / NAME / name}.json has no counterpart without --init_from of "
        "the same config and seeds; record one beside it, or delete it."
    )


def _seeds(result: dict) -> list:
    return [(member["seed"], member["fold"]) for member in result.get("members", [])]


def _line(tuned: dict, random: dict, answers: tuple) -> dict:
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
    spread = deviation(run, "test", score)
    value = f"{scale * mean(run, 'test', score):.{digits}f}"
    return value if spread is None else f"{value} ({scale * spread:.{digits}f})"
