"""The papers' tables with our runs beside them, as Markdown and CSV.

A paper's row has a line for each recorded run of its model, or says "not run". In Markdown, runs
with other word vectors or another subset have a part of their own, see `Table.by_inputs`.
"""

import textwrap

from disan_tf.common.tables import csv_table, markdown_table
from disan_tf.metrics.differences import difference_over_all
from disan_tf.study.descriptions import (
    UNKNOWN,
    describe_examples,
    describe_members,
    describe_vectors,
    members_of,
)
from disan_tf.study.papers import TABLES, VECTOR_DIMS, Row, Score, Table
from disan_tf.study.results import Records
from disan_tf.study.settings import link_to_deviations

_OURS, _DEVIATION = ", ours", ", standard deviation"
_SNLI_DEV_PAIRS = 9842
_NOT_RUN = "not run"
_REMAINING = (
    "Remaining runs and their estimated hours (AMD EPYC, 1 thread, beside another training)"
)
_NOTE = 160  # characters of a note in Markdown
_OPTIMISTIC = "best score of the curve (optimistic)"
_SPEEDS = "disan_encoders"  # the benchmark of the encoders in DiSAN's Table 1
_TIMES = ("seconds", "inference")  # the first words of columns that a benchmark fills
_CSV_ONLY = ("row", "command", "note")
_ELMO = TABLES["elmo_disan_table_1"]


def render_tables(records: Records) -> dict[str, str]:
    """Renders all tables: file name -> text; figures without data have no file."""
    files, results = {}, records.results
    for name, table in TABLES.items():
        mains = table.main_row.runs(results)
        lines = [
            _line(table, row, run_name, run, mains, records)
            for row in table.rows
            for run_name, run in (row.runs(results) or {_NOT_RUN: {}}).items()
        ]
        files[f"{name}.md"] = _markdown(table, lines, table.by_inputs(results))
        files[f"{name}.csv"] = csv_table(lines)
    files["elmo_disan_tables_2_3.md"] = render_confusions(results)
    figures = {
        "disan_figure_5.csv": accuracy_by_length(results),
        "elmo_disan_figure_6.csv": accuracy_per_epoch(results),
        "elmo_disan_cost.csv": costs(results),
    }
    return {**files, **{name: csv_table(lines) for name, lines in figures.items() if lines}}


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
    apart = f"{table.headline.name}, difference to {table.main_row.model} (95 % interval)"
    line[apart] = _difference(table, row, name, run, mains, records.predictions)
    line["row"] = row.name if name in (row.recorded, _NOT_RUN) else ""
    line["command"] = (run["command"] if run else row.command) or ""
    return {**line, "note": run.get("note") or ""}


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


def _difference(table: Table, row: Row, name: str, run: dict, mains, predictions) -> str:
    """Returns the difference to the paper's own model, or the reason why there is none.

    The main model's run is that with most members on the same data. The paper's own model and a
    model without a run have no difference, "".
    """
    if not run or row.variant == table.main:
        return ""
    peers = [main for main in mains if _data(table, mains[main]) == _data(table, run)]
    if not peers:
        return f"no run of {table.main_row.model} on these data"
    peer = max(peers, key=lambda main: len(members_of(mains[main])))
    if not {name, peer} <= predictions.keys():
        return "no predictions recorded"
    score = table.headline
    interval, covers = difference_over_all(predictions[name], predictions[peer], score.key)
    return score.show_difference(interval.value, interval, covers) if interval else ""


def _data(table: Table, run):
    """Returns a run's data options, and how many training examples it drew, 0 = all."""
    config = run["config"]
    apart = ("seed", *table.distinguishing_options)
    options = {key: value for key, value in config["data"].items() if key not in apart}
    return options, config["train"].get("examples", 0)


def _ours(run, score: Score, split: str, name: str) -> dict:
    return dict(zip((name, f"{name}{_DEVIATION}"), score.cells(run, split)))


def _markdown(table: Table, lines, kinds: dict[str, list[str]]) -> str:
    """Renders a part for each kind of inputs, missing runs in the first; then commands."""
    parts = [f"# Table {table.number} of the {table.paper} paper: {table.title}\n"]
    parts += [f"{table.caption}\n"] if table.caption else []
    parts.append(f"{link_to_deviations(table.paper)}.\n")
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
    """Renders lines without empty columns and with deviations in parentheses."""
    columns = [
        column
        for column in lines[0]
        if column not in _CSV_ONLY
        and not column.endswith(_DEVIATION)
        and any(line[column] for line in lines)
    ]
    return markdown_table([{column: _cell(line, column) for column in columns} for line in lines])


