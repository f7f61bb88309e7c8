"""The papers' tables with our runs beside them, as Markdown and CSV.

A paper's row has a line for each recorded run of its model, or says "not run". In Markdown, runs
with other word vectors or another subset have a part of their own, see `Table.by_inputs`.
"""

import textwrap
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from disan_tf.common.tables import csv_table, markdown_table
from disan_tf.reporting.deviations import link_to_deviations
from disan_tf.reporting.differences import Answers, difference_over_all
from disan_tf.reporting.paper_tables.all_tables import TABLES
from disan_tf.reporting.paper_tables.elmo import accuracy_per_epoch, costs, render_confusions
from disan_tf.reporting.paper_tables.table import VECTOR_DIMS, Row, Score, Table
from disan_tf.reporting.results import (
    UNKNOWN,
    describe_examples,
    describe_members,
    describe_vectors,
)

_OURS, _DEVIATION = ", ours", ", standard deviation"
_SNLI_DEV_PAIRS = 9842
_NOT_RUN = "not run"
_REMAINING = (
    "Remaining runs and their estimated hours (AMD EPYC, 1 thread, beside another training):"
)
_NOTE = 160  # characters of a note in Markdown
_OPTIMISTIC = "best of its own curve (optimistic)"
_TIMES = ("seconds", "inference")  # the first words of columns that a benchmark fills
# The reasons of empty cells in a recorded run's line.
_NOT_EVALUATED, _NOT_WATCHED, _NOT_MEASURED = "not evaluated", "not watched", "not measured"
_NO_PREDICTIONS, _NO_PEER = "no predictions recorded", "no run of {} on these data"


def render_tables(
    results: dict[str, dict],
    predictions: Mapping[str, Sequence[Answers]] = MappingProxyType({}),
    speeds: Mapping[str, dict] = MappingProxyType({}),
) -> dict[str, str]:
    """Renders all tables: file name -> text; figures without data have no file.

    Args:
      results: see `disan_tf.reporting.result_files.read_results`.
      predictions: see `disan_tf.reporting.result_files.read_predictions`.
      speeds: encoder of DiSAN's Table 1 -> its speed, see `read_speeds`.
    """
    files = {}
    for name, table in TABLES.items():
        mains = table.main_row.runs(results)
        lines = []
        for row in table.rows:
            for run_name, run in (row.runs(results) or {_NOT_RUN: {}}).items():
                apart = _difference(table, row, run_name, run, mains, predictions)
                lines.append(_line(table, row, run_name, run, speeds, apart))
        files[f"{name}.md"] = _markdown(table, lines, table.by_inputs(results))
        files[f"{name}.csv"] = csv_table(lines)
    files["elmo_disan_tables_2_3.md"] = render_confusions(results)
    figures = {
        "disan_figure_5.csv": accuracy_by_length(results),
        "elmo_disan_figure_6.csv": accuracy_per_epoch(results),
        "elmo_disan_cost.csv": costs(results),
    }
    return {**files, **{name: csv_table(lines) for name, lines in figures.items() if lines}}


def _line(table: Table, row: Row, name: str, run: dict, speeds, apart: str) -> dict:
    """Returns the paper's figures and one run's figures, in the order of the columns."""
    has_run = bool(run)
    narrow = has_run and run["config"]["data"]["embedding_dim"] < max(VECTOR_DIMS)
    line = {
        "model": row.model,
        "run": name,
        "trained": describe_members(run) if has_run else "",
        "training examples": describe_examples(run) if has_run else "",
        "tokens with vectors": describe_vectors(run) if has_run else "",
        "parameters, paper": row.parameters,
        "parameters, ours": f"{run['parameters']:,}" if has_run else "",
        **_times(row, {} if narrow else speeds),  # measured on vectors as large as the papers'
        **_ours(run, table.headline, "dev", f"dev{_OURS}"),
    }
    for score, figure in zip(table.scores, row.figures):
        line[f"{score.name}, paper"] = figure
        line.update(_ours(run, score, score.split, f"{score.name}{_OURS}"))
        if score.split != "train":
            line.update(_ours(run, score, f"best_on_{score.split}", f"{score.name}, {_OPTIMISTIC}"))
    for score in table.further:
        line.update(_ours(run, score, score.split, score.name))
        if "policy" in run.get("config", ()):  # of hard attention
            line[score.name] = line[score.name] or UNKNOWN
    main = f"{table.headline.name}, difference to {table.main_row.model} (95 % interval)"
    command = run["command"] if has_run else row.command
    about = {"row": row.name if name in (row.recorded, _NOT_RUN) else "", "command": command or ""}
    return {**line, main: apart, **about, "note": run.get("note") or ""}


def _times(row: Row, speeds) -> dict:
    """Returns the paper's times on SNLI, and ours where a benchmark measured the row's encoder.

    Epochs cover the whole corpus; inference covers all dev pairs (ReSAN's Table 1).
    """
    speed = speeds.get(row.variant or row.model.lower(), {}) if row.seconds or row.inference else {}
    epoch, pairs = speed.get("epoch_seconds"), speed.get("inference_pairs_per_second")
    times = {
        "seconds an epoch, paper": row.seconds,
        "seconds an epoch of the whole corpus, ours": f"{epoch:,.0f}" if epoch else "",
    }
    if row.inference:
        times["inference seconds, paper"] = row.inference
        times["inference seconds, ours"] = f"{_SNLI_DEV_PAIRS / pairs:.1f}" if pairs else ""
    return times


