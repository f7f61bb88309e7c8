"""disan_tf/text/json_texts.py: JSON objects, one a line, and the items of arrays."""

import json

import pytest

from disan_tf.text.json_texts import array_items, parse_json
from tests.support.errors import user_error


def test_a_json_line_is_its_object():
    line = '{"text": "caf\\u00e9 \\ud83d\\ude00", "scores": [1, 2.5, null]}'
    assert parse_json(line) == {"text": "café \U0001f600", "scores": [1, 2.5, None]}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "a"', r"^not JSON \(Expecting ',' delimiter, column 13\)$"),
        ("", "^not JSON"),
        ("[" * 100_000, "^JSON with more than 100 levels"),
        ('["text"]', "^not a JSON object$"),
        ('{"a": {"b": 1, "b": 2}}', r"^not JSON \(the key 'b' is repeated\)$"),
        ('{"p": NaN}', r"^not JSON \(NaN is not a number of JSON\)$"),
        ('{"p": [-Infinity]}', r"^not JSON \(-Infinity is not"),
        ('{"p": 1e999}', r"^not JSON \(1e999 is not"),
        ('{"text": "caf\\u00e9 \\ud83d"}', r"^not JSON \(\\ud83d is half of a surrogate pair\)$"),
    ],
)
def test_a_line_that_is_no_json_object_is_described(line, message):
    with pytest.raises(ValueError, match=message):
        parse_json(line)


def test_a_deep_line_is_refused_at_the_same_depth_everywhere():
    def line(depth):
        return '{"text": "\\u0041", "x": ' + "[" * depth + "]" * depth + "}"

    assert parse_json(line(99))["text"] == "A"
    for depth in [*range(100, 1_100, 50), *range(960, 1_000)]:
        with pytest.raises(ValueError, match="^JSON with more than 100 levels of lists"):
            parse_json(line(depth))


@pytest.mark.parametrize("indent", [None, 2])
def test_the_items_of_an_array_are_lines(indent):
    rows = [{"text": "a\n[b]", "n": [1, {"x": ","}]}, 5, "é"]
    items = list(array_items(f" {json.dumps(rows, indent=indent, ensure_ascii=False)}\n", "a"))
    assert [json.loads(item) for item in items] == rows
    assert not any(b"\n" in item or b"\r" in item for item in items)


@pytest.mark.parametrize(
    "text, message",
    [
        ('[{"a": 1}', "a, line 1: not a JSON array (Expecting ',' delimiter, column 10); write"),
        ('[{"a": 1},\n{"a"]', "a, line 2: not a JSON array (Expecting ':' delimiter, column 5)"),
        ("[1]\n[2]\n", "a, line 2: not a JSON array (Extra data after the array, column 1); write"),
        ("[]\n\n{}", "a, line 3: not a JSON array (Extra data after the array, column 1)"),
        ("[1 2]", "a, line 1: not a JSON array (Expecting ',' delimiter, column 4)"),
    ],
)
def test_a_broken_array_is_named(text, message):
    assert user_error(list, array_items(text, "a")).startswith(message)
