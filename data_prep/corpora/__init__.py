"""Readers of raw corpora: one file per corpus, `read(data_dir, options) -> Corpus`."""

from data_prep.corpora import multinli, polarity, sick, snli, sst, text, trec
from data_prep.corpora.corpus import Corpus, Example

__all__ = ["Corpus", "Example", "READERS", "SHARDS"]

READERS = {
    "multinli": multinli.read,
    "snli": snli.read,
    "sst": sst.read,
    "sick": sick.read,
    "text": text.read,
    "trec": trec.read,
    "cr": polarity.read,
    "mpqa": polarity.read,
    "subj": polarity.read,
}

SHARDS = {"text": text.shards}  # of corpora of any number of files: those that there are now
