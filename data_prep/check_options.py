"""Checks a prepared corpus' options, `config.data`, before any file is read."""

from data_prep import vocabulary, word_features
from data_prep.corpora import READERS, fields_of
from disan_tf.common.checks import check_choice
from disan_tf.common.options import chosen, read_section
from disan_tf.text.tokenizer import VERSIONS


def check_options(options) -> None:
    """Checks the options of the reader, the tokenizer, the vocabulary and the word features.

    Args:
      options: see `data_prep.prepare.prepare`.

    Raises:
      UserError: an unknown option or an impossible value; the message names the flag and its
        possible values.
    """
    reader = chosen(READERS, "data", options, "corpus")

    def check_pairs(word_features: bool = False) -> None:
        if word_features and len(fields_of(options)) != 2:
            raise ValueError(
                "word_features=True needs a corpus of sentence pairs, and "
                f"{options['corpus']} has single sentences; leave the option out."
            )

    read_section(
        "data",
        options,
        f"the corpus {options['corpus']}",
        _check_texts,
        *reader.CHECKS,
        vocabulary.check_options,
        word_features.check_options,
        check_pairs,
    )


def _check_texts(corpus: str, tokenizer: str, lowercase: bool, vectors: str) -> None:
    check_choice("tokenizer", tokenizer, VERSIONS)
