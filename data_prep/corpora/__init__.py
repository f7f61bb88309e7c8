"""Readers of raw corpora: one module per corpus, or per layout of several corpora."""

from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from ml_collections import ConfigDict

from data_prep.corpora import multinli, polarity, sick, snli, sst, table, text, trec
from data_prep.corpora.corpus import Corpus, Example, Reader
from disan_tf.text import VERSIONS

__all__ = ["Corpus", "Example", "READERS", "Reader", "fields_of", "read_corpus", "read_test"]
__all__ += ["splits_of", "tokenizer_version"]

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


def tokenizer_version(options) -> int:
    """Returns the version of the tokenizer with which a corpus is prepared now."""
    reader = READERS[options.corpus]
    return getattr(reader, "TOKENIZER_VERSION", VERSIONS[options.tokenizer])


def read_corpus(data_dir: Path, options, version: Optional[int], *splits: Sequence[str]) -> Corpus:
    """Reads a corpus with a version of its tokenizer; see `Reader.read` and `tokenizer_version`."""
    version = version or tokenizer_version(options)
    versioned = ConfigDict({**options.to_dict(), "tokenizer_version": version})
    return READERS[options.corpus].read(data_dir, versioned, *splits)


def read_test(data_dir: Path, options, version: Optional[int] = None) -> Corpus:
    """Reads the test split. Corpora outside `TEST_FILES` are read completely.

    Raises:
      UserError: see `Reader.read`.
    """
    splits = [("test",)] if options.corpus in TEST_FILES else []
    return read_corpus(data_dir, options, version, *splits)


def read_texts(
    data_dir: Path, options, version: Optional[int], *splits: str
) -> list[list[list[str]]]:
    """Reads splits of a corpus; returns each split's texts of each field, tokenised with spaces."""
    corpus = read_corpus(data_dir, options, version)
    return [
        [
            [" ".join(tokens) for tokens in field]
            for field in zip(*(it.sentences for it in examples))
        ]
        for examples in (corpus.splits[split] for split in splits)
    ]


def fields_of(options) -> tuple[str, ...]:
    """Returns the names of an example's texts, for the corpus in the options."""
    return _names(READERS[options.corpus].FIELDS, options)


def splits_of(options) -> tuple[str, ...]:
    """Returns the names of the splits, for the corpus in the options."""
    return _names(READERS[options.corpus].SPLITS, options)


def _names(names, options) -> tuple[str, ...]:
    return names(options) if callable(names) else names
