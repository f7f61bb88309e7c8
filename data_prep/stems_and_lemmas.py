"""Stems and lemmas of words, by which DRCN's match flag compares words.

`snowballstemmer` computes stems by Porter's algorithm (Porter 1980, "An algorithm for suffix
stripping"). Words of one or two letters are left alone, as in Porter's own program and in NLTK,
which the paper used: "is" would otherwise become "i".

Lemmas are looked up in `simplemma`'s English dictionary, 139,000 words from Wiktionary and other
sources; a word that the dictionary lacks is its own lemma. The guesses of simplemma's default
strategy, by rules, prefixes and parts of words, are not used. WordNet, which the paper used, needs
a download and NLTK at run time.

Known faults:

- The dictionary has faults ("played" and "playing" have the lemma "playe", "ran" has "rin", "went"
  has "wend"): "playing" matches "play" by its stem, but "ran" does not match "run".
- A word has one lemma, whatever its part of speech: "leaves" matches "leave" and not "leaf".
- Different words share a stem: "skies" and "ski", "news" and "new", "his" and "hi", "university"
  and "universe"; "sky" and "skies" have different stems.
"""

from collections.abc import Iterable
from importlib.metadata import version

from disan_tf.text.tokenizer import lowercase

_LANGUAGE = "en"
_SHORT = 2  # letters of the longest words without an ending


def versions() -> dict[str, str]:
    """Returns the versions of the packages that compute stems and lemmas."""
    return {package: version(package) for package in ("snowballstemmer", "simplemma")}


def find_forms(words: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Finds the stems and lemmas of these words and of all words in the dictionary.

    Args:
      words: in lower case, from `tokenizer.lowercase`.

    Returns:
      Word -> (stem, lemma), in lower case. Words that are absent are their own stems and lemmas.
    """
    import snowballstemmer  # stemmers for 30 languages, which few corpora need
    from simplemma.strategies import DictionaryLookupStrategy
    from simplemma.strategies.dictionaries import DefaultDictionaryFactory

    factory = DefaultDictionaryFactory()
    listed = lowercase(list(factory.get_dictionary(_LANGUAGE)))
    known = sorted({*listed, *words} - {""})
    lookup, stemmer = DictionaryLookupStrategy(factory), snowballstemmer.stemmer("porter")
    stems = [word if len(word) <= _SHORT else stemmer.stemWord(word) for word in known]
    lemmas = lowercase([lookup.get_lemma(word, _LANGUAGE) or word for word in known])
    return {
        word: (stem, lemma)
        for word, stem, lemma in zip(known, stems, lemmas)
        if (stem, lemma) != (word, word)
    }
