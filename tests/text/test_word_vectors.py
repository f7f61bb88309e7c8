"""disan_tf/text/word_vectors.py: formats, words with spaces, bounded memory, bad input."""

import gzip
import tracemalloc

import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.text import word_vectors
from tests.support.errors import user_error


@pytest.fixture
def write(tmp_path):
    def _write(content):
        path = tmp_path / "vectors.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return _write


def everything(word):
    return True


def as_lists(vectors):
    return {word: vector.tolist() for word, vector in vectors.by_word.items()}


def error_of(path, dim=3):
    message = user_error(word_vectors.read, path, dim, everything)
    assert message.startswith(str(path))
    return message


def test_reads_wanted_words_as_float32_and_counts_all_rows(write):
    path = write("tea 1 2 3\nsoup -0.5 1e-3 0\nrice 7 8 9\n")
    vectors = word_vectors.read(path, 3, {"soup", "bread"}.__contains__)
    assert list(vectors.by_word) == ["soup"]
    assert vectors.by_word["soup"].dtype == np.float32
    np.testing.assert_array_equal(vectors.by_word["soup"], np.float32([-0.5, 1e-3, 0]))
    assert vectors.rows == 3


def test_words_may_contain_spaces_even_in_the_first_row(write):
    path = write(". . . 1 2 3\nat me@site.org 4 5 6\n1 1/2 7 8 9\n")
    assert as_lists(word_vectors.read(path, 3, everything)) == {
        ". . .": [1, 2, 3],
        "at me@site.org": [4, 5, 6],
        "1 1/2": [7, 8, 9],
    }


def test_a_header_line_and_spaces_at_line_ends_are_accepted(write):
    vectors = word_vectors.read(write("2 3\ntea 1 2 3 \nsoup 4 5 6 \n"), 3, everything)
    assert as_lists(vectors) == {"tea": [1, 2, 3], "soup": [4, 5, 6]}
    assert vectors.rows == 2


def test_a_row_without_a_word_is_skipped(write):
    vectors = word_vectors.read(write("tea 1 2 3\n 4 5 6\n"), 3, everything)
    assert list(vectors.by_word) == ["tea"]


def test_blank_lines_are_skipped_and_counted(write):
    vectors = word_vectors.read(write("\ntea 1 2 3\n\nsoup 4 5 6\n \n"), 3, everything)
    assert list(vectors.by_word) == ["tea", "soup"]
    assert (vectors.rows, vectors.blank) == (2, 3)


@pytest.mark.parametrize(
    "content, lines, rows",
    [
        (b"tea 1 2 3\nso\xff 4 5 6\nsoup 7 8 9\n", (2,), 2),
        (b"\xe9t 1 2 3\ntea 1 2 3\nsoup 7 8 9\n\xc3 1 2\n", (1, 4), 2),
        (b"3 3\nte\xc3 0 0 0\ntea 1 2 3\nsoup 7 8 9\n", (2,), 2),  # word2vec counts the row
    ],
)
def test_lines_that_are_not_utf8_are_skipped_and_listed(content, lines, rows, tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)
    word_vectors.check_dimension(path, 3)
    vectors = word_vectors.read(path, 3, everything)
    assert as_lists(vectors) == {"tea": [1, 2, 3], "soup": [7, 8, 9]}
    assert (vectors.not_utf8, vectors.rows) == (lines, rows)


