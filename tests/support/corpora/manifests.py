"""Whole manifests for prepared corpora that tests write without raw text."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from disan_tf.common.atomic import write_json
from disan_tf.common.files import read_json
from disan_tf.input_pipeline.corpus_format import FORMAT, MANIFEST, Keys, array_file, record_files


def write_manifest(
    folder: Path,
    classes: Sequence[str],
    words: tuple[int, int],
    fields: Sequence[str] = ("sentence",),
    sizes: Mapping[str, int] = {"train": 0},
    **changed,
) -> None:
    """Writes the manifest of an invented corpus, with the files that are there.

    Args:
      folder: the prepared corpus.
      classes: by label.
      words: how many are trainable, and how many fixed.
      fields: the sentences of an example.
      sizes: examples by split.
      changed: other entries, by the names in `Keys`.
    """
    counts = {"examples": sizes.get("train", 0), "expected": 0, "dropped": {}, "kept": 0}
    manifest = {
        Keys.FORMAT: FORMAT,
        Keys.CORPUS: "invented",
        Keys.OPTIONS: {},
        Keys.TOKENIZER: {
            "name": "whitespace",
            "version": 2,
            "lowercase": True,
            "split_words": False,
            "empty_tokens": False,
        },
        Keys.CLASSES: list(classes),
        Keys.FIELDS: list(fields),
        Keys.GENRES: [],
        Keys.SCORES: False,
        Keys.UNIT: "examples",
        Keys.COUNTS: {"train": counts},
        Keys.WARNINGS: [],
        Keys.TRAINABLE_WORDS: words[0],
        Keys.FIXED_WORDS: words[1],
        Keys.SPLITS: {
            name: {"examples": size, "tokens": 0, "contexts": 0} for name, size in sizes.items()
        },
        Keys.VECTORS: {
            "file": "",
            "rows": 0,
            "training_words_found": 0,
            "training_tokens_covered": 0.0,
        },
        Keys.INPUTS: {},
    }
    manifest.update({getattr(Keys, name): value for name, value in changed.items()})
    write_json(folder / MANIFEST, manifest)
    record(folder)


def record(folder: Path) -> None:
    """Records the files of a prepared corpus as they are now."""
    manifest = read_json(folder / MANIFEST, "")
    paths = [path for path in sorted(folder.iterdir()) if path.name != MANIFEST]
    write_json(folder / MANIFEST, {**manifest, Keys.FILES: record_files(paths)})


def save_array(folder: Path, name: str, array: np.ndarray) -> None:
    """Writes an array of a prepared corpus, and records it."""
    np.save(array_file(folder, name), array)
    record(folder)
