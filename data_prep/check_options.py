"""The options of a prepared corpus, `config.data`, checked before anything is read."""

from data_prep import vocabulary, word_features
from data_prep.corpora import READERS, fields_of
from disan_tf.common.errors import UserError
from disan_tf.common.options import check_choice, check_section, chosen
from disan_tf.text.tokenizer import VERSIONS


def check_options(options) -> None:
    """Checks the options of the reader, the tokenizer, the vocabulary and the word features.

    Args:
      options: see `data_prep.prepare.prepare`.

    Raises:
      UserError: an unknown option or an impossible value; the sentence names the flag and what it
        may be.
    """
    reader = chosen(READERS, "data", options, "corpus")
    check_section(
        "data",
        options,
        f"the corpus {options['corpus']}",
        _check_texts,
        *reader.CHECKS,
        vocabulary.check_options,
        word_features.check_options,
    )
    if options.get("word_features") and len(fields_of(options)) != 2:
        raise UserError(
            "--config.data.word_features=True needs a corpus of sentence pairs, and "
            f"{options['corpus']} has single sentences; leave the option out."
        )


def _check_texts(corpus: str, tokenizer: str, lowercase: bool, vectors: str) -> None:
    check_choice("tokenizer", tokenizer, VERSIONS)
