"""The ReSAN paper's claims (Shen et al. 2018b)."""

from functools import partial

from disan_tf.reporting.claims.claim import NO_COST, Claim
from disan_tf.reporting.claims.other_evidence import (
    Benchmark,
    Parameters,
    Quoted,
    SameWeights,
    SelectedShare,
)
from disan_tf.reporting.claims.rows import Rows

_snli = partial(Rows, "resan_table_1", "ReSAN")
_ablation = partial(Rows, "resan_table_2", "ReSAN")
_sick = partial(Rows, "resan_table_3", "ReSAN")
_speed = partial(Benchmark, file="resan_snli")
_SHORT = "ELU; dev still rising at the end"
_BASELINE = f"{_SHORT}; rewards less a moving average, unlike the paper"
_GPU = "a processor instead of a GTX 1080 Ti; sentences of 15 and 8 tokens"


def _times(kind: str, name: str) -> tuple:
    """Returns the keys of a step's time: all tokens, half of them, or another model."""
    return ("selection", "model", 0, kind, name)


RESAN_CLAIMS = (
    *(
        Claim(f"ReSAN beats {text} on SNLI.", "Table 1, Sec. 5.1", _snli(model), _SHORT)
        for text, model in (
            ("a Bi-LSTM", "Bi-LSTM"),
            ("a Bi-GRU", "Bi-GRU"),
            ("a multi-window CNN", "Multi-window CNN"),
            ("a hierarchical CNN", "Hierarchical CNN"),
            ("multi-head attention", "Multi-head"),
            ("DiSAN", "DiSAN"),
        )
    ),
    Claim(
        "Hard attention improves soft attention on SNLI.",
        "Table 2, Sec. 5.1",
        _ablation("ReSAN w/o hard attention"),
        _BASELINE,
    ),
    Claim(
        "Soft attention improves hard attention on SNLI.",
        "Table 2, Sec. 5.1",
        _ablation("ReSAN w/o soft self-attention"),
        _BASELINE,
    ),
    Claim(
        "Hard and soft attention together beat no attention on SNLI.",
        "Table 2, Sec. 5.1",
        _ablation("ReSAN w/o all attentions"),
        _SHORT,
    ),
    Claim(
        "Heads that are not selected contribute on SNLI.",
        "Table 2, Sec. 5.1",
        _ablation("ReSAN w/o unselected heads"),
        _BASELINE,
    ),
    Claim(
        "Separate samplers for heads and dependents help on SNLI.",
        "Table 2, Sec. 5.1",
        _ablation("ReSAN w/o dependency restricted"),
        _BASELINE,
    ),
    Claim(
        "The selected tokens suffice: selecting costs no accuracy with the same weights.",
        "Sec. 3.1",
        SameWeights("no figure"),
        f"{_SHORT}; both series share each seed's first 10,000 steps",
        margin=NO_COST,
        headline=True,
    ),
    Claim(
        "Hard attention selects a few tokens: fewer than half.",
        "Sec. 1, Figure 2",
        SelectedShare("two pictures", than_heads=False),
        f"{_SHORT}; the shares wander in training",
    ),
    Claim(
        "More dependents than heads are selected.",
        "Figure 2, Sec. 5.3",
        SelectedShare("two pictures", than_heads=True),
        f"{_SHORT}; the shares wander in training",
    ),
    Claim(
        "Sampling in parallel is as accurate as sampling one after another.",
        "Table 4, App. A",
        Rows("resan_table_4", "ReSAN w/ RSS", "ReSAN w/ Iteration"),
        _BASELINE,
        margin=NO_COST,
    ),
    Claim("ReSAN beats DiSAN on SICK, r.", "Table 3, Sec. 5.2", _sick("DiSAN"), "ELU"),
    Claim(
        "ReSAN beats DiSAN on SICK, squared error.",
        "Table 3, Sec. 5.2",
        _sick("DiSAN", "MSE"),
        "ELU",
    ),
    *(
        Claim(f"ReSAN beats {text} on SICK.", "Table 3, Sec. 5.2", _sick(model))
        for text, model in (
            ("a Bi-LSTM", "Bi-LSTM"),
            ("a Bi-GRU", "Bi-GRU"),
            ("a multi-window CNN", "Multi-window CNN"),
            ("a hierarchical CNN", "Hierarchical CNN"),
            ("multi-head attention", "Multi-head"),
        )
    ),
    Claim(
        "ReSAN beats the best earlier sentence encoders on SNLI.",
        "Table 1, Sec. 5.1",
        Quoted("resan_table_1", "ReSAN", "Gumbel TreeLSTM and residual encoders", "86.0"),
        _SHORT,
    ),
    Claim(
        "Hard attention saves time in inference.",
        "Table 2, Sec. 5.1",
        _speed(
            paper="5.5 and 7.0 s: 1.27 times",
            ours=_times("inference", "0.5"),
            other=_times("inference", "without_hard_attention"),
        ),
        f"{_GPU}; half of the tokens selected",
    ),
    Claim(
        "Sampling in parallel trains faster than sampling one after another.",
        "Table 4, App. A",
        _speed(
            paper="622 and 2996 s an epoch: 4.82 times",
            ours=_times("train", "0.5"),
            other=_times("train", "iterative"),
        ),
        f"{_GPU}; half of the tokens selected",
    ),
    Claim(
        "Sampling in parallel infers faster than sampling one after another.",
        "Table 4, App. A",
        _speed(
            paper="5.5 and 17.1 s: 3.11 times",
            ours=_times("inference", "0.5"),
            other=_times("inference", "iterative"),
        ),
        f"{_GPU}; half of the tokens selected",
    ),
    Claim(
        "Sampling in parallel needs fewer parameters than sampling one after another.",
        "Table 4, App. A",
        Parameters("resan_table_4", "ReSAN w/ RSS", "ReSAN w/ Iteration"),
        "100-dimensional GloVe",
    ),
)
