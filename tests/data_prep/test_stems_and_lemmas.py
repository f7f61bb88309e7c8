"""Stems and lemmas of words: what matches, what does not, and what is known to go wrong."""

import pytest
from simplemma.strategies.dictionaries import DefaultDictionaryFactory

from data_prep.stems_and_lemmas import find_forms
from disan_tf.text.word_forms import read_forms, write_forms

# The examples of Porter's article, "An algorithm for suffix stripping" (1980).
PORTER = """
caresses caress | ponies poni | cats cat | feed feed | agreed agre | plastered plaster
motoring motor | sing sing | conflated conflat | hopping hop | happy happi | sky sky
relational relat | hopeful hope | generalizations gener | oscillators oscil | rate rate
controll control | is is | as as | us us | 's 's | s s | a a
"""
STEMS = dict(pair.split() for line in PORTER.strip().splitlines() for pair in line.split("|"))
MATCHES = """
plays playing | play playing | play played | mice mouse | better good | women woman | bought buy
children child | is was | swam swimming | n't not | running run | zyxing zyx
skies ski | news new | his hi | university universe | leaves leave
"""  # the last line by chance
DIFFERENT = """
dog cat | is i | as a | play player | left leave
skies sky | leaves leaf | ran run | went go | wolves wolf | people person
"""  # in the last line, forms that are missed
DICTIONARY = {"octopuses", "Africans", "africans", "dog"}  # words that no corpus has, some of all


def pairs(text):
    return [pair.strip() for line in text.strip().splitlines() for pair in line.split("|")]


@pytest.fixture(scope="module")
def forms():
    """Of the dictionary, here of fewer words, and of words that it lacks."""
    words = {word for pair in pairs(MATCHES + DIFFERENT) for word in pair.split()}
    whole = DefaultDictionaryFactory().get_dictionary("en")
    few = {word: whole[word] for word in words | {*STEMS} | DICTIONARY if word in whole}
    assert len(few) > 50 and "octopuses" in few
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DefaultDictionaryFactory, "get_dictionary", lambda self, language: few)
        return find_forms(["zyxing", "zyx", "", *STEMS])


def is_match(first, second, forms):
    """Whether two words have one stem or one lemma."""
    return any(a == b for a, b in zip(*(forms.get(word, (word, word)) for word in (first, second))))


@pytest.mark.parametrize("word", STEMS)
def test_stems_are_those_of_the_article_and_of_short_words_themselves(word, forms):
    assert forms.get(word, (word, word))[0] == STEMS[word]


@pytest.mark.parametrize("pair", pairs(MATCHES))
def test_forms_of_one_word_match(pair, forms):
    assert is_match(*pair.split(), forms)


@pytest.mark.parametrize("pair", pairs(DIFFERENT))
def test_other_words_do_not_match(pair, forms):
    assert not is_match(*pair.split(), forms)


def test_words_of_the_dictionary_are_known_in_lower_case_and_in_order(forms, tmp_path):
    assert forms["octopuses"] == ("octopus", "octopus")
    assert forms["africans"] == ("african", "african")
    assert all((word, word) != pair for word, pair in forms.items())  # only those that differ
    assert "" not in forms and "dog" not in forms and forms["zyxing"] == ("zyx", "zyxing")
    assert list(forms) == sorted(forms)
    assert all(form == form.lower() for row in forms.items() for form in (row[0], *row[1]))
    write_forms(tmp_path / "forms.tsv", forms)
    rows = read_forms(tmp_path / "forms.tsv")
    assert {word: (stem, lemma) for word, stem, lemma in rows} == forms
