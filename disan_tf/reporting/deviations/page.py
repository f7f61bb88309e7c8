"""The page of all deviations, `checkpoints/deviations.md`."""

import importlib
from collections.abc import Mapping

from disan_tf.common.installation import import_configs
from disan_tf.reporting.deviations.deviation import Deviation
from disan_tf.reporting.deviations.disan import DISAN
from disan_tf.reporting.deviations.drcn import DRCN
from disan_tf.reporting.deviations.dsa import DSA
from disan_tf.reporting.deviations.elmo import ELMO
from disan_tf.reporting.deviations.resan import RESAN
from disan_tf.reporting.markdown import markdown_table

PAGE = "deviations.md"
DEVIATIONS: dict[str, tuple[Deviation, ...]] = {
    "DiSAN": DISAN,
    "ReSAN": RESAN,
    "DSA": DSA,
    "DRCN": DRCN,
    "ELMo-DiSAN": ELMO,
}
_HEAD = ("setting", "the paper", "our default", "as run", "why, and what it may change")
_INTRODUCTION = """# Where our runs differ from the papers

Each table lists the settings of one paper in which our configs or recorded runs differ, or which
the paper leaves open. "Our default" is the value in [configs](../configs/README.md); "as run" the
value in the configs of the [results](results), with the names of the runs where they differ.
`python run.py --mode=report` writes this page; the rows stand in `disan_tf/reporting/deviations`.
"""


def load_defaults() -> dict[str, dict]:
    """Returns name -> default variant of each config that a row names."""
    import_configs()
    names = {name for rows in DEVIATIONS.values() for row in rows for name in row.configs}
    return {
        name: importlib.import_module(f"configs.{name}").get_config().to_dict()
        for name in sorted(names)
    }


def render_deviations(results: Mapping[str, dict], defaults: Mapping[str, Mapping]) -> str:
    """Renders a table for each paper.

    Args:
      results: see `disan_tf.reporting.result_files.read_results`.
      defaults: see `load_defaults`.
    """
    parts = [_INTRODUCTION]
    for paper, rows in DEVIATIONS.items():
        cells = [
            (row.setting, row.paper, row.default_text(defaults), row.run_text(results), row.why)
            for row in rows
        ]
        parts.append(f"## {paper}\n\n{markdown_table(_HEAD, cells)}")
    return "\n".join(parts)


def link_to_deviations(paper: str) -> str:
    """Returns the sentence with which a page in `tables/` links to a paper's deviations."""
    return f"[Where our runs differ from the paper](../{PAGE}#{paper.lower()})"
