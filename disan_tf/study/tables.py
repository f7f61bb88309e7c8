"""The papers' tables with our runs beside them, as Markdown and CSV.

A paper's row has a line for each recorded run of its model, or says "not run". In Markdown, runs
with other word vectors, another subset or re-balanced phrases have a part of their own, see
`Table.by_inputs`.
"""

import textwrap
from collections import Counter
from collections.abc import Mapping
from typing import Optional

from disan_tf.common.checks import count
from disan_tf.common.tables import csv_table, markdown_table
from disan_tf.study.claims.conditions import choose_runs, spread_run, unequal_conditions
from disan_tf.study.claims.rows import score_difference
from disan_tf.study.papers import TABLES, VECTOR_DIMS, Row, Score, Table, find_row
from disan_tf.study.results import (
    UNKNOWN,
    Records,
    describe_examples,
    describe_members,
    describe_vectors,
    difference_to_published,
    members_of,
    training_share,
)
from disan_tf.study.settings import link_to_settings

_OURS, _SPREAD = ", ours", ", standard deviation"
_SNLI_DEV_PAIRS = 9842
_NOT_RUN = "not run"
_REMAINING = (
    "Remaining runs and their estimated hours (AMD EPYC, 1 thread, beside another training)"
)
_NOTE = 160  # characters of a note in Markdown
_TO_PAPER = ", difference to the paper (95 % interval)"
_CONSTANT = "Intervals of differences to the paper take the paper's score as a constant."
_PEERS = (
    'The column "compared run" names the run of {0} in the difference. Both runs read the same '
    'data. "Other conditions" means that no run of {0} was trained under the same conditions.'
)
_OPTIMISTIC = "best score of the curve (optimistic)"
_SPEEDS = "disan_encoders"  # the benchmark of the encoders in DiSAN's Table 1
_TIMES = ("seconds", "inference")  # the first words of columns that a benchmark fills
_CSV_ONLY = ("row", "command", "note")

_RUNS = """# All recorded runs

Accuracies are per cent; a number in parentheses is the standard deviation over seeds or folds.
Checkpoints were selected on the development set. Hours are wall-clock hours of all trainings of a
run with their evaluations. They are upper bounds, because other programs shared the cores.
`python run.py --mode=report` writes this table from [results](../results).

"""
_SCORES = (  # the table has the first that a run has
    Score("accuracy", "test"),
    Score("Pearson's r", "test", "pearson", 1, 4, "r"),
    Score("perplexity", "test", "perplexity", 1, 2, "perplexity"),
)


def render_tables(records: Records) -> dict[str, str]:
    """Renders the papers' tables: file name -> text."""
    files, results = {}, records.results
    for name, table in TABLES.items():
        mains = table.main_row.runs_and_trials(results)
        lines = [
            _line(table, row, run_name, run, mains, records)
            for row in table.rows
            for run_name, run in {
                **({} if row.runs(results) else {_NOT_RUN: {}}),
                **row.runs_and_trials(results),
            }.items()
        ]
        files[f"{name}.md"] = _markdown(table, lines, table.by_inputs(results))
        files[f"{name}.csv"] = csv_table(lines)
    return files


