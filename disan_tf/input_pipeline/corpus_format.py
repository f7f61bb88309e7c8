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

from pathlib import Path

from disan_tf.common.errors import UserError
from disan_tf.common.files import check_format, read_json
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
    FILES = "files"  # by name, all other files of the directory: see `recorded_files.record_files`
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
