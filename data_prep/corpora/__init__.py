"""Readers of raw corpora: one file per corpus, `read(data_dir, options) -> Corpus`."""

from data_prep.corpora import snli, sst
from data_prep.corpora.corpus import Corpus, Example

__all__ = ["Corpus", "Example", "READERS"]

READERS = {"snli": snli.read, "sst": sst.read}
