"""The names in a prepared corpus: `data_prep` writes them, `PreparedCorpus` reads them.

A prepared corpus is a directory. It has, for each split and text field, as `.npy` files:

    train.sentence.ids          <int32>[tokens]        the token ids of all examples, end to end
    train.sentence.offsets      <int64>[examples + 1]  example k is ids[offsets[k]:offsets[k + 1]]
    train.label                 <int32>[examples], or <float32>[examples] where labels are scores
    train.example_id            <S>[examples]          UTF-8
    train.genre                 <S>[examples]          UTF-8, "" unknown; if the corpus names genres

if the config asks for the characters of words:

    train.sentence.spelling     <int32>[tokens]        each token's row of `spellings`
    train.sentence.match        <uint8>[tokens]        1: the pair's other sentence has the token's
                                                       stem or lemma; for pairs with word features

if it also asks for the sentences around phrases:

    train.contexts.spelling     <int32>[tokens]        each token's row of `spellings`
    train.contexts.offsets      <int64>[sentences + 1]
    train.contexts.places       <int32>[examples, 2]   each example's sentence, and its first token

and for the whole corpus:

    manifest.json               see `Keys`
    vocabulary.txt              one word a line; line k, from 0, is the word of id k + 2
    embeddings.npy              <float32>[trainable + fixed, dim], row k is the vector of id k + 2
    spellings.npy               row 0 is zeros, the others the distinct tokens in their own case:
                                <uint8>[rows, word_length], ids of `characters.ascii_ids`, or
                                <uint16>[rows, word_length], of `characters.byte_ids`, for a biLM
    forms.tsv                   word, stem and lemma of each word that differs from one of the two
    bilm_options.json           the official files of the biLM
    bilm_weights.hdf5

`disan_tf.elmo.cache` caches the biLM's layers in a folder beside the corpus:

    cache.json                  `Keys.FILES`, counts, seconds, versions
    layers.npy                  <float16>[tokens, layers, dim], of all distinct sentences
    train.sentence.starts.npy   <int64>[examples], the place of each example's first token
"""

import math
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.lib import format as npy

from disan_tf.common.errors import UserError
from disan_tf.common.files import check_format, read_json, sha256
from disan_tf.common.schema import check_schema

FORMAT = 3  # raise it with every change of this format
REMEDY = "delete the directory and prepare the corpus again with --mode=prepare"

MANIFEST = "manifest.json"
BILM_OPTIONS = "bilm_options.json"
BILM_WEIGHTS = "bilm_weights.hdf5"

CACHE = "cache.json"

# Names of arrays of the whole corpus, and of a split's contexts; the others are `KINDS`.
EMBEDDINGS = "embeddings"
SPELLINGS = "spellings"
LAYERS = "layers"
CONTEXT_PARTS = ("spelling", "offsets", "places")

KINDS = {  # dtypes and number of axes, by the last part of an array's name
    "ids": (("int32",), 1),
    "offsets": (("int64",), 1),
    "label": (("int32", "float32"), 1),
    "example_id": (("bytes",), 1),
    "genre": (("bytes",), 1),
    "spelling": (("int32",), 1),
    "match": (("uint8",), 1),
    "places": (("int32",), 2),
    "starts": (("int64",), 1),
    "embeddings": (("float32",), 2),
    "spellings": (("uint8", "uint16"), 2),
    "layers": (("float16",), 3),
}
_READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_LONGEST_HEADER = 1000  # bytes; our arrays' headers have 128


def array_file(directory: Path, name: str) -> Path:
    """Returns the path of the array `name`."""
    return Path(directory) / f"{name}.npy"


class Keys:
    """The keys of `manifest.json`."""

    FORMAT = "format"  # the number above
    CORPUS = "corpus"  # the name of its reader
    OPTIONS = "options"  # all of `config.data`
    TOKENIZER = "tokenizer"  # name, version, lowercase, split_words, empty_tokens
    CLASSES = "classes"  # in the order of their labels
    FIELDS = "fields"  # the sentences of an example
    GENRES = "genres"  # [] if the corpus names none
    SCORES = "scores"  # whether labels are scores and `classes` the points of their scale
    UNIT = "unit"  # the unit of `counts`
    COUNTS = "counts"  # by split or file: read, expected, dropped by reason, kept
    WARNINGS = "warnings"  # sentences
    TRAINABLE_WORDS = "trainable_words"
    FIXED_WORDS = "fixed_words"
    WORD_FEATURES = "word_features"  # for pairs: word_length, spellings, forms, versions
    WORD_BYTES = "word_bytes"  # for a biLM: word_length, spellings
    BILM = "bilm"  # its name
    SPLITS = "splits"  # by name: examples, class_counts, tokens, contexts (around phrases)
    VECTORS = "vectors"  # file, rows, coverage
    FILES = "files"  # by name, all other files of the directory: see `record_files`
    INPUTS = "inputs"  # by path below the data directory: sha256, bytes, mtime_ns


RECORDS = {Keys.FILES: {str: {"bytes": int, "sha256": str}}}  # in a manifest, and in a cache

