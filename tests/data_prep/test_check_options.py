"""data_prep/check_options.py: options of a corpus that are refused before anything is read."""

import pytest
from ml_collections import ConfigDict

from data_prep.check_options import check_options
from data_prep.corpora import READERS
from tests.support.corpora import tiny_trees
from tests.support.errors import user_error
from tests.support.runs.training import load_config

SEPARATE = "and --config.data.word_features=True do not go together"
TEXT = "--config.data.tokenizer=whitespace does not fit --config.data.tokens=text"


@pytest.mark.parametrize(
    "config, name, value, sentence",
    [
        ("disan_sst", "corpus", "stt", "must be multinli, snli, sst, .*; did you mean sst?"),
        ("disan_sst", "tokenizer", "treebnk", "must be .*; did you mean treebank?"),
        ("disan_sst", "fixed_words", "every", "must be corpus or all."),
        ("disan_sst", "oov", "unifrom", "must be uniform, narrow_uniform or normal; did you mean"),
        ("disan_sst", "embedding_dim", 0, "must be at least 1."),
        ("disan_sst", "embedding_dim", 300.0, "must be a whole number."),
        ("disan_sst", "embedding_dim", 2**31 - 1, "must be at most 65,536."),
        ("disan_sst", "vector_words", "../a", "must have letters, digits, - and _ alone."),
        ("elmo_disan_sst", "vector_words", "few", "needs a file of vectors, --config.data.vectors"),
        ("disan_sst", "vector_dim", 301, "must be at most --config.data.embedding_dim=300; "),
        ("demo", "vector_dim", 50, "needs a file of vectors, --config.data.vectors."),
        ("disan_sst", "min_count", 0, "must be at least 1."),
        ("disan_sst", "lowercase", "no", "--config.data.lowercase='no' must be True or False."),
        ("disan_sst", "vectors", None, "must be a string."),
        ("disan_sst", "level", "phrases", "must be phrase or sentence; did you mean phrase?"),
        ("disan_sst", "classes", 3, "must be 5 or 2."),
        ("disan_sst", "clases", 2, "is not an option of the corpus sst; did you mean classes?"),
        ("disan_sst", "word_features", True, "--config.data.word_length=0 must be at least 1."),
        ("disan_snli", "tokens", "tree", "must be parse or text."),
        ("disan_snli", "tokenizer", "treebank", "does not fit --config.data.tokens=parse; use whi"),
        ("disan_snli", "tokens", "text", TEXT),
        ("disan_snli", "length_percentile", 0.0, "must be above 0 and at most 1."),
        ("disan_snli", "length_percentile", float("nan"), "must be a finite number."),
        ("disan_snli", "subset", "../mine", "may contain only ASCII letters, digits, - and _."),
        ("disan_snli", "subset", None, "must be a string."),
        ("disan_sick", "subset", "mine", "is not an option of the corpus sick"),
        ("disan_multinli", "split_seed", -1, "must be at least 0."),
        ("disan_sick", "tokenizer", "whitespace", "does not fit the raw sentences of SICK; use "),
        ("disan_trec", "classes", 5, "must be 6 or 50."),
        ("disan_trec", "dev_share", 0.0, "leaves no examples for training or for the "),
        ("disan_cr", "folds", 1, "must be at least 2."),
        ("disan_cr", "fold", 10, "is not one of the 10 folds; use 0 to 9."),
        ("drcn_snli", "word_bytes", 50, SEPARATE),
        ("drcn_snli", "bilm", "elmo/small", SEPARATE),
        ("bilm", "longest", -1, "must be at least 0."),
        ("bilm", "dev_share", 0.0, "and --config.data.test_share=0.01 must be above 0 and leave"),
        ("bilm", "test_share", 0.99, "--config.data.dev_share=0.01 and --config.data.test_share="),
    ],
)
def test_an_impossible_option_is_refused(config, name, value, sentence):
    options = ConfigDict({**load_config(config).data.to_dict(), name: value})
    message = user_error(check_options, options)
    start, *parts = sentence.split(".*")
    expected = start if start.startswith("--config") else f"--config.data.{name}={value} {start}"
    assert message.startswith(expected) and message[-1] in ".?"
    assert all(part in message for part in parts)


@pytest.mark.parametrize("name", ["corpus", "tokenizer", "vectors", "level"])
def test_a_needed_option_must_be_there(name):
    options = load_config("disan_sst").data
    del options[name]
    assert user_error(check_options, options).startswith(f"--config.data.{name} is missing; ")


def test_every_reader_has_options():
    for name in READERS:
        message = user_error(check_options, ConfigDict({"corpus": name, "x": 1}))
        assert f"x=1 is not an option of the corpus {name}, which" in message


def test_options_that_need_another_corpus_or_tokenizer_are_refused():
    message = user_error(check_options, tiny_trees.options(contexts=True, tokenizer="kim"))
    assert "--config.data.tokenizer=kim divides and deletes; use another tokenizer" in message
    message = user_error(check_options, tiny_trees.options(word_features=True, word_length=3))
    assert message.startswith("--config.data.word_features=True needs a corpus of sentence pairs")
