"""The table of models whose training began with a trained model.

A line of `tables/fine_tuning.md` compares a series that began with a trained model (`--init_from`)
with the series of the same config, seeds and steps that began with random weights.
"""

from pathlib import Path

from disan_tf.common.errors import UserError
from disan_tf.common.tables import csv_table, markdown_table
from disan_tf.reporting.differences import difference
from disan_tf.reporting.result_files import read_any_results, read_predictions
from disan_tf.reporting.results import describe_members, deviation, mean

FINE_TUNING = "fine_tuning"  # the name of the results' folder and of the table
_SCORES = {"pearson": ("Pearson's r", 1, 4), "accuracy": ("accuracy", 100, 2)}
_FINE_TUNING_TITLE = """# Training that begins with a trained model

Test accuracy (%) or Pearson's r, mean (standard deviation over seeds). Both series of a line have
the same config, seeds and steps. One began with random weights; the other with the named model's
encoder and words (`--init_from`) and a new head. 95 % intervals: bootstrap over seeds and examples.

"""


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
    """Formats a run's test score and, in parentheses, its standard deviation if there is one."""
    spread = deviation(run, "test", score)
    text = f"{scale * mean(run, 'test', score):.{digits}f}"
    return text if spread is None else f"{text} ({scale * spread:.{digits}f})"
