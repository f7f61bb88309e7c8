"""Tables II and III, Figure 6 and the training costs of the ELMo-DiSAN paper."""

from disan_tf.common.tables import markdown_table
from disan_tf.reporting.deviations import link_to_deviations
from disan_tf.reporting.paper_tables.all_tables import TABLES
from disan_tf.reporting.results import describe_members, members_of

_TABLE = TABLES["elmo_disan_table_1"]
_CONFIG = _TABLE.main_row.config


def render_confusions(results: dict[str, dict]) -> str:
    """Renders the confusion matrices of Tables II and III and of our runs, with recalls.

    Args:
      results: see `disan_tf.reporting.result_files.read_results`; a series has the sum over its
        members.
    """
    matrices = {f"{row.model}, the paper": row.confusion for row in _TABLE.rows if row.confusion}
    for name, run in results.items():
        scores = run if "members" in run else run["test"]
        if run["config"]["name"] == _CONFIG and "confusion" in scores:
            matrices[f"{name}, ours, {describe_members(run)}"] = scores["confusion"]["matrix"]
    texts = ["# Tables II and III of the ELMo-DiSAN paper: test sentences by class\n"]
    texts.append(f"{link_to_deviations('ELMo-DiSAN')}.\n")
    for title, matrix in matrices.items():
        lines = [
            {
                "gold \\ predicted": name,
                **dict(zip(_TABLE.classes, row)),
                "right, %": f"{100 * row[number] / max(1, sum(row)):.1f}",
            }
            for number, (name, row) in enumerate(zip(_TABLE.classes, matrix))
        ]
        texts.append(f"{title}\n\n{markdown_table(lines)}")
    return "\n".join(texts)


def accuracy_per_epoch(results: dict[str, dict]) -> list[dict]:
    """Returns the rows of Figure 6: the epoch and the accuracies of each evaluation.

    Args:
      results: see `render_confusions`; each member of a series has rows of its own.
    """
    rows = []
    for name, run in results.items():
        if run["config"]["name"] == _CONFIG:
            for member in members_of(run):
                title = f"{name} {member['name']}" if "members" in run else name
                rows += _accuracies(title, member)
    return rows


def _accuracies(title, run):
    steps = run["steps"] / run["epochs"]
    tested = dict(run.get("test_curve", []))
    for step, dev in run["dev_curve"]:
        test = f"{100 * tested[step]:.2f}" if step in tested else ""
        accuracies = {"dev, %": f"{100 * dev:.2f}", "test, %": test}
        yield {"run": title, "epoch": round(step / steps, 2), **accuracies}


def costs(results: dict[str, dict]) -> list[dict]:
    """Returns each run's training cost relative to GloVe, with the paper's ratio.

    The ratio compares the seconds of an epoch on the same examples; "" = no GloVe run on them.
    """
    rows = {name: row for row in _TABLE.rows for name in row.runs(results)}
    glove = {
        _examples(run): run["seconds_per_epoch"]
        for name, run in results.items()
        if name in rows and rows[name].cost == "1"
    }
    return [
        _cost(name, run, rows[name], glove.get(_examples(run)))
        for name, run in results.items()
        if name in rows
    ]


def _cost(name, run, row, glove):
    seconds = run["seconds_per_epoch"]
    return {
        "run": name,
        "model": row.model,
        "parameters": run["parameters"],
        "seconds an epoch": seconds,
        "ratio to GloVe": round(seconds / glove, 2) if glove else "",
        "ratio, paper": row.cost,
    }


def _examples(run):
    return run["data"]["training_examples"], run["config"]["train"]["batch_size"]
