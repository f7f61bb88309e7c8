"""Words -> their stems and lemmas, by which the match flag of DRCN compares them.

The stem is that of Porter's algorithm (Porter 1980, "An algorithm for suffix stripping") as
`snowballstemmer` has it. Words of one or two letters stay as they are, as in Porter's own program
and in NLTK, which the paper used: "is" would else become "i".

The lemma is looked up in the English dictionary of `simplemma`, 139,000 words of Wiktionary and
others; a word that is not there is its own lemma. Its default strategy would go on to guess, by
rules, prefixes and parts of words, and those guesses depend on each other. WordNet, which the paper
used, needs a download and NLTK at run time.

What is known not to be right:

- The dictionary has faults ("played" and "playing" have the lemma "playe", "ran" has "rin", "went"
  has "wend"): "playing" matches "play" by its stem, but "ran" does not match "run".
- A word has one lemma, whatever its part of speech: "leaves" matches "leave" and not "leaf".
- Stems are not words: "skies" and "ski" have one, "news" and "new", "his" and "hi", "university"
  and "universe"; "sky" has another one than "skies".
"""

from collections.abc import Iterable
from importlib.metadata import version

import snowballstemmer
from simplemma.strategies import DictionaryLookupStrategy
from simplemma.strategies.dictionaries import DefaultDictionaryFactory

from disan_tf.text.tokenizer import lowercase

_LANGUAGE = "en"
_SHORT = 2  # letters of words that have no ending


def versions() -> dict[str, str]:
    """Of the packages that stems and lemmas come from."""
    return {package: version(package) for package in ("snowballstemmer", "simplemma")}


def find_forms(words: Iterable[str]) -> dict[str, tuple[str, str]]:
    """The stem and the lemma of these words and of all words of the dictionary.

    Args:
      words: in lower case, as `tokenizer.lowercase` gives it.

    Returns:
      Word -> (stem, lemma), in lower case. Words that are absent are their own stems and lemmas.
    """
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
