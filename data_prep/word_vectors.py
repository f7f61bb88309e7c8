"""Reads GloVe and word2vec text files as streams: one row `word number number ...` a line."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from disan_tf.common.errors import UserError
from disan_tf.common.files import read_lines

_HEADER = re.compile("([0-9]{1,12}) ([0-9]{1,6})")  # word2vec's rows and dimension


class WordVectors(NamedTuple):
    """The wanted words' vectors, `<float32>[dim]` each, and the file's number of rows."""

    by_word: dict[str, np.ndarray]
    rows: int


def read(path: Path, dim: int, wanted: Callable[[str], bool]) -> WordVectors:
    """Reads the vectors of the words for which `wanted(word)` is true.

    Rows are split from the right, since some words in GloVe 840B contain spaces. A word2vec
    header line (`count dim`) is accepted if the file has `count` rows. Among equal words the first
    is read. Memory holds one line and the wanted vectors. The number of fields is checked in every
    row, the numbers only in rows of wanted words.

    Raises:
      UserError: the file is missing, empty, cut off, not UTF-8, of another dimension, or has a
        malformed row (names the line).
    """
    vectors, rows, announced = {}, 0, 0
    for number, line in read_lines(path):
        line = line.rstrip(" ")  # word2vec ends its rows with a space
        if number == 1:
            _check_dimension(path, line, dim)
            if header := _HEADER.fullmatch(line):
                announced = int(header[1])
                continue
        rows += 1
        spaces = line.count(" ")
        if spaces < dim:
            raise _malformed(path, number, f"{spaces + 1} fields instead of a word", dim)
        # Nearly all words have no space, and `index` is far faster than `rsplit`.
        word = line[: line.index(" ")] if spaces == dim else line.rsplit(" ", dim)[0]
        if word not in vectors and wanted(word):
            vectors[word] = _numbers(path, number, line[len(word) + 1 :], dim)
    if not rows:
        raise UserError(f"{path} holds no word vectors; download it again.")
    if rows < announced:
        raise UserError(
            f"{path} ends after {rows:,} of the {announced:,} rows that line 1 announces; download "
            "it again, or correct the number."
        )
    return WordVectors(vectors, rows)


def find(data_dir: Path, name: str) -> Path:
    """Finds the vector file `name` below `data_dir`.

    A `*` in the file's name matches any text. Among several matches, the file with the shortest
    name is chosen: "glove.6B.100d*.txt" is the archive's file if it exists, else a subset.

    Raises:
      UserError: the file does not exist; lists the existing vector files.
    """
    path = data_dir / name
    fitting = [path] if path.is_file() else path.parent.glob(path.name)
    files = sorted(filter(Path.is_file, fitting), key=lambda file: (len(file.name), file.name))
    if not files:
        others = sorted(str(other.relative_to(data_dir)) for other in path.parent.glob("*.txt"))
        raise UserError(
            f"{path} does not exist (vector files there: {', '.join(others) or 'none'}); choose "
            "one with --config.data.vectors=... or fetch it with python -m data_prep.download "
            f"glove.840B (or glove.6B) --data_dir={data_dir}."
        )
    return files[0]


def dimension(options) -> int:
    """Returns the dimension of the vector file that a corpus' options ask for."""
    return options.get("vector_dim") or options.embedding_dim


def check_dimension(path: Path, dim: int) -> None:
    """Raises UserError unless the first row has `dim` numbers; reads no other row."""
    for _, line in read_lines(path):
        _check_dimension(path, line.rstrip(" "), dim)
        return


def _check_dimension(path: Path, line: str, dim: int) -> None:
    """Compares `dim` with the header, or else with the first row's number of numbers."""
    fields, header = line.split(" "), _HEADER.fullmatch(line)
    actual = int(header[2]) if header else len(fields) - 1
    if actual > dim and not header:  # the first word may contain spaces
        actual = min(actual, _trailing_numbers(fields))
    if actual != dim:
        raise UserError(
            f"{path} has vectors of dimension {actual} (line 1), but the config asks for {dim}; "
            f"set --config.data.embedding_dim={actual} (for padded vectors "
            "--config.data.vector_dim) or choose another file with --config.data.vectors."
        )


def _trailing_numbers(fields: list[str]) -> int:
    for count, text in enumerate(reversed(fields)):
        try:
            float(text)
        except ValueError:
            return count
    return len(fields)


def _numbers(path: Path, line_number: int, text: str, dim: int) -> np.ndarray:
    """Parses `dim` numbers into `<float32>[dim]`."""
    try:
        with np.errstate(over="ignore"):  # infinite numbers are rejected below
            vector = np.array([float(field) for field in text.split(" ")], np.float32)
    except ValueError as error:
        raise _malformed(path, line_number, str(error), dim) from None
    if not np.isfinite(vector).all():
        raise _malformed(path, line_number, "a number is not finite", dim)
    return vector


def _malformed(path: Path, line_number: int, what: str, dim: int) -> UserError:
    return UserError(
        f"{path}, line {line_number}: {what}, expected a word and {dim} numbers; "
        "repair the row or download the file again."
    )