def _difference(table: Table, row: Row, name: str, run: dict, mains, predictions) -> str:
    """Returns the difference to the paper's own model, or the reason why there is none.

    The main model's run is that with most members on the same data. The paper's own model and a
    model without a run have no difference, "".
    """
    if not run or row.variant == table.main:
        return ""
    peers = [main for main in mains if _data(table, mains[main]) == _data(table, run)]
    if not peers:
        return _NO_PEER.format(table.main_row.model)
    peer = max(peers, key=lambda main: len(mains[main].get("members", [0])))
    if not {name, peer} <= predictions.keys():
        return _NO_PREDICTIONS
    score = table.headline
    found, covers = difference_over_all(predictions[name], predictions[peer], score.key)
    cells = [f"{score.scale * part:+.{score.digits}f}" for part in found or ()]
    return f"{cells[0]} ({cells[1]} to {cells[2]}; {covers})" if cells else ""


def _data(table: Table, run):
    """Returns a run's data options, and how many training examples it drew, 0 = all."""
    config = run["config"]
    apart = ("seed", *table.distinguishing_options)
    options = {key: value for key, value in config["data"].items() if key not in apart}
    return options, config["train"].get("examples", 0)


def _ours(run, score: Score, split: str, name: str) -> dict:
    """Returns value and standard deviation as text, "" where there is none."""
    return {name: score.mean(run, split), f"{name}{_DEVIATION}": score.deviation(run, split)}


def accuracy_by_length(results) -> list[dict]:
    """Returns the data of Figure 5: accuracy on SST's test sentences by length per series."""
    (row,) = (row for row in TABLES["disan_table_2"].rows if row.variant == "")
    return [
        {
            "run": name,
            "tokens": tokens,
            "sentences": scores["sentences"],
            "accuracy, %": _per_cent(scores["accuracy"]),
            "standard deviation, %": _per_cent(scores["standard_deviation"]),
        }
        for name, run in row.runs(results).items()
        for tokens, scores in run.get("by_length", {}).items()
    ]


def _per_cent(share):
    return "" if share is None else f"{100 * share:.2f}"


def _markdown(table: Table, lines, kinds: dict[str, list[str]]) -> str:
    """Renders a part for each kind of inputs, missing runs in the first; then commands."""
    title = f"# Table {table.number} of the {table.paper} paper: {table.title}\n\n"
    caption = f"{table.caption}\n\n" if table.caption else ""
    link = f"{link_to_deviations(table.paper)}.\n\n"
    first = next(iter(kinds))
    parts = ""
    for kind, names in kinds.items():
        runs = {*names, _NOT_RUN} if kind == first else {*names}
        heading = f"## With {kind}\n\n" if kind else ""
        parts += f"{heading}{_part([line for line in lines if line['run'] in runs])}\n"
    remarks = "".join(f"{_remark(line)}\n" for line in lines)
    picture = f"![dev scores by epoch, and scores by length](../figures/{table.name}.png)\n\n"
    has_runs = any(line["run"] != _NOT_RUN for line in lines)  # see `figures.table_curves`
    remaining = "".join(f"- {run.hours} hours: `{run.run}`.\n" for run in table.remaining)
    rest = f"\n{_REMAINING}\n\n{remaining}" if remaining else ""
    return f"{title}{caption}{link}{parts}{picture if has_runs else ''}{remarks}{rest}"


def _part(lines) -> str:
    """Renders lines without empty columns and with deviations in parentheses."""
    hidden = ("row", "command", "note")
    columns = [
        column
        for column in lines[0]
        if column not in hidden
        and not column.endswith(_DEVIATION)
        and any(line[column] for line in lines)
    ]
    return markdown_table([{column: _cell(line, column) for column in columns} for line in lines])


def _cell(line, column):
    """Returns a cell's text; an empty cell of a recorded run gets the reason."""
    if not line[column] and line["run"] != _NOT_RUN:
        return _reason(column)
    spread = line.get(column + _DEVIATION)
    return f"{line[column]} ({spread})" if spread else line[column]


def _reason(column: str) -> str:
    """Returns the reason why a recorded run has no value in a column, or ""."""
    if column.endswith(_OPTIMISTIC):
        return _NOT_WATCHED
    if not column.endswith(_OURS):
        return ""
    return _NOT_MEASURED if column.startswith(_TIMES) else _NOT_EVALUATED


def _remark(line):
    """Returns how to train a line's run, and why its figures differ from the paper's.

    The run's result, which is linked, has the command and the whole note.
    """
    if line["run"] == _NOT_RUN:
        return f"- {line['model']}: `{line['command']}`."
    note = textwrap.shorten(line["note"].rstrip("."), _NOTE, placeholder=" ...")
    parts = [f"`--mode=reproduce --row={line['row']}`" if line["row"] else "", note]
    about = ". ".join(filter(None, parts)) or "no note"
    link = f"[{line['run']}](../results/{line['run']}.json)"
    return f"- {line['model']}, {link}: {about}{'' if about.endswith('...') else '.'}"