_SCHEMA = {
    Keys.CORPUS: str,
    Keys.OPTIONS: dict,
    Keys.TOKENIZER: dict,
    Keys.CLASSES: [str],
    Keys.FIELDS: [str],
    Keys.GENRES: [str],
    Keys.SCORES: bool,
    Keys.UNIT: str,
    Keys.COUNTS: {str: {"dropped": {str: int}, "kept": int}},
    Keys.WARNINGS: [str],
    Keys.TRAINABLE_WORDS: int,
    Keys.FIXED_WORDS: int,
    Keys.SPLITS: {str: {"examples": int, "tokens": int, "contexts": int}},
    Keys.VECTORS: dict,
    Keys.INPUTS: {str: {"sha256": str, "bytes": int, "mtime_ns": int}},
    **RECORDS,
}


def has_format(directory: Path) -> bool:
    """Returns whether a prepared corpus has the format above, not another version's."""
    return read_json(Path(directory) / MANIFEST, REMEDY).get(Keys.FORMAT) == FORMAT


def read_manifest(directory: Path) -> dict:
    """Reads the manifest of a prepared corpus; UserError if it is damaged or of another format."""
    path = Path(directory) / MANIFEST
    manifest = read_json(path, REMEDY)
    check_format(path, manifest, FORMAT, REMEDY)
    check_schema(path, manifest, _SCHEMA, REMEDY)
    empty = [key for key in (Keys.CLASSES, Keys.FIELDS, Keys.SPLITS) if not manifest[key]]
    if empty:
        raise UserError(f"{path}: {empty[0]} must not be empty; {REMEDY}.")
    return manifest


class Header(NamedTuple):
    """The header of an `.npy` file, whose array goes from byte `offset` to the end."""

    dtype: np.dtype
    shape: tuple[int, ...]
    order: str
    offset: int
    bytes: int

    def __str__(self) -> str:
        return f"<{self.dtype.str[1:]}>{list(self.shape)} in {self.bytes:,} bytes"


def read_header(path: Path) -> Header:
    """Reads the header of an `.npy` file, and nothing else.

    Raises OSError if it cannot be opened, ValueError if it is no complete array of numbers or
    bytes.
    """
    if path.exists() and not path.is_file():
        raise ValueError("it is not a file")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            read = _READERS[npy.read_magic(file)]
            shape, is_fortran, dtype = read(file, max_header_size=_LONGEST_HEADER)
        except Exception as error:  # its parser of Python literals may raise any error
            kind = type(error).__name__
            raise ValueError(f"it does not begin as an array does: {kind}") from None
        header = Header(dtype, shape, "F" if is_fortran else "C", file.tell(), size)
    if dtype.hasobject or min(shape, default=0) < 0:
        raise ValueError(f"it holds {header}")
    if header.offset + dtype.itemsize * math.prod(shape) != size:
        raise ValueError(f"it is cut off or too long for {header}")
    return header


def record_files(paths: Iterable[Path]) -> dict[str, dict]:
    """Returns the records of files by name: bytes, sha256, and for arrays dtype and shape."""
    records = {}
    for path in paths:
        records[path.name] = {"bytes": path.stat().st_size, "sha256": sha256(path)}
        if path.suffix == ".npy":
            header = read_header(path)
            records[path.name].update(dtype=header.dtype.str, shape=list(header.shape))
    return records


def open_array(path: Path, records: dict, remedy: str) -> np.ndarray:
    """Opens a recorded array, memory-mapped.

    `records` are the records of its folder, see `record_files`. Raises UserError, which ends with
    `remedy`, if the file is missing or damaged, or differs from its record.
    """
    try:
        header, record = read_header(path), _record(records, path.name)
        recorded = tuple(record.get(key) for key in ("dtype", "shape", "bytes"))
        if recorded != (header.dtype.str, list(header.shape), header.bytes):
            raise ValueError(f"it holds {header}, which is not what was recorded")
        dtypes, axes = KINDS[path.stem.rpartition(".")[2]]
        name = "bytes" if header.dtype.kind == "S" else header.dtype.name
        if name not in dtypes or len(header.shape) != axes or not header.dtype.isnative:
            raise ValueError(f"it holds {header}, not {' or '.join(dtypes)} with {axes} axes")
        return np.memmap(path, header.dtype, "r", header.offset, header.shape, header.order)
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read ({error}); {remedy}.") from None


def check_size(path: Path, records: dict, remedy: str) -> Path:
    """Returns the path of a recorded file; UserError if it is missing or has another size."""
    try:
        size, recorded = path.stat().st_size, _record(records, path.name)["bytes"]
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read ({error}); {remedy}.") from None
    if size != recorded:
        raise UserError(f"{path} has {size:,} bytes instead of {recorded}; {remedy}.")
    return path


def damaged_files(folder: Path, records: dict) -> Iterator[str]:
    """Yields the names of recorded files that are missing or differ; reads all files."""
    for name, record in records.items():
        path = folder / name
        if not path.is_file() or sha256(path) != record["sha256"]:
            yield name


def _record(records: dict, name: str) -> dict:
    if name not in records:
        raise ValueError("the manifest does not record it")
    return records[name]
