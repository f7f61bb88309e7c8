"""Readers of raw corpora: one module per corpus, or for several of one layout."""

from data_prep.corpora import multinli, polarity, sick, snli, sst, table, text, trec
from data_prep.corpora.corpus import Corpus, Example, Reader

__all__ = ["Corpus", "Example", "READERS", "Reader", "fields_of", "splits_of"]

READERS: dict[str, Reader] = {
    "multinli": multinli,
    "snli": snli,
    "sst": sst,
    "sick": sick,
    "table": table,
    "text": text,
    "trec": trec,
    "cr": polarity,
    "mpqa": polarity,
    "subj": polarity,
}


def fields_of(options) -> tuple[str, ...]:
    """The names of the texts of an example of the corpus that options name."""
    return _names(READERS[options.corpus].FIELDS, options)


def splits_of(options) -> tuple[str, ...]:
    """The names of the splits of the corpus that options name."""
    return _names(READERS[options.corpus].SPLITS, options)


def _names(names, options) -> tuple[str, ...]:
    return names(options) if callable(names) else names