def _cell(line, column: str) -> str:
    """Returns a cell's text; an empty cell of a recorded run gets the reason."""
    if line[column] or line["run"] == _NOT_RUN:
        spread = line.get(column + _DEVIATION)
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


def accuracy_by_length(results) -> list[dict]:
    """Returns the data of DiSAN's Figure 5: accuracy on SST's test sentences by length."""
    return [
        {
            "run": name,
            "tokens": tokens,
            "sentences": scores["sentences"],
            "accuracy, %": _per_cent(scores["accuracy"]),
            "standard deviation, %": _per_cent(scores["standard_deviation"]),
        }
        for name, run in TABLES["disan_table_2"].main_row.runs(results).items()
        for tokens, scores in run.get("by_length", {}).items()
    ]


def _per_cent(share) -> str:
    return "" if share is None else f"{100 * share:.2f}"


def render_confusions(results: dict[str, dict]) -> str:
    """Renders ELMo-DiSAN's Tables II and III and our matrices, sums over a series, with recalls."""
    matrices = {f"{row.model}, the paper": row.confusion for row in _ELMO.rows if row.confusion}
    for name, run in _elmo_runs(results).items():
        scores = run if "members" in run else run["test"]
        if "confusion" in scores:
            matrices[f"{name}, ours, {describe_members(run)}"] = scores["confusion"]["matrix"]
    texts = ["# Tables II and III of the ELMo-DiSAN paper: test sentences by class\n"]
    texts.append(f"{link_to_deviations('ELMo-DiSAN')}.\n")
    for title, matrix in matrices.items():
        lines = []
        for number, (name, row) in enumerate(zip(_ELMO.classes, matrix)):
            right = f"{100 * row[number] / max(1, sum(row)):.1f}"
            cells = dict(zip(_ELMO.classes, row))
            lines.append({"gold \\ predicted": name, **cells, "right, %": right})
        texts.append(f"{title}\n\n{markdown_table(lines)}")
    return "\n".join(texts)


def _elmo_runs(results) -> dict[str, dict]:
    """Returns the runs of ELMo-DiSAN's config, also of variants that the paper lacks."""
    config = _ELMO.main_row.config
    return {name: run for name, run in results.items() if run["config"]["name"] == config}


def accuracy_per_epoch(results: dict[str, dict]) -> list[dict]:
    """Returns the data of ELMo-DiSAN's Figure 6: the accuracies of each member's evaluations."""
    lines = []
    for name, run in _elmo_runs(results).items():
        for member in members_of(run):
            title = f"{name} {member['name']}" if "members" in run else name
            epoch_steps = member["steps"] / member["epochs"]
            tested = dict(member.get("test_curve", []))
            lines += [
                {
                    "run": title,
                    "epoch": round(step / epoch_steps, 2),
                    "dev, %": _per_cent(dev),
                    "test, %": _per_cent(tested.get(step)),
                }
                for step, dev in member["dev_curve"]
            ]
    return lines


def costs(results: dict[str, dict]) -> list[dict]:
    """Returns each ELMo-DiSAN run's training cost relative to GloVe, with the paper's ratio.

    The ratio compares the seconds of an epoch on the same examples; "" = no GloVe run on them.
    """
    rows = {name: row for row in _ELMO.rows for name in row.runs(results)}
    runs = {name: run for name, run in results.items() if name in rows}
    gloves = [run for name, run in runs.items() if rows[name].cost == "1"]
    seconds_of_glove = {_examples(run): run["seconds_per_epoch"] for run in gloves}
    lines = []
    for name, run in runs.items():
        seconds, of_glove = run["seconds_per_epoch"], seconds_of_glove.get(_examples(run))
        line = {"run": name, "model": rows[name].model, "parameters": run["parameters"]}
        line["seconds per epoch"] = seconds
        line["ratio to GloVe"] = round(seconds / of_glove, 2) if of_glove else ""
        lines.append({**line, "ratio, paper": rows[name].cost})
    return lines


def _examples(run):
    return run["data"]["training_examples"], run["config"]["train"]["batch_size"]
