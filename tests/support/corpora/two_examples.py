"""A prepared corpus of two examples, written without raw text, to be damaged."""

from pathlib import Path

import numpy as np

from disan_tf.input_pipeline import PreparedCorpus
from tests.support.corpora.manifests import write_manifest
from tests.support.errors import user_error

CLASSES = ["bad", "fair", "good"]
GENRES = np.array([b"fiction", b"travel"])
ARRAYS = {
    "embeddings": np.arange(6, dtype=np.float32).reshape(3, 2),
    "dev.sentence.ids": np.array([2, 3, 4, 2], np.int32),
    "dev.sentence.offsets": np.array([0, 3, 4], np.int64),
    "dev.label": np.array([2, 0], np.int32),
    "dev.example_id": np.array([b"dev:1", b"dev:2"]),
}


def write(folder: Path) -> Path:
    """Writes `ARRAYS`, a vocabulary and the manifest."""
    (folder / "vocabulary.txt").write_text("fine\ncold\u2028ish\nnaïve\n", encoding="utf-8")
    for name, array in ARRAYS.items():
        np.save(folder / f"{name}.npy", array)
    write_manifest(folder, CLASSES, (2, 1), sizes={"dev": 2})
    return folder


def read(folder: Path) -> tuple:
    """Its dev split, vectors and vocabulary."""
    corpus = PreparedCorpus(folder)
    return corpus.split("dev"), corpus.vectors, corpus.vocabulary


def refusal(folder: Path) -> str:
    """The one line of the error that reading it ends with."""
    return user_error(read, folder)
