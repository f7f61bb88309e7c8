"""The DiSAN paper's claims (Shen et al. 2018a)."""

from functools import partial

from disan_tf.reporting.claims.claim import Claim
from disan_tf.reporting.claims.other_evidence import Benchmark, Parameters, Quoted, Untested
from disan_tf.reporting.claims.rows import Rows

_snli = partial(Rows, "disan_table_1")
_sst = partial(Rows, "disan_table_2")
_encoders = partial(Benchmark, file="disan_encoders")
_ADDITIVE = "Word Embedding with additive attention"
_S2T = "Word Embedding with s2t self-attention"
_MULTI_HEAD = "Multi-head with s2t self-attention"
_BI_LSTM = "Bi-LSTM with s2t self-attention"
_UNDIRECTED = "DiSAN without directions"
_RISING = "dev still rising at the end"
_NARROW = "an encoder without units of its own is as wide as the vectors"

DISAN_CLAIMS = (
    Claim(
        "Multi-dimensional attention beats additive attention on SNLI.",
        "Table 1, Sec. 5.1",
        _snli(_S2T, _ADDITIVE),
        f"{_RISING}; {_NARROW}",
    ),
    Claim(
        "DiSAN beats multi-head attention on SNLI.",
        "Table 1, Sec. 5.1",
        _snli("DiSAN", _MULTI_HEAD),
        f"{_RISING}; one dropout rate, where the paper tries five",
    ),
    Claim("DiSAN beats a Bi-LSTM on SNLI.", "Table 1, Sec. 5.1", _snli("DiSAN", _BI_LSTM), _RISING),
    Claim(
        "Directions help on SNLI.",
        "Table 1, Sec. 5.1",
        _snli("DiSAN", _UNDIRECTED),
        _RISING,
        headline=True,
    ),
    Claim(
        "DiSAN beats source2token attention alone on SNLI.",
        "Table 1",
        _snli("DiSAN", _S2T),
        f"{_RISING}; {_NARROW}",
    ),
    Claim(
        "DiSAN beats additive attention on SNLI.",
        "Table 1",
        _snli("DiSAN", _ADDITIVE),
        f"{_RISING}; {_NARROW}",
    ),
    Claim(
        "Multi-dimensional attention beats additive attention on SST.",
        "Table 2",
        _sst(_S2T, _ADDITIVE),
        _NARROW,
    ),
    Claim(
        "DiSAN beats additive attention on SST.",
        "Table 2",
        _sst("DiSAN", _ADDITIVE),
        _NARROW,
    ),
    Claim(
        "DiSAN beats source2token attention alone on SST.",
        "Table 2",
        _sst("DiSAN", _S2T),
        _NARROW,
    ),
    Claim("DiSAN beats multi-head attention on SST.", "Table 2", _sst("DiSAN", _MULTI_HEAD)),
    Claim("DiSAN beats a Bi-LSTM on SST.", "Table 2", _sst("DiSAN", _BI_LSTM)),
    Claim("Directions help on SST.", "Table 2", _sst("DiSAN", _UNDIRECTED)),
    Claim(
        "DiSAN beats the best earlier model on SST.",
        "Table 2, Sec. 5.2",
        Quoted("disan_table_2", "DiSAN", "CNN-Tensor", "51.2"),
    ),
    Claim(
        "DiSAN beats LSTMs and Tree-LSTMs on SST's sentences of 5 to 12 words.",
        "Figure 5",
        Untested("a curve", "LSTM and Tree-LSTM: other papers' models, not trained here"),
    ),
    Claim(
        "DiSAN beats a Bi-LSTM on MultiNLI.",
        "Table 3",
        Quoted("disan_table_3", "DiSAN", "Bi-LSTM", "67.507"),
        "a half of dev matched instead of the test set",
    ),
    Claim(
        "DiSAN beats Tree-LSTMs on SICK.",
        "Table 4",
        Quoted("disan_table_4", "DiSAN", "Dep. Tree-LSTM", ".8676 (.0030)"),
    ),
    *(
        Claim(
            f"DiSAN {verb} the best earlier model on {corpus}.",
            "Table 5",
            Quoted("disan_table_5", f"DiSAN, {corpus}", model, figure),
        )
        for corpus, verb, model, figure in (
            ("CR", "equals", "SRU", "84.8 (1.3)"),
            ("MPQA", "comes close to", "AdaSent", "90.4 (0.7)"),
            ("SUBJ", "beats", "Skip-thought", "93.6"),
            ("TREC", "beats", "SRU", "93.9 (0.6)"),
        )
    ),
    Claim(
        "DiSAN with our C++ kernel trains faster than a Bi-LSTM.",
        "Table 1, Sec. 5.1",
        _encoders(
            paper="587 and 2080 s an epoch: 3.54 times",
            ours=("encoders", "encoders", "disan"),
            other=("encoders", "encoders", "bi_lstm"),
        ),
        "a processor instead of a GTX 1080 Ti; the authors' formulation is slower than the Bi-LSTM",
    ),
    Claim(
        "DiSAN has fewer parameters than the Bi-LSTM.",
        "Table 1, Sec. 5.1",
        Parameters("disan_table_1", "DiSAN", _BI_LSTM),
        "100-dimensional GloVe; with 300 dimensions the counts are the paper's",
    ),
)