def _line(table: Table, row: Row, name: str, run: dict, mains, records: Records) -> dict:
    """Returns the paper's figures and one run's figures, in the order of the columns.

    A row without a run has the name `_NOT_RUN` and the run {}. `mains` are the main row's runs.
    """
    line = {
        "model": row.model,
        "run": name,
        "trained": describe_members(run) if run else "",
        "training examples": describe_examples(run) if run else "",
        "tokens with vectors": describe_vectors(run) if run else "",
        "parameters, paper": row.parameters,
        "parameters, ours": f"{run['parameters']:,}" if run else "",
        **_times(row, run, records.benchmarks),
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
    line[f"{table.headline.name}{_TO_PAPER}"] = _difference_to_paper(
        table, row, name, run, records.predictions
    )
    gain, peer = _difference(table, row, name, run, mains, records)
    line.update({f"{table.headline.name}{_to_main(table)}": gain, "compared run": peer})
    line["row"] = row.name if name in (row.recorded, _NOT_RUN) else ""
    line["command"] = (run["command"] if run else row.command) or ""
    return {**line, "note": run.get("note") or ""}


def _to_main(table: Table) -> str:
    return f", difference to {table.main_row.model} (95 % interval)"


def _times(row: Row, run: dict, benchmarks) -> dict:
    """Returns the paper's times on SNLI, and ours where a benchmark measured the row's encoder.

    Epochs cover the whole corpus; inference covers all dev pairs (ReSAN's Table 1). They were
    measured on vectors as large as the papers', and do not stand beside runs on smaller ones.
    """
    speed = {}
    narrow = run and run["config"]["data"]["embedding_dim"] < max(VECTOR_DIMS)
    if (row.seconds or row.inference) and not narrow and _SPEEDS in benchmarks:
        encoders = benchmarks[_SPEEDS]["encoders"]["encoders"]
        speed = encoders.get(row.variant or row.model.lower(), {})
    epoch, pairs = speed.get("epoch_seconds"), speed.get("inference_pairs_per_second")
    times = {
        "seconds per epoch, paper": row.seconds,
        "seconds per epoch of the whole corpus, ours": f"{epoch:,.0f}" if epoch else "",
    }
    if row.inference:
        times["inference seconds, paper"] = row.inference
        times["inference seconds, ours"] = f"{_SNLI_DEV_PAIRS / pairs:.1f}" if pairs else ""
    return times


def _difference(table: Table, row: Row, name: str, run: dict, mains, records) -> tuple[str, str]:
    """Returns the difference to the paper's own model, or why there is none, and the compared run.

    `choose_runs` chooses the main model's run among those on the same data, and `spread_run` the
    spread of a single seed, as for the claims. The paper's own model and a model without a run have
    no difference, "".
    """
    if not run or row.variant == table.main:
        return "", ""
    data = _data(table, run)
    peers = {main: result for main, result in mains.items() if _data(table, result) == data}
    pair = choose_runs({name: run}, peers, records.predictions, table.free, table.apart)
    if pair is None:
        return f"no run of {table.main_row.model} on these data", ""
    if not {*pair} <= records.predictions.keys():
        return "no predictions recorded", ""
    score, peer = table.headline, pair[1]
    spread = spread_run(table, score, pair, records, table.free)
    found = score_difference(pair, records, score, spread)
    unequal = unequal_conditions(run, peers[peer], {*table.free, *table.apart})
    return score.show_difference(*found), f"{peer}{', other conditions' if unequal else ''}"


def _difference_to_paper(table: Table, row: Row, name: str, run: dict, predictions) -> str:
    """Returns the difference to the paper's score, "" unless the run read all training examples."""
    figure, score = row.figures[table.scores.index(table.headline)], table.headline
    if not run or not figure or training_share(run) != 1:
        return ""
    published = float(figure.split()[0]) / score.scale
    kept = predictions.get(name, ())
    found = difference_to_published(run, kept, score.split, score.key, published)
    return score.show_difference(*found)


def _data(table: Table, run):
    """Returns a run's data options, and how many training examples it read and drew, 0 = all.

    Options that are off are left out, because older results lack them.
    """
    config = run["config"]
    apart = ("seed", *table.distinguishing_options)
    options = {key: value for key, value in config["data"].items() if value and key not in apart}
    return options, run["data"]["training_read"], config["train"].get("examples", 0)


def _ours(run, score: Score, split: str, name: str) -> dict:
    return dict(zip((name, f"{name}{_SPREAD}"), score.cells(run, split)))


def _markdown(table: Table, lines, kinds: dict[str, list[str]]) -> str:
    """Renders a part for each kind of inputs, missing runs in the first; then commands."""
    parts = [f"# Table {table.number} of the {table.paper} paper: {table.title}\n"]
    parts += [f"{table.caption}\n"] if table.caption else []
    parts.append(f"{link_to_settings(table.paper)}.\n")
    filled = [column for line in lines for column, value in line.items() if value]
    if any(column.endswith(_TO_PAPER) for column in filled):
        parts.append(f"{_CONSTANT}\n")
    if any(column.endswith(_to_main(table)) for column in filled):
        parts.append(f"{_PEERS.format(table.main_row.model)}\n")
    for number, (kind, names) in enumerate(kinds.items()):
        runs = names if number else [*names, _NOT_RUN]
        parts += [f"## With {kind}\n"] if kind else []
        parts.append(_part([line for line in lines if line["run"] in runs]))
    if any(line["run"] != _NOT_RUN for line in lines):  # see `draw_table_curves`
        parts.append(f"![dev scores by epoch, and scores by length](../figures/{table.name}.png)\n")
    parts.append("".join(map(_remark, lines)))
    if table.remaining:
        remaining = (f"- {run.hours} hours: `{run.run}`.\n" for run in table.remaining)
        parts.append(f"{_REMAINING}:\n\n{''.join(remaining)}")
    return "\n".join(parts)


def _part(lines) -> str:
    """Renders lines without empty columns and with standard deviations in parentheses."""
    columns = [
        column
        for column in lines[0]
        if column not in _CSV_ONLY
        and not column.endswith(_SPREAD)
        and any(line[column] for line in lines)
    ]
    return markdown_table([{column: _cell(line, column) for column in columns} for line in lines])


def _cell(line, column: str) -> str:
    """Returns a cell's text; an empty cell of a recorded run gets the reason."""
    if line[column] or line["run"] == _NOT_RUN:
        spread = line.get(column + _SPREAD)
        return f"{line[column]} ({spread})" if spread else line[column]
    if column.endswith(_OPTIMISTIC):
        return "not watched"
    if not column.endswith(_OURS):
        return ""
    return "not measured" if column.startswith(_TIMES) else "not evaluated"


def _remark(line) -> str:
    """Returns how to train a line's run, and why it differs; its linked result has all of that."""
    if line["run"] == _NOT_RUN:
        return f"- {line['model']}: `{line['command']}`.\n"
    note = textwrap.shorten(line["note"].rstrip("."), _NOTE, placeholder=" ...")
    parts = [f"`--mode=reproduce --row={line['row']}`" if line["row"] else "", note]
    about = ". ".join(filter(None, parts)) or "no note"
    link = f"[{line['run']}](../results/{line['run']}.json)"
    return f"- {line['model']}, {link}: {about}{'' if about.endswith('...') else '.'}\n"


def results_table(results: Mapping[str, dict]) -> dict[str, str]:
    """Renders `results.md`: a line for each recorded run or series of `read_results`, by name."""
    trainings = sum(len(members_of(run)) for run in results.values())
    hours = sum(map(_hours, results.values()))
    total = f"In all {count(len(results), 'run')}, {trainings:,} trainings, {hours:,.1f} hours.\n\n"
    lines = [_result_line(name, run) for name, run in results.items()]
    return {"results.md": _RUNS + total + markdown_table(lines)}


def _result_line(name: str, run: dict) -> dict[str, str]:
    score = next(score for score in _SCORES if score.show(run))
    place = find_row(run["config"])
    machines = Counter(_describe_machine(member.get("machine")) for member in members_of(run))
    texts = [f"{text}: {count(number, 'training')}" for text, number in machines.most_common()]
    return {
        "run": f"{name} ({describe_members(run)})",
        "training examples": describe_examples(run),
        "tokens with vectors": describe_vectors(run),
        "parameters": f"{run['parameters']:,}",
        "best dev epoch": f"{run['best_epoch']:.1f}",
        "minutes to best dev epoch": f"{run['minutes_to_best']:.0f}",
        "dev": score.show(run, "dev"),
        "test": score.show(run),
        "test, paper": place[0].headline_figure(place[1]) if place else "",
        "hours": f"{_hours(run):.1f}",
        "processor and threads": "; ".join(texts if len(machines) > 1 else machines),
    }


def _hours(run: dict) -> float:
    return sum(training["minutes"] for training in members_of(run)) / 60


def _describe_machine(machine: Optional[Mapping]) -> str:
    if not machine:
        return UNKNOWN
    gpu = machine.get("gpu", "none")  # older runs have no such key
    text = f"{machine['processor']}, {machine['threads']} of {machine['cores']}"
    return text if gpu == "none" else f"{gpu} beside {text}"
