"""disan_tf/text/table_files.py: rows of tables and JSON lines, separators, quotes, mistakes."""

import time

import pytest

from disan_tf.text.table_files import Rows, read_rows
from disan_tf.text.tables import Table
from tests.support.errors import user_error


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


def test_a_header_of_too_many_columns_is_refused():
    names = [f"c{number}" for number in range(10_001)]
    assert len(Table("\t".join(names[1:])).columns) == 10_000
    with pytest.raises(ValueError, match="10,001 columns; the limit is 10,000"):
        Table("\t".join(names))


@pytest.mark.parametrize("separator", [",", ";", "|", "\t"])
def test_quotes_enclose_separators_quotes_and_lines(separator):
    table = Table(f'"text"{separator}"label"', separator)
    assert table.parse(f'"a{separator} ""b""{separator}"{separator}x') == {
        "text": f'a{separator} "b"{separator}',
        "label": "x",
    }
    assert table.parse('"one') is None and table.is_open
    assert table.parse(f'two"{separator}y') == {"text": "one\ntwo", "label": "y"}


@pytest.mark.parametrize(
    "value, text",
    [
        ('"a film', '"a film'),  # plain, as in the official tables
        ('"a film"', '"a film"'),
        ('""a" film"', '""a" film"'),
        ('a "good" film', 'a "good" film'),
        ('"a ""good"" film"', 'a "good" film'),  # as pandas writes it
        ('"a\tfilm"', "a\tfilm"),
    ],
)
def test_between_tabs_a_value_is_quoted_if_it_cannot_be_plain(value, text):
    assert Table("text\tlabel").parse(f"{value}\tx") == {"text": text, "label": "x"}


def test_between_tabs_a_quoted_value_completes_its_row_in_later_lines():
    table = Table("id\ttext\tlabel")
    lines = ['1\t"one ""1""', "two\tthree", 'four"\tx']
    assert [table.parse(line) for line in lines[:2]] == [None, None] and table.is_open
    text = 'one "1"\ntwo\tthree\nfour'
    assert table.parse(lines[2]) == {"id": "1", "text": text, "label": "x"}
    assert not table.is_open


def test_between_tabs_a_last_value_over_several_lines_gets_a_hint():
    table = Table("label\ttext")
    assert table.parse('x\t"one') == {"label": "x", "text": '"one'}
    with pytest.raises(ValueError, match=r"1 column, .* 2 \(quotes .* plain: .* a \.csv file\)"):
        table.parse('two"')


def seconds(work, size):
    """The least processor time of three calls."""
    times = []
    for _ in range(3):
        start = time.process_time()
        work(size)
        times.append(time.process_time() - start)
    return min(times)


def read_quotes(separator, lines):
    table = Table(f"id{separator}text{separator}label", separator)
    for line in (f'1{separator}"', *['""'] * lines):
        assert table.parse(line) is None
    text = "\n".join(["", *['"'] * lines, ""])
    assert table.parse(f'"{separator}x') == {"id": "1", "text": text, "label": "x"}


def read_wide_header(separator, columns):
    assert len(Table(separator.join(map(str, range(columns))), separator).columns) == columns


@pytest.mark.parametrize("work, size", [(read_quotes, 1_000), (read_wide_header, 600)])
@pytest.mark.parametrize("separator", [",", "\t"])
def test_time_is_linear(work, size, separator):
    """16 times as much takes 16 times as long; it took 256 times as long in quadratic time."""
    few, many = (seconds(lambda size: work(separator, size), size * times) for times in (1, 16))
    assert many < 64 * few


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize("line", ["x" * 1_000, '""' * 500])
def test_a_quoted_value_may_have_so_many_characters(separator, line):
    table = Table(f"text{separator}label", separator)
    assert table.parse('"') is None
    with pytest.raises(ValueError, match="larger than field limit|1 column, and the header has 2"):
        for _ in range(300):
            assert table.parse(line) is None


def test_unnamed_columns_are_left_out_but_for_the_first():
    table = Table("v1,v2,,,", ",")
    assert table.parse("a,b,c,,") == table.parse("a,b") == {"v1": "a", "v2": "b"}
    assert Table(",text", ",").parse("7,a") == {"": "7", "text": "a"}


def test_a_single_column_between_tabs_takes_whole_lines():
    assert Table("text").parse("a\tb") == {"text": "a\tb"}


def parse(lines, input_format=None, wanted=("text",)):
    def check(names):
        if not set(wanted) <= set(names):
            raise ValueError("missing")

    rows = Rows(input_format, check)
    return [row for row in map(rows.parse, lines) if row is not None]


@pytest.mark.parametrize("input_format", [None, "csv", "tsv"])
@pytest.mark.parametrize("separator", [",", ";", "|", "\t"])
def test_the_separator_is_the_one_that_makes_the_wanted_columns(input_format, separator):
    lines = [f"text{separator}n", f"a{separator}1"]
    assert parse(lines, input_format) == [{"text": "a", "n": "1"}]


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=;"])
def test_excels_line_names_the_separator(line):
    assert parse([line, "text,n;text", "a,b;c"], "csv") == [{"text,n": "a,b", "text": "c"}]


@pytest.mark.parametrize("input_format", [None, "csv", "jsonl"])
def test_json_objects_are_recognised_in_the_first_line(input_format):
    assert parse(['{"text": "a", "n": 1}', '{"n": 2}'], input_format) == [
        {"text": "a", "n": 1},
        {"n": 2},
    ]


@pytest.mark.parametrize(
    "line, message",
    [
        ('{"text": {"0": "a"}, "label": {"0": "x"}}', "one JSON object holds several rows, and"),
        ('{"text": ', r"not JSON .*, and each row must be one JSON object \(pandas: orient="),
        ('{"body": "a"}', "^missing$"),
    ],
)
def test_json_that_is_no_row_is_described(line, message):
    with pytest.raises(ValueError, match=message):
        parse([line], "jsonl")


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
    assert read(tmp_path / "a.txt", "score\tname\n1\ta\n\t \n") == [rows[0], (" ", "")]
    lines = '{"name": "a", "score": "1", "more": 3}\n\n{"score": "2", "name": "b"}'
    assert read(tmp_path / "a.jsonl", lines) == rows


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "name\tother\n", "line 1: there is no score (see the manual)"),
        ("a.txt", "name\tname\n", "line 1: two columns have one name"),
        ("a.txt", "name\tscore\n\na\n", "line 3: 1 column, and the header has 2"),
        ("a.txt", "name\tscore\na\tbad\n", "line 2: the score is bad"),
        ("a.csv", 'score,name\r"a\nb",1\r', "line 1: not CSV (a carriage return outside of quo"),
        ("a.jsonl", '{"score": "1"}\n', "line 1: there is no name"),
        ("a.jsonl", '\n{"name": "a", "score": 1}\n', "line 2: score is not a string (1)"),
        ("a.jsonl", '{"name": [5], "score": "1"}', "line 1: name is not a string ([5]), and each"),
        ("a.csv", "sco,name\n", "line 1: there is no score (see the manual) (did you mean sco?)"),
        ("a.jsonl", "{", "line 1: not JSON (Expecting property name enclosed in double quotes, "),
    ],
)
def test_a_malformed_line_is_named_with_the_remedy(tmp_path, name, content, message):
    text = user_error(read, tmp_path / name, content)
    assert text.startswith(f"{tmp_path / name}, {message}") and text.endswith("; restore it.")
