"""data_prep/corpora/nli_rows.py and nli_files.py: bad options, and bad input with file and line."""

import json

import pytest

from data_prep.corpora import multinli, snli
from tests.support.corpora.nli import (
    COLUMNS,
    error_of,
    options,
    row,
    text_options,
    write,
    write_columns,
)


def test_missing_files_are_named_with_the_command_that_fetches_them(tmp_path):
    write(tmp_path)
    (tmp_path / "snli_1.0/snli_1.0_dev.jsonl").unlink()
    message = error_of(tmp_path)
    assert "there is no snli_1.0/snli_1.0_dev.jsonl or .txt)" in message
    assert f"python -m data_prep.download snli --data_dir={tmp_path}" in message


def bad(data_dir, line, chosen=None):
    """The message about a training file whose second line is `line`."""
    message = error_of(write(data_dir, train=[row(), line]), chosen)
    assert message.startswith(f"{data_dir}/snli_1.0/snli_1.0_train.jsonl, line 2: ")
    assert "python -m data_prep.download snli" in message
    return message


@pytest.mark.parametrize("line", ['{"gold_label": "neutral", "pair', '["neutral"]'])
def test_a_line_that_is_no_json_object_is_named(tmp_path, line):
    assert "line 2: not " in bad(tmp_path, line)


def test_an_unknown_label_is_named_with_the_known_ones(tmp_path):
    message = bad(tmp_path, row("maybe"))
    assert "gold_label 'maybe' is not contradiction, neutral, entailment or -" in message


@pytest.mark.parametrize(
    ("field", "value"), [("gold_label", None), ("pairID", 3), ("sentence1", []), ("sentence2", {})]
)
def test_a_field_that_is_no_string_is_named(tmp_path, field, value):
    message = bad(tmp_path, {**row(), field: value}, text_options())
    assert f"{field} is not a string ({json.dumps(value)})" in message


@pytest.mark.parametrize(
    ("field", "most"), [("pairID", 255), ("genre", 255), ("sentence1_binary_parse", 131_072)]
)
def test_a_field_without_end_is_named_with_its_limit(tmp_path, field, most):
    write(tmp_path, train=[row(), row(**{field: "a" * most})])
    assert len(snli.read(tmp_path, options()).splits["train"]) == 2
    message = bad(tmp_path, row(**{field: "a" * (most + 1)}))
    assert f"{field} has {most + 1:,} characters; the limit is {most:,}; " in message
    assert f"{field} has 1,000,000 characters" in bad(tmp_path, row(**{field: "a" * 1_000_000}))


@pytest.mark.parametrize("field", ["gold_label", "pairID", "sentence1", "sentence2"])
def test_a_missing_field_is_named(tmp_path, field):
    line = {key: value for key, value in row().items() if key != field}
    assert f"there is no {field}" in bad(tmp_path, line, text_options())


@pytest.mark.parametrize("field", ["sentence1_binary_parse", "sentence2_binary_parse"])
def test_a_missing_parse_points_to_the_raw_text(tmp_path, field):
    line = {key: value for key, value in row().items() if key != field}
    message = bad(tmp_path, line)
    assert f"there is no {field}" in message
    assert "use --config.data.tokens=text --config.data.tokenizer=treebank" in message


def test_a_parse_that_is_cut_off_is_named(tmp_path):
    line = row(sentence1_binary_parse="( ( A cook ) ( stirs")
    assert "sentence1_binary_parse is cut off" in bad(tmp_path, line)


def test_a_file_without_pairs_is_refused(tmp_path):
    assert "snli_1.0_test.jsonl holds no pair" in error_of(write(tmp_path, test=[""]))


def test_bytes_that_are_not_utf8_are_named(tmp_path):
    write(tmp_path)
    path = tmp_path / "snli_1.0/snli_1.0_dev.jsonl"
    path.write_bytes(path.read_bytes() + b"\xff\n")
    assert f"{path}, line 2: byte 0xff" in error_of(tmp_path)


# Columns


def bad_columns(data_dir, line, header=COLUMNS, chosen=None):
    """The message about a training file whose third line, after a header and a row, is `line`."""
    write_columns(data_dir, header=header, train=[row(), line])
    return error_of(data_dir, chosen)


def cells(count):
    values = row()
    return "\t".join([values.get(name, "") for name in COLUMNS][:count])


@pytest.mark.parametrize("line", [cells(8), cells(14) + "\tneutral"])
def test_a_line_with_another_number_of_columns_is_named(tmp_path, line):
    count = line.count("\t") + 1
    message = bad_columns(tmp_path, line)
    assert message.startswith(f"{tmp_path}/snli_1.0/snli_1.0_train.txt, line 3: ")
    assert f"{count} columns, and the header has 14; restore" in message


def test_an_unknown_label_among_columns_is_named(tmp_path):
    assert "line 3: gold_label 'maybe' is not" in bad_columns(tmp_path, row("maybe"))


@pytest.mark.parametrize("column", ["gold_label", "sentence2"])
def test_a_header_that_lacks_a_column_is_named(tmp_path, column):
    header = [name for name in COLUMNS if name != column]
    message = bad_columns(tmp_path, row(), header, text_options())
    assert f"snli_1.0_train.txt, line 1: there is no {column}; restore" in message


def test_a_header_without_parses_points_to_the_raw_text(tmp_path):
    header = [name for name in COLUMNS if "parse" not in name]
    message = bad_columns(tmp_path, row(), header)
    assert "line 1: there is no sentence1_binary_parse (without parses, use " in message


def test_columns_without_pairs_are_refused(tmp_path):
    write_columns(tmp_path, test=[])
    assert "snli_1.0_test.txt holds no pair" in error_of(tmp_path)


# MultiNLI


def test_missing_files_of_multinli_are_named_with_the_command_that_fetches_them(tmp_path):
    message = error_of(tmp_path, options(corpus="multinli", split_seed=1))
    assert message.startswith(f"MultiNLI is not in {tmp_path} (there is no multinli_1.0/")
    assert "no multinli_1.0/multinli_1.0_dev_mismatched.jsonl or .txt)" in message
    assert f"python -m data_prep.download multinli --data_dir={tmp_path}" in message


def test_a_genre_that_is_no_string_is_named(tmp_path):
    write(tmp_path, multinli.LAYOUT, dev_matched=[row(genre=None)])
    message = error_of(tmp_path, options(corpus="multinli", split_seed=1))
    assert "multinli_1.0_dev_matched.jsonl, line 1: genre is not a string (null)" in message
    assert "python -m data_prep.download multinli" in message
