"""The READMEs' tables and sentences on recorded results and benchmarks, which stand between marks.

<!-- results: begin -->
<!-- results: end -->
"""

from collections import Counter
from pathlib import Path

from disan_tf.common.errors import UserError
from disan_tf.common.files import write_atomically
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.common.tables import markdown_table
from disan_tf.reporting.benchmark_tables import benchmark_tables
from disan_tf.reporting.claims.ledger import assess_claims, read_records
from disan_tf.reporting.paper_tables.all_tables import TABLES, paper_headline
from disan_tf.reporting.paper_tables.table import Score
from disan_tf.reporting.reproduction import read_targets, render_rows
from disan_tf.reporting.result_files import read_predictions, read_results
from disan_tf.reporting.results import describe_examples, describe_members, describe_vectors, mean

FILES = {  # name of the marks -> the file that has them
    "claims": "README.md",
    "papers": "README.md",
    "results": "checkpoints/README.md",
    "benchmarks": "disan_tf/benchmark/README.md",
    "rows": "docs/reproduce.md",
}
_MULTIWAY = ("B-Cs-D-M", "B-Ca-D-M", "B-Ca-Cs-D-M", "B-Ca-Cs-D", "B-Ca-Cs-M")
CLAIMS = (  # table, corpus, and the rows with the paper's own model, the strongest last
    ("disan_table_1", "SNLI", "DiSAN"),
    ("disan_table_2", "SST, five classes", "DiSAN"),
    ("disan_table_3", "MultiNLI, matched", "DiSAN"),
    ("disan_table_4", "SICK", "DiSAN"),
    *(("disan_table_5", corpus, f"DiSAN, {corpus}") for corpus in ("CR", "MPQA", "SUBJ", "TREC")),
    ("resan_table_1", "SNLI", "ReSAN"),
    ("resan_table_3", "SICK", "ReSAN"),
    ("dsa_table_1", "SNLI", "Single DSA", "Multiple DSA"),
    ("dsa_table_2_sst_2", "SST, two classes", "Single DSA"),
    ("dsa_table_2_sst_5", "SST, five classes", "Single DSA"),
    ("drcn_table_1", "SNLI", *_MULTIWAY),
    (
        "elmo_disan_table_1",
        "SST, five classes",
        "DiSAN + small biLM",
        "DiSAN + small biLM and GloVe",
        "DiSAN + ELMo",
    ),
)
_SCORES = (  # `results_table` has the first that a run has
    Score("accuracy", "test"),
    Score("Pearson's r", "test", "pearson", 1, 4, "r"),
    Score("perplexity", "test", "perplexity", 1, 2, "perplexity"),
)


def update_readmes(repository: Path = CHECKPOINTS.parent) -> None:
    """Writes the tables between their marks.

    Raises:
      UserError: marks are missing; no file is changed.
    """
    tables = _tables(repository / "checkpoints")
    paths = {repository / path for path in FILES.values()}
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    for name, file in FILES.items():
        path = repository / file
        texts[path] = _between_marks(path, texts[path], name, tables[name])
    for path, text in texts.items():
        write_atomically(path, text)


def _tables(checkpoints) -> dict[str, str]:
    results = read_results(checkpoints / "results")
    predictions = read_predictions(checkpoints / "predictions")
    records = read_records(results, predictions, checkpoints / "benchmarks")
    return {
        "claims": ledger_sentence(assess_claims(records)),
        "papers": front_page_table(results),
        "results": results_table(results),
        "benchmarks": benchmark_tables(checkpoints / "benchmarks"),
        "rows": render_rows(read_targets(results)),
    }


def ledger_sentence(ledger) -> str:
    """Returns the number of the papers' claims with each verdict, as a sentence."""
    entries = [entry for part in ledger.values() for entry in part if not entry.claim.ours]
    counts = Counter(entry.verdict for entry in entries)
    return (
        f"{counts['supported']} of {len(entries)} claims are supported, "
        f"{counts['not supported']} are not, {counts['undecided']} are undecided and "
        f"{counts['not tested']} are not tested: see the [ledger](checkpoints/claims.md).\n"
    )


def front_page_table(results: dict[str, dict]) -> str:
    """Renders a line for each claim: the paper's test figure, and ours from the run best on dev.

    Both figures belong to the same model. Where the paper has no figure for our best model, its
    strongest model's figure stands there, and ours names its own model.

    Args:
      results: see `disan_tf.reporting.result_files.read_results`.
    """
    return markdown_table([_claim(results, *claim) for claim in CLAIMS])


def _claim(results, name: str, corpus: str, *models: str) -> dict:
    table = TABLES[name]
    rows = {row.model: row for row in table.rows if row.model in models}
    runs = [(model, run) for model, row in rows.items() for run in row.runs(results).values()]
    line = {"paper": f"[{table.paper}](checkpoints/tables/{name}.md)", "corpus": corpus}
    strongest = table.headline_figure(rows[models[-1]])
    if not runs:
        return {**line, "theirs": strongest, "ours": "not run"}
    model, best = max(runs, key=lambda pair: mean(pair[1], "dev", table.headline.key))
    figure, ours = table.headline_figure(rows[model]), table.headline.show(best)
    return {
        **line,
        "theirs": figure or strongest,
        "ours": ours if figure else f"{ours}, {model}",
        "our training examples": describe_examples(best),
        "tokens with vectors": describe_vectors(best),
        "epochs": f"{best['best_epoch']:.1f}",
    }


def results_table(results: dict[str, dict]) -> str:
    """Renders a line for each recorded run or series, by name; accuracies in per cent.

    Args:
      results: see `disan_tf.reporting.result_files.read_results`.
    """
    return markdown_table([_result(name, run) for name, run in results.items()])


def _result(name: str, run: dict) -> dict:
    score = next(score for score in _SCORES if score.mean(run))
    return {
        "run": f"{name} ({describe_members(run)})",
        "training examples": describe_examples(run),
        "tokens with vectors": describe_vectors(run),
        "parameters": f"{run['parameters']:,}",
        "best dev epoch": f"{run['best_epoch']:.1f}",
        "minutes to it": f"{run['minutes_to_best']:.0f}",
        "dev": score.show(run, "dev"),
        "test": score.show(run),
        "test, paper": paper_headline(run["config"]),
    }


def _between_marks(path, text, name, content) -> str:
    """Returns a README's text with new content between its marks."""
    marks = (f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n")
    before, begin, rest = text.partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not begin or not end:
        raise UserError(
            f"{path} lacks the lines {' and '.join(map(str.strip, marks))}; restore it."
        )
    return before + begin + content + end + after