def test_a_file_without_a_line_in_utf8_is_refused(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_bytes(b"t\xe9 1 2 3\n" * 3)
    assert "contains no word vectors" in error_of(path)


def test_a_path_may_be_outside_of_the_data(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / "own.txt"
    path.write_text("tea 1 2 3\n")
    assert word_vectors.find(tmp_path / "data", "~/own.txt") == path
    message = user_error(word_vectors.find, tmp_path / "data", "~/owm.txt")
    assert "(vector files there: ../own.txt)" in message
    message = user_error(word_vectors.find, tmp_path, "http://a.org/v.txt")
    assert message.startswith("--config.data.vectors=http://a.org/v.txt is a web address; download")


def test_a_compressed_file_is_read(tmp_path):
    path = tmp_path / "vectors.txt.gz"
    path.write_bytes(gzip.compress(b"tea 1 2 3\n"))
    word_vectors.check_dimension(path, 3)
    assert as_lists(word_vectors.read(path, 3, everything)) == {"tea": [1, 2, 3]}
    path.write_bytes(gzip.compress(b"tea 1 2 3\n" * 100)[:-9])
    assert "is a damaged gzip file" in error_of(path)


@pytest.mark.parametrize(
    "content, reason",
    [
        ("version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "it is a Git LFS pointer"),
        ("<!DOCTYPE html>\n<html>\n", "line 1 is '<!DOCTYPE html>'"),
        (b"PK\x03\x04\x14\x00", "it is an Excel workbook or another zip archive"),
        ("soup\n", "line 1 is 'soup'"),
        ("x" * 500 + "\n", "line 1 is '" + "x" * 80 + "', expected"),
    ],
)
def test_a_file_of_something_else_is_named(write, content, reason):
    assert f"is no file of word vectors: {reason}" in error_of(write(content))


def test_unicode_line_separators_belong_to_the_word(write):
    vectors = word_vectors.read(write("a\u2028b 1 2 3\n\x85 4 5 6\n"), 3, everything)
    assert list(vectors.by_word) == ["a\u2028b", "\x85"]


@pytest.mark.parametrize(
    "row, message",
    [
        ("soup 4 5", "line 2: 3 fields instead of a word, expected a word and 3 numbers"),
        ("soup 4 5 6 7", "line 2: 5 fields, expected a word and 3 numbers"),
        ("soup 4 5 6cake 7 8 9", "line 2: 7 fields, expected a word and 3 numbers"),
        ("soup  4 5 6", "line 2: two spaces in a row, or one at the start, expected a word and"),
        (" soup 4 5 6", "line 2: two spaces in a row, or one at the start, expected a word and"),
        ("soup 4 five 6", "line 2: could not convert string to float: 'five'"),
        ("soup 4 5 nan", "line 2: a number is not finite"),
        ("soup 4 5 1e300", "line 2: a number is not finite"),
    ],
)
def test_a_malformed_row_is_named(write, row, message):
    assert message in error_of(write(f"tea 1 2 3\n{row}\nrice 7 8 9\n"))


def test_a_short_row_is_reported_even_when_nobody_wants_its_word(write):
    with pytest.raises(UserError, match="line 2"):
        word_vectors.read(write("tea 1 2 3\nsoup 4\n"), 3, {"tea"}.__contains__)


@pytest.mark.parametrize("text", ["tea 1 2\n", "tea 1 2 3 4 5\n", "9 5\ntea 1 2 3 4 5\n"])
def test_a_file_of_another_dimension_is_refused_with_both_dimensions(write, text):
    message = error_of(write(text))
    dimension = len(text.splitlines()[-1].split()) - 1
    assert f"dimension {dimension} " in message
    assert "asks for 3" in message
    assert f"--config.data.embedding_dim={dimension}" in message


@pytest.mark.parametrize("count", [3, 400_000])
def test_fewer_rows_than_the_header_announces_are_refused(write, count):
    message = error_of(write(f"{count} 3\ntea 1 2 3\nsoup 4 5 6\n"))
    assert f"ends after 2 of the {count:,} rows that line 1 announces; download it" in message


@pytest.mark.parametrize("text", ["", "2 3\n"])
def test_a_file_without_rows_is_refused(write, text):
    assert "contains no word vectors" in error_of(write(text))


def test_a_missing_file_is_reported_with_its_neighbours_and_the_remedy(tmp_path):
    (tmp_path / "glove").mkdir()
    (tmp_path / "glove/small.txt").write_text("tea 1 2 3\n")
    message = user_error(word_vectors.find, tmp_path, "glove/large.txt")
    assert message.startswith(f"{tmp_path}/glove/large.txt does not exist")
    assert "glove/small.txt" in message
    assert "--config.data.vectors=" in message
    assert "python -m data_prep.download glove.840B" in message


def test_memory_does_not_grow_with_the_file(write):
    row = " 0.12345" * 50
    path = write("".join(f"w{number}{row}\n" for number in range(10_000)))  # 4 MB
    tracemalloc.start()
    try:
        word_vectors.read(path, 50, {"w5", "w9999"}.__contains__)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 300_000


def test_a_star_is_the_whole_file_or_else_its_subset(tmp_path):
    subset, whole = tmp_path / "tiny.10d.subset.txt", tmp_path / "tiny.10d.txt"
    subset.touch()
    assert word_vectors.find(tmp_path, "tiny.10d*.txt") == subset
    whole.touch()
    assert word_vectors.find(tmp_path, "tiny.10d*.txt") == whole
    with pytest.raises(UserError, match="tiny.20d.*does not exist.*tiny.10d.txt"):
        word_vectors.find(tmp_path, "tiny.20d*.txt")
