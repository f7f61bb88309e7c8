"""Table 1 of the multiway DRCN paper: its figures for seven models.

Au, Haran and Sandler, section 5.1. Figures are as printed. The paper does not say on what and when
it measures the training loss; ours is measured on the whole training data without dropout.
"""

from typing import Optional

from disan_tf.reporting.paper_tables.table import Row, Score, Table

_FIGURES = {  # model -> train loss, dev loss, best test accuracy
    "B-Ca-Cs-D-M": ("0.413", "0.479", "81.26"),
    "B-Ca-Cs-D": ("0.399", "0.514", "81.38"),
    "B-Ca-Cs-M": ("0.413", "0.457", "82.86"),
    "B-Ca-D-M": ("0.488", "0.491", "80.64"),
    "B-Cs-D-M": ("0.436", "0.504", "80.01"),
    "Ca-Cs-D-M": ("0.411", "0.627", "74.56"),
    "Cs": ("0.370", "0.574", "77.46"),
}
_SCORES = (
    Score("train loss", "train", "loss", 1, 3),
    Score("dev loss", "dev", "loss", 1, 3),
    Score("test", "test"),
)
_AS_IN_THE_PAPER = {
    "recurrence": "rnn",
    "aggregation": "words",
    "own_parameters": False,
    "bottleneck_units": 0,
}


def drcn_variant(config: dict) -> Optional[str]:
    """Returns a config's variant of `configs/drcn_snli.py`; None = not in the paper."""
    encoder = config["encoder"]
    if config["task"]["hypothesis_only"] or not _AS_IN_THE_PAPER.items() <= encoder.items():
        return None
    return encoder["functions"]


DRCN_TABLES = (
    Table(
        "DRCN",
        1,
        "SNLI",
        _SCORES,
        tuple(
            Row(model, "drcn_snli", model, figures, drcn_variant)
            for model, figures in _FIGURES.items()
        ),
        main="B-Ca-Cs-M",
    ),
)
