"""Tables I to III and Figure 6 of the ELMo-DiSAN paper.

Essam, Eldawlatly and Abbas, section IV. Figures are as printed. Rows without a paper's figure are
ours alone. The paper's text gives 18.6 % for the neutral class with ELMo, but Table III has 95 of
389, 24.4 %: the text divides by the sum of the next row.
"""

from typing import Optional

from disan_tf.common.tables import markdown_table
from disan_tf.reporting.deviations.page import link_to_deviations
from disan_tf.reporting.paper_tables.table import Row, Score, Table
from disan_tf.reporting.results import describe_members, members_of

CLASSES = ("very negative", "negative", "neutral", "positive", "very positive")
GLOVE, ELMO = "DiSAN + GloVe", "DiSAN + ELMo"
_ROWS = {  # variant -> model, test accuracy
    "random": ("DiSAN + random vectors", ""),
    "glove": (GLOVE, "51.72"),
    "": (ELMO, "54.25"),
    "small_bilm": ("DiSAN + small biLM", ""),
    "both": ("DiSAN + small biLM and GloVe", ""),
}
# Tables II and III: rows are the gold classes, columns the predicted ones.
CONFUSIONS = {
    GLOVE: (
        (95, 157, 8, 18, 1),
        (63, 447, 17, 99, 7),
        (7, 171, 34, 170, 7),
        (1, 61, 11, 368, 69),
        (0, 12, 2, 186, 199),
    ),
    ELMO: (
        (76, 195, 4, 4, 0),
        (48, 474, 63, 39, 9),
        (13, 170, 95, 104, 7),
        (0, 63, 34, 305, 108),
        (0, 10, 9, 131, 249),
    ),
}
OFFICIAL = "2x4096_512_2048cnn_2xhighway"
COST = {"glove": 1, "": 6}  # variant -> training time relative to DiSAN + GloVe


def elmo_variant(config: dict) -> Optional[str]:
    """Returns a config's variant of `configs/elmo_disan_sst.py`; None = not in the table."""
    embedding = config["embedding"]
    if embedding["name"] == "words":
        return "glove" if config["data"]["vectors"] else "random"
    if embedding["bilm"].endswith(OFFICIAL):
        return None if embedding["words"] else ""
    return "both" if embedding["words"] else "small_bilm"


ELMO_TABLES = (
    Table(
        "ELMo-DiSAN",
        1,
        "Stanford Sentiment Treebank",
        (Score("test", "test"),),
        tuple(
            Row(model, "elmo_disan_sst", variant, (figure,), elmo_variant)
            for variant, (model, figure) in _ROWS.items()
        ),
        main="both",
        told_apart_by=("vectors", "embedding_dim", "bilm"),
    ),
)


def render_confusions(results: dict[str, dict]) -> str:
    """Renders the confusion matrices of Tables II and III and of our runs, with recalls.

    Args:
      results: see `disan_tf.reporting.result_files.read_results`; a series has the sum over its
        members.
    """
    matrices = {f"{model}, the paper": matrix for model, matrix in CONFUSIONS.items()}
    for name, run in results.items():
        scores = run if "members" in run else run["test"]
        if run["config"]["name"] == "elmo_disan_sst" and "confusion" in scores:
            title = f"{name}, ours, {describe_members(run)}"
            matrices[title] = scores["confusion"]["matrix"]
    texts = ["# Tables II and III of the ELMo-DiSAN paper: test sentences by class\n"]
    texts.append(f"{link_to_deviations('ELMo-DiSAN')}.\n")
    for title, matrix in matrices.items():
        lines = [
            {
                "gold \\ predicted": name,
                **dict(zip(CLASSES, row)),
                "right, %": f"{100 * row[number] / max(1, sum(row)):.1f}",
            }
            for number, (name, row) in enumerate(zip(CLASSES, matrix))
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
        if run["config"]["name"] == "elmo_disan_sst":
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
    names = {name for row in ELMO_TABLES[0].rows for name in row.runs(results)}
    runs = {name: run for name, run in results.items() if name in names}
    base = {
        _examples(run): run["seconds_per_epoch"]
        for run in runs.values()
        if elmo_variant(run["config"]) == "glove"
    }
    return [_cost(name, run, base.get(_examples(run))) for name, run in runs.items()]


def _cost(name, run, glove):
    variant, seconds = elmo_variant(run["config"]), run["seconds_per_epoch"]
    return {
        "run": name,
        "model": _ROWS[variant][0],
        "parameters": run["parameters"],
        "seconds an epoch": seconds,
        "ratio to GloVe": round(seconds / glove, 2) if glove else "",
        "ratio, paper": COST.get(variant, ""),
    }


def _examples(run):
    return run["data"]["training_examples"], run["config"]["train"]["batch_size"]
