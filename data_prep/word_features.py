"""Word features for corpora of pairs: characters, and flags for matches between sentences."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Optional

import numpy as np
import tensorflow as tf

from data_prep.stems_and_lemmas import find_forms, versions
from data_prep.write_corpus import Sentences, TokenIndex, save
from disan_tf.common.checks import check_at_least
from disan_tf.input_pipeline.corpus_format import SPELLINGS, Keys
from disan_tf.text.characters import ascii_ids
from disan_tf.text.tokenizer import lowercase
from disan_tf.text.word_forms import WORD_FORMS, write_forms

Flags = dict[tuple[str, str], np.ndarray]


def check_options(
    word_features: bool = False, word_length: int = 0, bilm: str = "", word_bytes: int = 0
) -> None:
    """Checks the options for words' characters; raises ValueError if they do not fit together."""
    check_at_least("word_bytes", word_bytes, 0)
    for name, value in {"bilm": bilm, "word_bytes": word_bytes}.items():
        if word_features and value:
            raise ValueError(
                f"{name}={value} and --config.data.word_features=True do not go together: a "
                "prepared corpus has the characters of one alphabet."
            )
    if word_features:
        check_at_least("word_length", word_length, 1)


def write_word_features(
    options, folder: Path, index: TokenIndex, fields: Sequence[str]
) -> tuple[Optional[Flags], dict]:
    """Writes a corpus' `spellings.npy` and `forms.tsv`, if the options request features.

    Args:
      options: the options of `prepare`.
      folder: the prepared corpus.
      index: the corpus' sentences.
      fields: the names of a pair's two sentences.

    Returns:
      By split and field, `<uint8>[tokens]`: 1 where a token shares its stem or lemma with a token
      in the pair's other sentence; and entries for the manifest. Without features: None and {}.
    """
    if not options.get("word_features"):
        return None, {}
    spellings = ascii_ids(tf.constant(index.tokens, tf.string), options.word_length).numpy()
    save(folder, SPELLINGS, np.pad(spellings, [(1, 0), (0, 0)]).astype(np.uint8))
    words = lowercase(index.tokens)
    forms = find_forms(words)
    write_forms(folder / WORD_FORMS, forms)
    about = {"word_length": options.word_length, "spellings": len(words), "forms": len(forms)}
    about.update(versions())
    return _flag_all(index, fields, words, forms), {Keys.WORD_FEATURES: about}


def _flag_all(index: TokenIndex, fields, words: Sequence[str], forms: Mapping) -> Flags:
    columns = zip(*(forms.get(word, (word, word)) for word in words))
    numbers = [_number(column) for column in columns]
    is_word = np.array([word != "" for word in words])  # an empty token matches nothing
    flags = {}
    for split in dict.fromkeys(split for split, _ in index.sentences):
        keys = [(split, field) for field in fields]
        matches = _flag_pairs(*(index.sentences[key] for key in keys), numbers)
        for key, match in zip(keys, matches):
            flags[key] = (match & is_word[index.sentences[key].numbers]).astype(np.uint8)
    return flags


def _number(strings: Iterable[str]) -> np.ndarray:
    """Returns numbers from 0, the same for equal strings, `<int64>[strings]`."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(string, len(numbers)) for string in strings], np.int64)


def _flag_pairs(
    first: Sentences, second: Sentences, forms: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Flags tokens that share a form with their pair's other sentence, two `<bool>[tokens]`.

    Args:
      forms: for stems and for lemmas `<int64>[distinct tokens]`, the number of a token's form.
    """
    in_second, in_first = (np.zeros(len(side.numbers), bool) for side in (first, second))
    for form in forms:
        of_first, of_second = (_pair_and_form(side, form) for side in (first, second))
        in_second |= np.isin(of_first, of_second)
        in_first |= np.isin(of_second, of_first)
    return in_second, in_first


def _pair_and_form(sentences: Sentences, form: np.ndarray) -> np.ndarray:
    """Returns a number for each token's pair and form, `<int64>[tokens]`."""
    lengths = np.diff(sentences.offsets)
    pairs = np.repeat(np.arange(len(lengths)), lengths)
    return pairs * (form.max(initial=0) + 1) + form[sentences.numbers]
