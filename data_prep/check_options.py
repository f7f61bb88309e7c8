"""The options of a prepared corpus, `config.data`, checked before anything is read."""

from data_prep import vocabulary, word_features
from data_prep.corpora import OPTIONS
from disan_tf.options import check_choice, check_section, chosen
from disan_tf.text.tokenizer import VERSIONS


def check_options(options) -> None:
    """Asks the reader of the corpus, the tokenizer, the vocabulary and the words' features.

    Args:
      options: see `data_prep.prepare.prepare`.

    Raises:
      UserError: an option that there is not, or a value that cannot be; the sentence names the flag
        and what it may be.
    """
    reader = chosen(OPTIONS, "data", options, "corpus")
    check_section(
        "data", options, f"the corpus {options['corpus']}",
        _check_texts, *reader, vocabulary.check_options, word_features.check_options,
    )  # fmt: skip


def _check_texts(corpus: str, tokenizer: str, lowercase: bool, vectors: str) -> None:
    check_choice("tokenizer", tokenizer, VERSIONS)
