"""disan_tf/common/schema.py: what differs from a schema is named with its place."""

import pytest

from disan_tf.common.errors import UserError
from disan_tf.common.schema import check_schema
from tests.support.errors import user_error

SCHEMA = {
    "note?": str,
    "name": str,
    "words": [int],
    "bilm": (type(None), {"units": int}),
    "scores": {"step": int, "dev": float},
    "sha256": {str: str},
    "is_whole": bool,
}
GOOD = {
    "name": "a",
    "words": [1, 2],
    "bilm": None,
    "scores": {"step": 3, "dev": 1, "more": []},
    "sha256": {"x": "y"},
    "is_whole": True,
    "others": 5,
}


def test_a_value_of_the_schema_is_returned():
    assert check_schema("a.json", GOOD, SCHEMA, "train again") is GOOD
    check_schema("a.json", {**GOOD, "bilm": {"units": 5}}, SCHEMA, "train again")
    check_schema("a.json", {**GOOD, "words": [], "sha256": {}}, SCHEMA, "train again")
    check_schema("a.json", {**GOOD, "note": ""}, SCHEMA, "train again")


@pytest.mark.parametrize(
    "changed, message",
    [
        ([], "the file must be an object"),
        ({"name": 5}, "name must be a string"),
        ({"note": 5}, "note must be a string"),
        ({"words": {"0": 1}}, "words must be a list"),
        ({"words": [1, "2"]}, "words.1 must be a whole number"),
        ({"words": [True]}, "words.0 must be a whole number"),
        ({"words": [1.0]}, "words.0 must be a whole number"),
        ({"bilm": 5}, "bilm must be null"),
        ({"bilm": {"units": "5"}}, "bilm must be null"),
        ({"scores": {"step": 3}}, "scores.dev is missing"),
        ({"scores": {"step": 3, "dev": "1"}}, "scores.dev must be a number"),
        ({"sha256": {"x": None}}, "sha256.x must be a string"),
        ({"is_whole": 1}, "is_whole must be true or false"),
    ],
)
def test_what_differs_is_named_with_its_place(changed, message):
    value = {**GOOD, **changed} if isinstance(changed, dict) else changed
    found = user_error(check_schema, "a.json", value, SCHEMA, "train again")
    assert found == f"a.json: {message}; train again."


@pytest.mark.parametrize("name", [name for name in SCHEMA if not name.endswith("?")])
def test_a_missing_name_is_named(name):
    value = {key: content for key, content in GOOD.items() if key != name}
    with pytest.raises(UserError, match=f"^a.json: {name} is missing; train again.$"):
        check_schema("a.json", value, SCHEMA, "train again")
