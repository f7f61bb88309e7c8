"""Tables 1 to 4 of the ReSAN paper: its figures for the models that we build.

Shen et al. 2018, sections 5.1 and 5.2, and appendix A. Figures are as printed, without bold face,
per cent signs and the stars of Table 4 (the two accuracies differ by chance). Rows that the paper
quotes from other papers are left out.
"""

from functools import partial
from typing import Optional

from disan_tf.reporting.paper_tables.table import (
    ACCURACIES,
    FIVE_RUNS,
    RELATEDNESS,
    Row,
    Score,
    Table,
)

_RESAN = {  # encoder.unselected, shared, sampling -> variant
    ("mean", False, "parallel"): "",
    ("drop", False, "parallel"): "without_unselected",
    ("drop", True, "parallel"): "without_dependency_restricted",
    ("mean", False, "iterative"): "iterative",
}
_OTHERS = {  # encoder.name -> variant, where they differ
    "source2token": "without_attention",
    "selected_source2token": "without_soft_attention",
}


def resan_variant(config: dict) -> Optional[str]:
    """Returns a config's variant of `configs/resan_*.py`.

    ELU, which the authors' code has on SNLI, may replace ReLU. None = in no table: the rest of the
    authors' code, another activation or another reward.
    """
    encoder, reward = config["encoder"], config.get("policy", {}).get("reward", "product")
    name, directions = encoder["name"], encoder.get("directions", ())
    if reward != "product" or "diagonal" in directions:
        return None
    if encoder["activation"] not in ("relu", "elu"):
        return None
    if name == "resan":
        return _RESAN.get((encoder["unselected"], encoder["shared"], encoder["sampling"]))
    if name == "disan" and config["task"]["highway"]:
        return "without_hard_attention"
    return _OTHERS.get(name, name)


_SAMPLED = (
    "Scores of models with hard attention are of sampled selections (`config.evaluate.selection`), "
    "as in the authors' code: a repeated evaluation draws other tokens and differs a little."
)
_row = partial(Row, variant_of=resan_variant)
_table = partial(
    Table,
    "ReSAN",
    caption=_SAMPLED,
    further=(
        Score("selected heads", "test", "head_fraction", scale=1),
        Score("selected dependents", "test", "dependent_fraction", scale=1),
    ),
)
_MODELS = {
    "bi_lstm": "Bi-LSTM",
    "bi_gru": "Bi-GRU",
    "multi_window_cnn": "Multi-window CNN",
    "hierarchical_cnn": "Hierarchical CNN",
    "multi_head": "Multi-head",
    "disan": "DiSAN",
    "": "ReSAN",
    "without_unselected": "ReSAN w/o unselected heads",
    "without_dependency_restricted": "ReSAN w/o dependency restricted",
    "without_hard_attention": "ReSAN w/o hard attention",
    "without_soft_attention": "ReSAN w/o soft self-attention",
    "without_attention": "ReSAN w/o all attentions",
}
_SNLI = {  # |theta|, T(s)/epoch, inference T(s), train accuracy, test accuracy
    "bi_lstm": ("2.9m", "2080", "9.2", "90.4", "85.0"),
    "bi_gru": ("2.5m", "1728", "9.3", "91.9", "84.9"),
    "multi_window_cnn": ("1.4m", "284", "2.4", "89.3", "83.2"),
    "hierarchical_cnn": ("3.4m", "343", "2.9", "91.3", "83.9"),
    "multi_head": ("2.0m", "345", "3.0", "89.6", "84.2"),
    "disan": ("2.4m", "587", "7.0", "91.1", "85.6"),
    "": ("3.1m", "622", "5.5", "92.6", "86.3"),
}
_ABLATIONS = {  # |theta|, inference T(s), test accuracy
    "": ("3.1m", "5.5", "86.3"),
    "without_unselected": ("3.1m", "5.3", "86.1"),
    "without_dependency_restricted": ("2.8m", "4.6", "85.6"),
    "without_hard_attention": ("2.5m", "7.0", "86.0"),
    "without_soft_attention": ("1.0m", "1.6", "83.4"),
    "without_attention": ("0.5m", "1.8", "83.1"),
}
_SICK = {  # Pearson's r, Spearman's rho, mean squared error
    "bi_lstm": (".8473 (.0013)", ".7913 (.0019)", ".3276 (.0087)"),
    "bi_gru": (".8572 (.0022)", ".8026 (.0014)", ".3079 (.0069)"),
    "multi_window_cnn": (".8374 (.0021)", ".7793 (.0028)", ".3395 (.0086)"),
    "hierarchical_cnn": (".8436 (.0014)", ".7874 (.0022)", ".3162 (.0058)"),
    "multi_head": (".8521 (.0013)", ".7942 (.0050)", ".3258 (.0149)"),
    "disan": (".8695 (.0012)", ".8139 (.0012)", ".2879 (.0036)"),
    "": (".8720 (.0014)", ".8163 (.0018)", ".2623 (.0053)"),
}
_SAMPLINGS = {  # model, |theta|, T(s)/epoch, inference T(s), train accuracy, test accuracy
    "": ("ReSAN w/ RSS", "3.1m", "622", "5.5", "92.6", "86.3"),
    "iterative": ("ReSAN w/ Iteration", "4.0m", "2996", "17.1", "92.3", "86.2"),
}


def _snli(variant, model, parameters, seconds, inference, *scores) -> Row:
    return _row(
        model,
        "resan_snli",
        variant,
        scores,
        parameters=parameters,
        seconds=seconds,
        inference=inference,
    )


RESAN_TABLES = (
    _table(
        1,
        "SNLI",
        ACCURACIES,
        tuple(_snli(variant, _MODELS[variant], *printed) for variant, printed in _SNLI.items()),
    ),
    _table(
        2,
        "ablations on SNLI",
        (Score("test", "test"),),
        tuple(
            _snli(variant, _MODELS[variant], parameters, "", inference, score)
            for variant, (parameters, inference, score) in _ABLATIONS.items()
        ),
    ),
    _table(
        3,
        "SICK relatedness",
        RELATEDNESS,
        tuple(
            _row(_MODELS[variant], "resan_sick", variant, scores, flags=FIVE_RUNS)
            for variant, scores in _SICK.items()
        ),
    ),
    _table(
        4,
        "sampling in parallel and one after another, SNLI",
        ACCURACIES,
        tuple(_snli(variant, *printed) for variant, printed in _SAMPLINGS.items()),
    ),
)
