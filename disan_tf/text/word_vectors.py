"""Reads GloVe and word2vec text files as streams: one row `word number number ...` a line.

Spaces or tabs separate the fields of a row. The file may be compressed with gzip.
"""

import os
import re
from collections.abc import Callable, Container, Iterator
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple, Optional

import h5py
import numpy as np

from disan_tf.common.checks import join_choices
from disan_tf.common.errors import UserError
from disan_tf.common.files import bounded_lines, open_bytes, read_json, read_lines, sha256
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.common.int8_arrays import read_array
from disan_tf.common.paths import below
from disan_tf.text.lookup import VOCABULARY
from disan_tf.text.text_files import detect_format
from disan_tf.text.tokenizer_rules import unescape

MODEL = "model.json"  # of a released model, whose vectors are read
PREFIX = "preset:"  # of the name of such a model
_REMEDY = "restore the released model"
_TABLES = "layers/word_embedding/vars"  # the trained and the fixed vectors in a file of weights
_SCHEMA = {"weights": str, "sha256": {str: str}}
_NUMBER = re.compile(r"[-+]?[0-9]*\.?[0-9]+(e[-+]?[0-9]+)?", re.IGNORECASE)
_HEADER = re.compile("([0-9]{1,12}) ([0-9]{1,6})")  # word2vec's rows and dimension


def few_known(share: float) -> bool:
    """Returns whether so few words are known that the texts may be in another language."""
    return share < 0.5


def spellings(word: str, unescaped: bool = False) -> tuple[str, ...]:
    """Returns the spellings of a word in the order in which a vector is looked up.

    These are the word itself, in lower case and capitalised. With `unescaped`, the same three
    spellings of the word without the tokenizer's escapes follow.
    """
    words = dict.fromkeys((word, unescape(word) if unescaped else word))
    return tuple(each for one in words for each in (one, one.lower(), one.capitalize()))


def source(word: str, vectors: Container[str], unescaped: bool = False) -> Optional[str]:
    """Returns the first of a word's `spellings` that has a vector, or None."""
    return next((each for each in spellings(word, unescaped) if each in vectors), None)


class WordVectors(NamedTuple):
    """The wanted words' vectors, `<float32>[dim]` each, and the file's rows and skipped lines.

    `blank` counts blank lines, and `not_utf8` holds the numbers of lines that cannot be decoded.
    """

    by_word: dict[str, np.ndarray]
    rows: int
    blank: int = 0
    not_utf8: tuple[int, ...] = ()


def read(
    path: Path, dim: int, wanted: Callable[[str], bool], owner: str = "the config"
) -> WordVectors:
    """Reads the vectors of the words for which `wanted(word)` is true.

    Rows are split from the right, since some words in GloVe 840B contain spaces. A word2vec header
    line (`count dim`) is accepted if the file has at least `count` rows. Among equal words the
    first is read. Blank lines, rows without a word, and lines that are not UTF-8, are skipped.
    Memory holds one line and the wanted vectors. The number of fields is checked in every row, the
    numbers only in rows of wanted words; a UserError names the line. Errors say that `owner` asks
    for `dim` numbers; errors on a config name its flags.
    """
    if path.name == MODEL:
        every = _preset_vectors(path, dim)
        return WordVectors({word: every[word] for word in every if wanted(word)}, len(every))
    vectors, rows, blank, announced, not_utf8 = {}, 0, 0, 0, []
    for number, line in _read_rows(path):
        if line is None:
            not_utf8.append(number)
            continue
        if not line:
            blank += 1
            continue
        if number == 1 + len(not_utf8) + blank:
            first = number
            _check_dimension(path, line, dim, first, owner)
            if header := _HEADER.fullmatch(line):
                announced = int(header[1])
                continue
        rows += 1
        spaces = line.count(" ")
        if spaces < dim:
            raise _malformed(path, number, f"{spaces + 1} fields instead of a word", dim)
        # Nearly all words have no space, and `index` is far faster than `rsplit`.
        word = line[: line.index(" ")] if spaces == dim else line.rsplit(" ", dim)[0]
        if spaces > dim and "" in (parts := word.split(" ")):
            raise _malformed(path, number, "two spaces in a row, or one at the start", dim)
        if spaces > dim and any(map(_NUMBER.fullmatch, parts[1:])):
            raise _malformed(path, number, f"{spaces + 1} fields", dim)
        if word and word not in vectors and wanted(word):
            fields = line[len(word) + 1 :].split(" ")
            try:
                with np.errstate(over="ignore"):  # infinite numbers are rejected below
                    vectors[word] = np.array([float(field) for field in fields], np.float32)
            except ValueError as error:
                raise _malformed(path, number, str(error), dim) from None
            if not np.isfinite(vectors[word]).all():
                raise _malformed(path, number, "a number is not finite", dim)
    if not rows:
        raise UserError(f"{path} contains no word vectors; download it again.")
    if rows + len(not_utf8) < announced:
        raise UserError(
            f"{path} ends after {rows + len(not_utf8):,} of the {announced:,} rows that line "
            f"{first} announces; download it again, or correct the number."
        )
    return WordVectors(vectors, rows, blank, tuple(not_utf8))


