"""The tables of all papers, and what they report of a config's model."""

from disan_tf.reporting.paper_tables.disan import DISAN_TABLES
from disan_tf.reporting.paper_tables.drcn import DRCN_TABLES
from disan_tf.reporting.paper_tables.dsa import DSA_TABLES
from disan_tf.reporting.paper_tables.elmo import ELMO_TABLES
from disan_tf.reporting.paper_tables.resan import RESAN_TABLES
from disan_tf.reporting.paper_tables.table import Table

TABLES: dict[str, Table] = {
    table.name: table
    for table in (*DISAN_TABLES, *RESAN_TABLES, *DSA_TABLES, *DRCN_TABLES, *ELMO_TABLES)
}


def paper_figures(config: dict) -> str:
    """What its paper reports of a config's model beside train, "" if nothing.

    For instance "85.62", or "0.70977 / 0.71402". The first of its tables that has the model counts.
    """
    for table in TABLES.values():
        for row in table.rows:
            if row.matches(config):
                pairs = zip(table.scores, row.figures)
                return " / ".join(figure for score, figure in pairs if score.split != "train")
    return ""
