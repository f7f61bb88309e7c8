"""Readers of raw corpora: one module per corpus, or per layout of several corpora."""

from pathlib import Path

from data_prep.corpora import multinli, polarity, sick, snli, sst, table, text, trec
from data_prep.corpora.corpus import Corpus, Example, Reader

__all__ = ["Corpus", "Example", "READERS", "Reader", "fields_of", "read_test", "splits_of"]

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
TEST_FILES = ("sick", "snli", "sst", "trec")  # corpora whose test split can be read alone


def read_test(data_dir: Path, options) -> Corpus:
    """Reads the test split. Corpora outside `TEST_FILES` are read completely.

    Raises:
      UserError: see `Reader.read`.
    """
    read = READERS[options.corpus].read
    if options.corpus in TEST_FILES:
        return read(data_dir, options, ("test",))
    return read(data_dir, options)


def fields_of(options) -> tuple[str, ...]:
    """Returns the names of an example's texts, for the corpus in the options."""
    return _names(READERS[options.corpus].FIELDS, options)


def splits_of(options) -> tuple[str, ...]:
    """Returns the names of the splits, for the corpus in the options."""
    return _names(READERS[options.corpus].SPLITS, options)


def _names(names, options) -> tuple[str, ...]:
    return names(options) if callable(names) else names