def _read_rows(path: Path) -> Iterator[tuple[int, Optional[str]]]:
    """Yields `(line number, row)` with spaces alone between the fields, and none at the end.

    A row that is not UTF-8 is None: word2vec truncates long words, even inside of a letter.
    """
    with open_bytes(path) as file:
        if kind := detect_format(file.read(80)):
            raise _no_vectors(path, f"it is {kind}")
    with open_bytes(path) as file:
        for number, row in enumerate(bounded_lines(file, path), start=1):
            try:
                line = row.rstrip(b"\r\n").decode("utf-8")
            except UnicodeDecodeError:
                yield number, None
                continue
            line = line.removeprefix("\ufeff") if number == 1 else line
            yield number, (line.replace("\t", " ") if "\t" in line else line).rstrip(" ")


def find(data_dir: Path, name: str) -> Path:
    """Finds the vector file `name` below `data_dir`, or raises UserError with the existing files.

    "preset:<name>" finds a released model. A `*` in the file's name matches any text. Among several
    matches, the file with the shortest name is chosen: "glove.6B.100d*.txt" is the archive's file
    if it exists, else a subset.
    """
    if name.startswith(PREFIX):
        return find_preset(name)
    path = below(data_dir, name, "config.data.vectors")
    fitting = [path] if path.is_file() else path.parent.glob(path.name)
    files = sorted(filter(Path.is_file, fitting), key=lambda file: (len(file.name), file.name))
    if not files:
        others = [os.path.relpath(other, data_dir) for other in vector_files(path.parent)]
        raise UserError(
            f"{path} does not exist (vector files there: {', '.join(others) or 'none'}); choose "
            "one with --config.data.vectors=... or fetch it with python -m data_prep.download "
            f"glove.840B (or glove.6B) --data_dir={data_dir}."
        )
    return files[0]


def vector_files(folder: Path) -> list[Path]:
    """Returns the text files in a folder, also compressed ones, in alphabetical order."""
    paths = (path for pattern in ("*.txt", "*.txt.gz") for path in folder.glob(pattern))
    return sorted(filter(Path.is_file, paths))


def dimension(options) -> int:
    """Returns the dimension of the vector file that a corpus' options ask for."""
    return options.get("vector_dim") or options.embedding_dim


def check_dimension(path: Path, dim: int) -> None:
    """Raises UserError unless the first row has `dim` numbers; reads no other row."""
    if path.name == MODEL:
        _preset_vectors(path, dim)
        return
    for number, line in _read_rows(path):
        if line:
            _check_dimension(path, line, dim, number)
            return


def _preset_vectors(path: Path, dim: int) -> dict[str, np.ndarray]:
    vectors = read_preset(path)
    actual = len(next(iter(vectors.values())))
    if actual != dim:
        raise UserError(
            f"{PREFIX}{path.parent.name} has vectors of dimension {actual}, but the config asks "
            f"for {dim}; set --config.embedding.dim={actual}."
        )
    return vectors


def _check_dimension(
    path: Path, line: str, dim: int, number: int, owner: str = "the config"
) -> None:
    """Compares `dim` with the header, or else with the first row's vector, in line `number`."""
    fields, header = line.split(" "), _HEADER.fullmatch(line)
    actual = int(header[2]) if header else len(fields) - 1
    if actual > dim and not header:  # the first word may contain spaces
        actual = min(actual, len(list(takewhile(_is_number, reversed(fields)))))
    if not header and not any(map(_is_number, fields[1:])):
        raise _no_vectors(path, f"line {number} is {line[:80]!r}")
    if actual != dim:
        remedy = f"choose a file of {dim} numbers per word"
        if owner == "the config":
            remedy = (
                f"set --config.data.embedding_dim={actual} (for padded vectors "
                "--config.data.vector_dim) or choose another file with --config.data.vectors"
            )
        raise UserError(
            f"{path} has vectors of dimension {actual} (line {number}), but {owner} asks for "
            f"{dim}; {remedy}."
        )


def _no_vectors(path: Path, reason: str) -> UserError:
    return UserError(
        f"{path} is no file of word vectors: {reason}, expected a word and numbers; download the "
        "file again, or choose another with --config.data.vectors."
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _malformed(path: Path, line_number: int, what: str, dim: int) -> UserError:
    return UserError(
        f"{path}, line {line_number}: {what}, expected a word and {dim} numbers; "
        "repair the row or download the file again."
    )


def find_preset(name: str) -> Path:
    """Returns the `model.json` of a released model, from "preset:<name>", or raises UserError."""
    path = CHECKPOINTS / name.removeprefix(PREFIX) / "model.json"
    if not path.is_file():
        names = sorted(other.parent.name for other in CHECKPOINTS.glob("*/model.json"))
        raise UserError(
            f"--config.data.vectors={name} names no released model; choose {join_choices(names)}."
        )
    return path


def read_preset(path: Path) -> dict[str, np.ndarray]:
    """Reads the vectors of a released model, word -> <float32>[dim], or raises UserError."""
    info = read_json(path, _REMEDY, _SCHEMA)
    for name in (VOCABULARY, info["weights"]):
        file = path.parent / name
        if not file.is_file() or sha256(file) != info["sha256"].get(name):
            raise UserError(f"{file} is missing or damaged; {_REMEDY}.")
    with h5py.File(path.parent / info["weights"]) as weights:
        if _TABLES not in weights:
            raise UserError(f"{path.parent} has no word vectors; choose another model.")
        tables = [read_array(weights, f"{_TABLES}/{number}") for number in range(2)]
    words = [word for _, word in read_lines(path.parent / VOCABULARY, gzipped=False)]
    return dict(zip(words, np.concatenate(tables).astype(np.float32)))
