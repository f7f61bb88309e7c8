"""Stems and lemmas of words: what matches, what does not, and what is known to go wrong."""

import pytest

from data_prep.stems_and_lemmas import find_forms
from disan_tf.text.word_forms import read_forms, write_forms

# The examples of Porter's article, "An algorithm for suffix stripping" (1980).
PORTER = {
    "caresses": "caress",
    "ponies": "poni",
    "cats": "cat",
    "feed": "feed",
    "agreed": "agre",
    "plastered": "plaster",
    "motoring": "motor",
    "sing": "sing",
    "conflated": "conflat",
    "hopping": "hop",
    "happy": "happi",
    "sky": "sky",
    "relational": "relat",
    "hopeful": "hope",
    "generalizations": "gener",
    "oscillators": "oscil",
    "rate": "rate",
    "controll": "control",
}


@pytest.fixture(scope="module")
def forms():
    """Of the dictionary, and of words that it lacks."""
    return find_forms(["zyxing", "zyx", "", *PORTER])


def forms_of(word, forms):
    return forms.get(word, (word, word))


def is_match(first, second, forms):
    """Whether two words have one stem or one lemma."""
    return any(a == b for a, b in zip(forms_of(first, forms), forms_of(second, forms)))


@pytest.mark.parametrize("word", PORTER)
def test_stems_are_those_of_the_article(word, forms):
    assert forms_of(word, forms)[0] == PORTER[word]


@pytest.mark.parametrize("word", ["is", "as", "us", "'s", "s", "a"])
def test_words_of_one_or_two_letters_are_their_own_stems(word, forms):
    assert forms_of(word, forms)[0] == word


@pytest.mark.parametrize(
    "pair",
    [
        "plays playing",
        "play playing",
        "play played",
        "mice mouse",
        "better good",
        "women woman",
        "children child",
        "bought buy",
        "is was",
        "swam swimming",
        "n't not",
        "running run",
        "zyxing zyx",
    ],
)
def test_forms_of_one_word_match(pair, forms):
    assert is_match(*pair.split(), forms)


@pytest.mark.parametrize("pair", ["dog cat", "is i", "as a", "play player", "left leave"])
def test_other_words_do_not_match(pair, forms):
    assert not is_match(*pair.split(), forms)


@pytest.mark.parametrize(
    "pair", ["skies ski", "news new", "his hi", "university universe", "leaves leave"]
)
def test_some_words_match_by_chance(pair, forms):
    assert is_match(*pair.split(), forms)


@pytest.mark.parametrize(
    "pair", ["skies sky", "leaves leaf", "ran run", "went go", "wolves wolf", "people person"]
)
def test_some_forms_are_missed(pair, forms):
    assert not is_match(*pair.split(), forms)


def test_words_that_no_corpus_has_are_known_from_the_dictionary(forms):
    assert forms["octopuses"] == ("octopus", "octopus") and len(forms) > 100_000


def test_only_forms_that_differ_are_kept(forms):
    assert all((word, word) != pair for word, pair in forms.items())
    assert "" not in forms and "dog" not in forms and forms["zyxing"] == ("zyx", "zyxing")


def test_all_is_in_lower_case_and_in_order(forms):
    assert forms["africans"] == ("african", "african")
    assert list(forms) == sorted(forms)
    assert all(form == form.lower() for row in forms.items() for form in (row[0], *row[1]))


def test_the_file_is_read_as_it_was_written(tmp_path, forms):
    write_forms(tmp_path / "forms.tsv", forms)
    rows = read_forms(tmp_path / "forms.tsv")
    assert {word: (stem, lemma) for word, stem, lemma in rows} == forms
