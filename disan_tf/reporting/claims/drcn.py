"""The multiway DRCN paper's claims (Au, Haran and Sandler)."""

from functools import partial

from disan_tf.reporting.claims.claim import Claim
from disan_tf.reporting.claims.rows import Rows

_rows = partial(Rows, "drcn_table_1")
_FULL, _BEST, _COSINE = "B-Ca-Cs-D-M", "B-Ca-Cs-M", "Cs"

DRCN_CLAIMS = (
    Claim(
        "Four co-attentions beat one.",
        "Table 1, Sec. 5.2",
        _rows(_BEST, _COSINE),
        headline=True,
    ),
    Claim(
        "Ours: four co-attentions beat one, with 40,000 training pairs.",
        "after Table 1",
        _rows(_BEST, _COSINE, examples=40_000),
    ),
    Claim(
        "Four co-attentions have a lower dev loss than one.",
        "Table 1, Sec. 6",
        _rows(_BEST, _COSINE, "dev loss"),
    ),
    Claim("Five co-attentions beat one.", "Table 1, Sec. 5.2", _rows(_FULL, _COSINE)),
    Claim(
        "The best model leaves out the dot attention.",
        "Table 1, Sec. 5.1",
        _rows(_BEST, _FULL),
    ),
    *(
        Claim(
            f"The {name} attention helps: without it the full model is worse.",
            "Table 1",
            _rows(_FULL, without),
        )
        for name, without in (
            ("bilinear", "Ca-Cs-D-M"),
            ("concatenation", "B-Cs-D-M"),
            ("cosine", "B-Ca-D-M"),
        )
    ),
    Claim(
        "The minus attention does not help: without it the full model is better.",
        "Table 1",
        _rows("B-Ca-Cs-D", _FULL),
    ),
    Claim(
        "Without the bilinear attention, four co-attentions are worse than one.",
        "Table 1, Sec. 5.1",
        _rows(_COSINE, "Ca-Cs-D-M"),
    ),
)
