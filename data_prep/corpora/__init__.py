"""Readers of raw corpora: one module per corpus, or for several of one layout."""

from data_prep.corpora import multinli, polarity, sick, snli, sst, text, trec
from data_prep.corpora.corpus import Corpus, Example, Reader

__all__ = ["Corpus", "Example", "READERS", "Reader"]

READERS: dict[str, Reader] = {
    "multinli": multinli,
    "snli": snli,
    "sst": sst,
    "sick": sick,
    "text": text,
    "trec": trec,
    "cr": polarity,
    "mpqa": polarity,
    "subj": polarity,
}
