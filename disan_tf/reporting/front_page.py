"""Our best figures beside the five papers' figures, for the repository's README."""

from typing import NamedTuple

from disan_tf.reporting.markdown import markdown_table
from disan_tf.reporting.paper_tables.all_tables import TABLES
from disan_tf.reporting.results import describe_examples, describe_vectors, mean

_HEAD = (
    "paper",
    "corpus",
    "theirs",
    "ours",
    "our training examples",
    "tokens with vectors",
    "epochs",
)


class Claim(NamedTuple):
    """A paper's claim on a corpus.

    Attributes:
      paper, corpus: their names in the table.
      table: a key of `TABLES`.
      models: the rows with the paper's own model, the strongest last.
    """

    paper: str
    corpus: str
    table: str
    models: tuple[str, ...]


_MULTIWAY = ("B-Cs-D-M", "B-Ca-D-M", "B-Ca-Cs-D-M", "B-Ca-Cs-D", "B-Ca-Cs-M")
CLAIMS = (
    Claim("DiSAN", "SNLI", "disan_table_1", ("DiSAN",)),
    Claim("DiSAN", "SST, five classes", "disan_table_2", ("DiSAN",)),
    Claim("DiSAN", "MultiNLI, matched", "disan_table_3", ("DiSAN",)),
    Claim("DiSAN", "SICK", "disan_table_4", ("DiSAN",)),
    *(
        Claim("DiSAN", corpus, "disan_table_5", (f"DiSAN, {corpus}",))
        for corpus in ("CR", "MPQA", "SUBJ", "TREC")
    ),
    Claim("ReSAN", "SNLI", "resan_table_1", ("ReSAN",)),
    Claim("ReSAN", "SICK", "resan_table_3", ("ReSAN",)),
    Claim("DSA", "SNLI", "dsa_table_1", ("Single DSA", "Multiple DSA")),
    Claim("DSA", "SST, two classes", "dsa_table_2_sst_2", ("Single DSA",)),
    Claim("DSA", "SST, five classes", "dsa_table_2_sst_5", ("Single DSA",)),
    Claim("DRCN", "SNLI", "drcn_table_1", _MULTIWAY),
    Claim(
        "ELMo-DiSAN",
        "SST, five classes",
        "elmo_disan_table_1",
        ("DiSAN + small biLM", "DiSAN + small biLM and GloVe", "DiSAN + ELMo"),
    ),
)


def front_page_table(results: dict[str, dict]) -> str:
    """Renders a line for each claim: the paper's test figure, and ours from the run best on dev.

    Both figures belong to the same model. Where the paper has no figure for our best model, its
    strongest model's figure stands there, and ours names its own model.

    Args:
      results: see `disan_tf.reporting.result_files.read_results`.
    """
    return markdown_table(_HEAD, (_row(claim, results) for claim in CLAIMS))


def _row(claim: Claim, results):
    table = TABLES[claim.table]
    rows = {row.model: row for row in table.rows if row.model in claim.models}
    runs = [
        (model, run)
        for model, row in rows.items()
        for run in results.values()
        if row.matches(run["config"])
    ]
    name = f"[{claim.paper}](checkpoints/tables/{claim.table}.md)"
    strongest = table.headline_figure(rows[claim.models[-1]])
    if not runs:
        return [name, claim.corpus, strongest, "not run", "", "", ""]
    model, best = max(runs, key=lambda pair: mean(pair[1], "dev", table.headline.key))
    figure = table.headline_figure(rows[model])
    ours = table.headline.show(best)
    return [
        name,
        claim.corpus,
        figure or strongest,
        ours if figure else f"{ours}, {model}",
        describe_examples(best),
        describe_vectors(best),
        f"{best['best_epoch']:.1f}",
    ]
