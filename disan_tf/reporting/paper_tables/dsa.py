"""Tables 1 and 2 of the DSA paper: its figures for the models that we build.

Yoon, Lee and Lee 2018, sections 4.1 and 4.2. Figures are as printed. Rows that the paper quotes
from other papers are left out, except the baselines of Table 2 that we build.
"""

from functools import partial
from typing import Optional

from disan_tf.reporting.paper_tables.table import ACCURACIES, Row, Score, Table

_PARALLEL = {1: "", 8: "multiple"}  # encoder.attentions -> variant
_POOLINGS = {"last": "bi_lstm", "self_attention": "bi_lstm_self_attention"}


def dsa_variant(config: dict) -> Optional[str]:
    """Returns a config's variant of `configs/dsa_*.py`, whatever its first convolution."""
    encoder = config["encoder"]
    if encoder["name"] == "pooled_bi_lstm":
        return _POOLINGS[encoder["pooling"]]
    if encoder["name"] == "multi_window_cnn":
        return "cnn_non_static"
    if encoder["attention"] == "static":
        return "self_attention"
    return _PARALLEL.get(encoder["attentions"])


_row = partial(Row, variant_of=dsa_variant)
_table = partial(Table, "DSA")
_SNLI = {  # model, |theta|, T(s)/epoch, train accuracy, test accuracy
    "self_attention": ("CNN (Dense) with self-attention", "2.4m", "121", "88.7", "84.6"),
    "": ("Single DSA", "2.1m", "135", "87.3", "86.8"),
    "multiple": ("Multiple DSA", "7.0m", "198", "89.0", "87.4"),
}
_SST = {  # model, two classes, five
    "bi_lstm": ("BiLSTM", "87.5", "49.5"),
    "cnn_non_static": ("CNN-non-static", "87.2", "48.0"),
    "bi_lstm_self_attention": ("BiLSTM with self-attention", "88.2", "50.4"),
    "self_attention": ("CNN (Dense) with self-attention", "88.3", "50.6"),
    "": ("Single DSA", "88.5", "50.6"),
}


def _sentiment(classes: int) -> Table:
    column, flags = {2: (1, "--config.data.classes=2"), 5: (2, "")}[classes]
    return _table(
        2,
        f"Stanford Sentiment Treebank, SST-{classes}",
        (Score("test", "test"),),
        tuple(
            _row(texts[0], "dsa_sst", variant, (texts[column],), classes=classes, flags=flags)
            for variant, texts in _SST.items()
        ),
        part=f"sst_{classes}",
    )


DSA_TABLES = (
    _table(
        1,
        "SNLI",
        ACCURACIES,
        tuple(
            _row(model, "dsa_snli", variant, tuple(scores), parameters=size, seconds=seconds)
            for variant, (model, size, seconds, *scores) in _SNLI.items()
        ),
    ),
    _sentiment(2),
    _sentiment(5),
)
