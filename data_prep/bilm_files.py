"""A biLM's files in a prepared corpus: the characters of all tokens, and the official files."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf

from data_prep.write_corpus import save
from disan_tf.common.atomic import copy_file
from disan_tf.common.errors import UserError
from disan_tf.common.files import read_json
from disan_tf.input_pipeline.corpus_format import BILM_OPTIONS, BILM_WEIGHTS, SPELLINGS, Keys
from disan_tf.text.characters import LONGEST_WORD, byte_ids

FOLDER = "elmo"  # of the downloads
KINDS = ("options.json", "weights.hdf5")


def find(data_dir: Path, name: str) -> list[Path]:
    """Finds the release's `<name>_options.json` and `<name>_weights.hdf5` below `data_dir`.

    Raises:
      UserError: one of them is missing.
    """
    paths = [Path(data_dir) / f"{name}_{kind}" for kind in KINDS]
    for path in paths:
        if not path.is_file():
            raise UserError(
                f"{path} is missing; --config.data.bilm={name} names it; fetch the official files "
                "with python -m data_prep.download elmo, or train a biLM with configs/bilm.py."
            )
    return paths


def names(data_dir: Path) -> list[str]:
    """Returns the names of the biLMs in `FOLDER`, also of those that lack a file."""
    paths = (path for kind in KINDS for path in (data_dir / FOLDER).glob(f"*_{kind}"))
    return sorted({f"{FOLDER}/{path.name.rpartition('_')[0]}" for path in paths})


def write_characters(word_length: int, folder: Path, tokens: Sequence[str]) -> dict:
    """Writes `spellings.npy`, the distinct tokens' byte ids; returns an entry for the manifest."""
    ids = byte_ids(tf.constant(list(tokens), tf.string), word_length).numpy()
    save(folder, SPELLINGS, np.pad(ids, [(1, 0), (0, 0)]).astype(np.uint16))
    return {Keys.WORD_BYTES: {"word_length": word_length, "spellings": len(tokens)}}


def write_bilm(name: str, paths: Sequence[Path], folder: Path, tokens: Sequence[str]) -> dict:
    """Writes `bilm_options.json`, `bilm_weights.hdf5` and the characters of the tokens.

    The weights are a hard link where the file system supports it: the official ones have 375 MB.

    Args:
      name: the biLM's name, see `find`.
      paths: the paths from `find`.
      folder: the prepared corpus.
      tokens: the corpus' distinct tokens, in their own case.

    Returns:
      Entries for the manifest.

    Raises:
      UserError: see `read_word_length`.
    """
    options, weights = paths
    word_length = read_word_length(options)
    copy_file(options, folder / BILM_OPTIONS)
    try:
        os.link(weights.resolve(), folder / BILM_WEIGHTS)  # links the target of a symbolic link
    except OSError:
        copy_file(weights, folder / BILM_WEIGHTS)
    return {Keys.BILM: {"name": name}, **write_characters(word_length, folder, tokens)}


def read_word_length(path: Path) -> int:
    """Reads from a biLM's options file how many bytes of a word it reads.

    Raises:
      UserError: the options are not JSON, or do not contain the number.
    """
    content = read_json(path, "restore the options file of the biLM")
    characters = content.get("char_cnn")
    known = characters if isinstance(characters, dict) else {}
    word_length = known.get("max_characters_per_token")
    if word_length is None:
        raise UserError(
            f"{path} has no char_cnn.max_characters_per_token; it must be the options.json of a "
            "biLM with characters."
        )
    if type(word_length) is not int or not 3 <= word_length <= LONGEST_WORD:
        raise UserError(
            f"{path}: char_cnn.max_characters_per_token is {word_length!r} and must be a whole "
            f"number from 3 to {LONGEST_WORD:,}; use the options.json of a biLM with characters."
        )
    return word_length
