"""Words -> stems and lemmas, by which the match flag of DRCN compares words.

The stem is that of Porter's algorithm (Porter 1980, "An algorithm for suffix stripping") in
`snowballstemmer`. Words of one or two letters are left alone, as in Porter's own program and in
NLTK, which the paper used: "is" would otherwise become "i".

The lemma is looked up in the English dictionary of `simplemma`, 139,000 words of Wiktionary and
other sources; a word that it lacks is its own lemma. The guesses of simplemma's default strategy,
by rules, prefixes and parts of words, are not used. WordNet, which the paper used, needs a download
and NLTK at run time.

Known faults:

- The dictionary has faults ("played" and "playing" have the lemma "playe", "ran" has "rin", "went"
  has "wend"): "playing" matches "play" by its stem, but "ran" does not match "run".
- A word has one lemma, whatever its part of speech: "leaves" matches "leave" and not "leaf".
- Different words share a stem: "skies" and "ski", "news" and "new", "his" and "hi", "university"
  and "universe"; and "sky" and "skies" do not.
"""

from collections.abc import Iterable
from importlib.metadata import version

from disan_tf.text.tokenizer import lowercase

_LANGUAGE = "en"
_SHORT = 2  # letters of words without an ending


def versions() -> dict[str, str]:
    """The versions of the packages that stems and lemmas come from."""
    return {package: version(package) for package in ("snowballstemmer", "simplemma")}


def find_forms(words: Iterable[str]) -> dict[str, tuple[str, str]]:
    """The stem and the lemma of these words and of all words of the dictionary.

    Args:
      words: in lower case, from `tokenizer.lowercase`.

    Returns:
      Word -> (stem, lemma), in lower case. Words that are absent are their own stems and lemmas.
    """
    import snowballstemmer  # the stemmers of 30 languages, which few corpora need
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
