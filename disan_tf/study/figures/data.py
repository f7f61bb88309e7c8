"""The data of the papers' figures and smaller tables, from recorded results."""

from disan_tf.common.tables import csv_table, markdown_table
from disan_tf.study.papers import TABLES
from disan_tf.study.results import describe_members, members_of
from disan_tf.study.settings import link_to_settings

_ELMO = TABLES["elmo_disan_table_1"]


def render_figure_data(results: dict[str, dict]) -> dict[str, str]:
    """Renders file name -> text; figures without data have no file."""
    figures = {
        "disan_figure_5.csv": accuracy_by_length(results),
        "elmo_disan_figure_6.csv": accuracy_per_epoch(results),
        "elmo_disan_cost.csv": costs(results),
    }
    files = {name: csv_table(lines) for name, lines in figures.items() if lines}
    return {"elmo_disan_tables_2_3.md": render_confusions(results), **files}


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
    texts.append(f"{link_to_settings('ELMo-DiSAN')}.\n")
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
