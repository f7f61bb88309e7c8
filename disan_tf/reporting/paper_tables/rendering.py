"""The tables of the papers with our runs beside them, as Markdown and CSV.

A row of a paper has a line for each recorded run of its model, or says "not run".
"""

import csv
import io

from disan_tf.reporting.paper_tables.all_tables import TABLES
from disan_tf.reporting.paper_tables.elmo import accuracy_per_epoch, costs, render_confusions
from disan_tf.reporting.paper_tables.table import Row, Score, Table
from disan_tf.reporting.results import describe_data, describe_members, deviation, mean
from disan_tf.training.run_summary import CRITERIA

_DEVIATION = ", standard deviation"
_FIGURE_5 = ("run", "tokens", "sentences", "accuracy", "standard_deviation")
_FIGURE_6 = ("run", "epoch", "dev", "test")
_COSTS = (
    "run", "model", "parameters", "seconds an epoch", "ratio to GloVe", "ratio, paper",
)  # fmt: skip
_OPTIMISTIC = "best of its own curve (optimistic)"


def render_tables(results: dict[str, dict]) -> dict[str, str]:
    """File name -> text, of all tables.

    Args:
      results: by name, what `disan_tf.reporting.results` holds.
    """
    files = {}
    for name, table in TABLES.items():
        lines = [line for row in table.rows for line in _lines(table, row, _runs_of(row, results))]
        files[f"{name}.md"] = _markdown(table, lines)
        files[f"{name}.csv"] = _csv(lines, list(lines[0]))
    files["disan_figure_5.csv"] = _csv(_accuracy_by_length(results), _FIGURE_5)
    files["elmo_disan_figure_6.csv"] = _csv(accuracy_per_epoch(results), _FIGURE_6)
    files["elmo_disan_cost.csv"] = _csv(costs(results), _COSTS)
    files["elmo_disan_tables_2_3.md"] = render_confusions(results)
    return files


def _runs_of(row: Row, results):
    return {name: run for name, run in results.items() if row.matches(run["config"])}


def _lines(table: Table, row: Row, runs) -> list[dict]:
    """Column -> cell of each of our runs of a row; of one line without a run."""
    if not runs:
        return [_line(table, row, "not run", {"command": row.command})]
    return [
        _line(table, row, name, {"trained": describe_members(run), **run})
        for name, run in runs.items()
    ]


def _line(table: Table, row: Row, name: str, run: dict) -> dict:
    """The paper's figures with those of one run, in the order of the columns."""
    size, seconds = run.get("parameters"), run.get("seconds_per_epoch")
    dev = next(score for score in table.scores if score.key in CRITERIA)
    line = {
        "model": row.model,
        "run": name,
        "trained": run.get("trained", ""),
        "parameters, paper": row.parameters,
        "parameters, ours": f"{size:,}" if size else "",
        "seconds an epoch, paper": row.seconds,
        "seconds an epoch, ours": f"{seconds:,.0f}" if seconds else "",
        **({"inference seconds, paper": row.inference} if row.inference else {}),
        **_ours(run, dev, "dev", "dev, ours"),
    }
    for score, figure in zip(table.scores, row.figures):
        line[f"{score.name}, paper"] = figure
        line.update(_ours(run, score, score.split, f"{score.name}, ours"))
        if score.split != "train":
            line.update(_ours(run, score, f"best_on_{score.split}", f"{score.name}, {_OPTIMISTIC}"))
    for score in table.further:
        line.update(_ours(run, score, score.split, score.name))
    said = {key: run.get(key) or "" for key in ("command", "note")}
    return {**line, **said, "data": describe_data(run)}


def _ours(run, score: Score, split: str, name: str) -> dict:
    """Value and standard deviation as text, "" where there is none."""
    columns = {name: mean, f"{name}{_DEVIATION}": deviation}
    values = {column: statistic(run, split, score.key) for column, statistic in columns.items()}
    return {
        column: "" if value is None else f"{score.scale * value:.{score.digits}f}"
        for column, value in values.items()
    }


def _accuracy_by_length(results) -> list[dict]:
    """Figure 5: accuracy on SST's test sentences by length, for each series of DiSAN."""
    (row,) = (row for row in TABLES["disan_table_2"].rows if row.variant == "")
    return [
        {"run": name, "tokens": tokens, **{key: each[key] for key in _FIGURE_5[2:]}}
        for name, run in _runs_of(row, results).items()
        for tokens, each in run.get("by_length", {}).items()
    ]


def _markdown(table: Table, lines) -> str:
    """Empty columns are left out; deviations stand in parentheses; commands follow as a list."""
    hidden = ("command", "data", "note")
    columns = [
        column
        for column in lines[0]
        if column not in hidden
        and not column.endswith(_DEVIATION)
        and any(line[column] for line in lines)
    ]
    rows = [columns, ["---"] * len(columns)]
    rows += [[_cell(line, column) for column in columns] for line in lines]
    texts = [f"# Table {table.number} of the {table.paper} paper: {table.title}", ""]
    texts += [f"| {' | '.join(row)} |" for row in rows] + [""]
    texts += [_remark(line) for line in lines]
    return "\n".join(texts) + "\n"


def _cell(line, column):
    spread = line.get(column + _DEVIATION)
    return f"{line[column]} ({spread})" if spread else line[column]


def _remark(line):
    """The command of a line, and what its figures depend on."""
    command = f"`{line['command']}`" if line["command"] else "command not recorded"
    remarks = "; ".join(line[key].rstrip(".") for key in ("data", "note") if line[key])
    return f"- {line['model']}, {line['run']}: {command}{'. ' if remarks else ''}{remarks}."


def _csv(lines, columns) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()
