"""Hints at the separator of a header, and what looks like a header."""

import pytest

from disan_tf.text.separators import are_names, separator_hint


@pytest.mark.parametrize(
    "columns, wanted, hint",
    [
        (["id;text"], ["text"], "semicolons"),
        (["id|text|label"], ["text"], "bars"),
        (["id;text", "label"], ["text"], "semicolons"),
        (['"id"\t"text"'], ["text"], "tabs"),
        (["id,body"], ["text"], "commas"),
        (["id", "body"], ["text"], ""),
        (["body"], ["text"], ""),
        ([], ["text"], ""),
    ],
)
def test_a_separator_is_recognised(columns, wanted, hint):
    found = separator_hint(columns, wanted)
    assert (hint in found) if hint else found == ""


@pytest.mark.parametrize("names", [["text"], ["id", "review text"], ["été", "b-2", "c.d"]])
def test_names_of_columns(names):
    assert are_names(names)


@pytest.mark.parametrize(
    "parts", [["text", " the film is good"], ["a good film is text"], ["text", "dull!"], [""]]
)
def test_parts_of_a_sentence_are_no_names(parts):
    assert not are_names(parts)
