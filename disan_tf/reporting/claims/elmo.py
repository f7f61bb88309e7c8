"""The ELMo-DiSAN paper's claims (Essam, Eldawlatly and Abbas)."""

from disan_tf.reporting.claims.claim import Claim
from disan_tf.reporting.claims.other_evidence import Untested
from disan_tf.reporting.claims.rows import Rows

_STAND_IN = "a small biLM of 3.5 million words instead of the official one of 800 million"
GLOVE, ELMO = "DiSAN + GloVe", "DiSAN + ELMo"
_MISSING = f"{ELMO}: not run"

ELMO_CLAIMS = (
    Claim(
        "ELMo improves DiSAN on SST.", "Table I, Sec. IV", Rows("elmo_disan_table_1", ELMO, GLOVE)
    ),
    Claim(
        "Ours: contextual vectors beside GloVe improve DiSAN on SST.",
        "after Table I",
        Rows("elmo_disan_table_1", "DiSAN + small biLM and GloVe", GLOVE, stand_in=_STAND_IN),
        headline=True,
    ),
    Claim(
        "Ours: contextual vectors instead of GloVe improve DiSAN on SST.",
        "after Table I",
        Rows("elmo_disan_table_1", "DiSAN + small biLM", GLOVE, stand_in=_STAND_IN),
    ),
    Claim(
        "ELMo improves the recall of the classes negative, neutral and very positive.",
        "Tables II and III",
        Untested("neutral: 24.4 and 8.7 %", _MISSING),
    ),
    Claim(
        "ELMo is best at epoch 6 and drops after epoch 8.",
        "Figure 6",
        Untested("a curve", _MISSING),
    ),
    Claim(
        "ELMo takes six times the training time of GloVe.",
        "Sec. IV",
        Untested("6 times", _MISSING),
        "a small biLM: see tables/elmo_disan_cost.csv",
    ),
)
