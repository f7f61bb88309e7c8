"""The DSA paper's claims (Yoon, Lee and Lee 2018)."""

from functools import partial

from disan_tf.reporting.claims.claim import NO_COST, Claim
from disan_tf.reporting.claims.other_evidence import Benchmark, Parameters, Quoted
from disan_tf.reporting.claims.rows import Rows

_SINGLE, _STATIC = "Single DSA", "CNN (Dense) with self-attention"
_snli = partial(Rows, "dsa_table_1")
_two_classes = partial(Rows, "dsa_table_2_sst_2", _SINGLE)
_five_classes = partial(Rows, "dsa_table_2_sst_5", _SINGLE)
_SHORT = "dev still rising at the end"
_BASELINES = (
    ("a Bi-LSTM", "BiLSTM"),
    ("Kim's CNN", "CNN-non-static"),
    ("a Bi-LSTM with self-attention", "BiLSTM with self-attention"),
)

DSA_CLAIMS = (
    Claim(
        "Dynamic attention beats static self-attention on SNLI.",
        "Table 1, Sec. 4.1",
        _snli(_SINGLE, _STATIC),
        _SHORT,
        headline=True,
    ),
    Claim(
        "Multiple DSA beats single DSA on SNLI.",
        "Table 1, Sec. 4.1",
        _snli("Multiple DSA", _SINGLE),
        _SHORT,
    ),
    Claim(
        "Multiple DSA beats static self-attention on SNLI.",
        "Table 1",
        _snli("Multiple DSA", _STATIC),
        _SHORT,
    ),
    Claim(
        "DSA beats the best earlier sentence encoders on SNLI.",
        "Table 1, Sec. 4.1",
        Quoted("dsa_table_1", "Multiple DSA", "ReSAN and distance-based self-attention", "86.3"),
        _SHORT,
    ),
    *(
        Claim(f"DSA beats {text} on SST-2.", "Table 2, Sec. 4.2", _two_classes(model))
        for text, model in (*_BASELINES, ("static self-attention", _STATIC))
    ),
    *(
        Claim(f"DSA beats {text} on SST-5.", "Table 2, Sec. 4.2", _five_classes(model))
        for text, model in _BASELINES
    ),
    Claim(
        "DSA is as accurate as static self-attention on SST-5.",
        "Table 2, Sec. 4.2",
        _five_classes(_STATIC),
        margin=NO_COST,
    ),
    Claim(
        "DSA trains faster than DiSAN.",
        "Table 1, Sec. 4.1",
        Benchmark(
            "135 and 587 s an epoch: 4.35 times",
            "dsa_snli",
            ("epoch", "forms", "float32"),
            ("epoch", "forms", "disan float32"),
        ),
        "a processor instead of a GTX 1080 Ti; DiSAN with native attention",
    ),
    Claim(
        "Single DSA has fewer parameters than static self-attention.",
        "Table 1",
        Parameters("dsa_table_1", _SINGLE, _STATIC),
        "100-dimensional GloVe",
    ),
)
