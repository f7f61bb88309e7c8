"""The table of all recorded runs, for `checkpoints/README.md`."""

from disan_tf.reporting.markdown import markdown_table
from disan_tf.reporting.paper_tables.all_tables import paper_headline
from disan_tf.reporting.paper_tables.table import Score
from disan_tf.reporting.results import describe_examples, describe_members, describe_vectors

_HEAD = (
    "run",
    "training examples",
    "tokens with vectors",
    "parameters",
    "best dev epoch",
    "minutes to it",
    "dev",
    "test",
    "test, paper",
)
_SCORES = (  # the table has the first that a run has
    Score("accuracy", "test"),
    Score("Pearson's r", "test", "pearson", 1, 4, "r"),
    Score("perplexity", "test", "perplexity", 1, 2, "perplexity"),
)


def results_table(results: dict[str, dict]) -> str:
    """Renders a line for each recorded run or series, by name; accuracies in per cent.

    Args:
      results: see `disan_tf.reporting.result_files.read_results`.
    """
    return markdown_table(_HEAD, (_row(name, run) for name, run in results.items()))


def _row(name, run):
    score = next(score for score in _SCORES if score.mean(run))
    return [
        f"{name} ({describe_members(run)})",
        describe_examples(run),
        describe_vectors(run),
        f"{run['parameters']:,}",
        f"{run['best_epoch']:.1f}",
        f"{run['minutes_to_best']:.0f}",
        score.show(run, "dev"),
        score.show(run),
        paper_headline(run["config"]),
    ]
