"""disan_tf/text/tables.py: rows of JSON lines and of tables, and mistakes in them."""

import pytest

from disan_tf.text.json_texts import parse_json
from disan_tf.text.tables import Table, read_rows
from tests.support.errors import user_error


def test_a_json_line_is_its_object():
    line = '{"text": "caf\\u00e9 \\ud83d\\ude00", "scores": [1, 2.5, null]}'
    assert parse_json(line) == {"text": "café \U0001f600", "scores": [1, 2.5, None]}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "a"', r"^not JSON \(Expecting ',' delimiter, column 13\)$"),
        ("", "^not JSON"),
        ("[" * 100_000, "^not JSON"),
        ('["text"]', "^not a JSON object$"),
        ('{"p": NaN}', r"^not JSON \(NaN is not a number of JSON\)$"),
        ('{"p": [-Infinity]}', r"^not JSON \(-Infinity is not"),
        ('{"p": 1e999}', r"^not JSON \(1e999 is not"),
        ('{"text": "caf\\u00e9 \\ud83d"}', r"^not JSON \(\\ud83d is half of a surrogate pair\)$"),
    ],
)
def test_a_line_that_is_no_json_object_is_described(line, message):
    with pytest.raises(ValueError, match=message):
        parse_json(line)


def test_columns_have_the_names_of_the_header_and_quotes_are_characters():
    table = Table("b\ta")
    assert table.columns == ["b", "a"]
    assert table.parse('"x\t') == {"b": '"x', "a": ""}


def test_columns_of_annotators_may_be_missing_at_the_end_alone():
    table = Table("label1\ttext\tlabel2\tlabel10")
    assert table.parse("neutral\ta") == {"label1": "neutral", "text": "a"}
    assert table.parse("\ta\tneutral\t") == {
        "label1": "",
        "text": "a",
        "label2": "neutral",
        "label10": "",
    }
    with pytest.raises(ValueError, match="^1 column, and the header has 4$"):
        table.parse("neutral")


@pytest.mark.parametrize("line, count", [("x", "1 column"), ("x\ty\tz", "3 columns")])
def test_a_row_of_another_width_is_described(line, count):
    with pytest.raises(ValueError, match=f"^{count}, and the header has 2$"):
        Table("a\tb").parse(line)


def test_a_header_with_one_name_twice_is_refused():
    with pytest.raises(ValueError, match="two columns have one name"):
        Table("a\tb\ta")


# Files

COLUMNS = {"name": "", "score": " (see the manual)"}


def convert(row):
    if row["score"] == "bad":
        raise ValueError("the score is bad")
    return row["name"], row["score"]


def read(path, content):
    path.write_text(content, encoding="utf-8")
    return list(read_rows(path, COLUMNS, convert, "restore it"))


def test_the_rows_of_both_kinds_of_files_are_converted_and_blank_lines_skipped(tmp_path):
    rows = [("a", "1"), ("b", "2")]
    assert read(tmp_path / "a.txt", "score\tname\n1\ta\n \n2\tb\n") == rows
    lines = '{"name": "a", "score": "1", "more": 3}\n\n{"score": "2", "name": "b"}'
    assert read(tmp_path / "a.jsonl", lines) == rows


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "name\tother\n", "line 1: there is no score (see the manual)"),
        ("a.txt", "name\tname\n", "line 1: two columns have one name"),
        ("a.txt", "name\tscore\n\na\n", "line 3: 1 column, and the header has 2"),
        ("a.txt", "name\tscore\na\tbad\n", "line 2: the score is bad"),
        ("a.jsonl", '{"score": "1"}\n', "line 1: there is no name"),
        ("a.jsonl", '\n{"name": "a", "score": 1}\n', "line 2: score is not a string (1)"),
        ("a.jsonl", "{", "line 1: not JSON (Expecting property name enclosed in double quotes, "),
    ],
)
def test_a_malformed_line_is_named_with_the_remedy(tmp_path, name, content, message):
    text = user_error(read, tmp_path / name, content)
    assert text.startswith(f"{tmp_path / name}, {message}") and text.endswith("; restore it.")


def test_an_error_of_whoever_takes_the_rows_is_no_error_of_the_file(tmp_path):
    (tmp_path / "a.txt").write_text("name\tscore\na\t1\n")
    rows = read_rows(tmp_path / "a.txt", COLUMNS, convert, "restore it")
    next(rows)
    with pytest.raises(ValueError, match="^mine$"):
        rows.throw(ValueError("mine"))
