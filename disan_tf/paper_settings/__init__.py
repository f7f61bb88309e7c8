"""What the experiments of a paper share, as configs; each file of `configs/` says what differs."""

from disan_tf.paper_settings.disan import BASELINES, cross_validated, disan, tiny
from disan_tf.paper_settings.drcn import DRCN_VARIANTS, drcn
from disan_tf.paper_settings.dsa import DSA_SENTENCE_BASELINES, DSA_VARIANTS, dsa
from disan_tf.paper_settings.resan import RESAN_VARIANTS, resan

__all__ = [
    "BASELINES",
    "DRCN_VARIANTS",
    "DSA_SENTENCE_BASELINES",
    "DSA_VARIANTS",
    "RESAN_VARIANTS",
    "cross_validated",
    "disan",
    "drcn",
    "dsa",
    "resan",
    "tiny",
]
