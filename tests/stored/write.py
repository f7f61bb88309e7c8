"""Writes small files of this version and their predictions, which later versions must repeat.

    python -m tests.stored.write tests/stored/1.0

The models are untrained. A version that changes the format of a file writes a new folder.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401, the ops of the SavedModel

import disan_tf
from disan_tf.common.atomic import write_json
from disan_tf.runs.bundle import load_bundle, write_bundle
from disan_tf.serving.export.saved_model import export_saved_model
from disan_tf.text.lookup import VOCABULARY
from tests.support.models.bundles import SENTENCES, make_bundle

SMALL = {"name": "source2token", "activation": "elu"}  # DiSAN's SavedModel would be too large


def write(folder: Path) -> None:
    """Writes two bundles, a preset, a SavedModel and `expected.json` into a new folder."""
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        bundle = load_bundle(make_bundle(scratch / "disan"))
        words = {VOCABULARY: (bundle.directory / VOCABULARY).read_bytes()}
        info = {key: bundle.info[key] for key in bundle.info.keys() - {"weights", "sha256"}}
        for precision in ("int8", "float16"):
            write_bundle(folder / precision, bundle.model, info, words, precision)
        small = make_bundle(scratch / "small", encoder=SMALL)
        classifier = disan_tf.TextClassifier.from_preset(small, classes=["bad", "good"])
        classifier.save_to_preset(folder / "preset")
        text_model, _ = export_saved_model(small, scratch / "export")
        shutil.make_archive(str(folder / "saved_model"), "zip", text_model)
    texts = [*filter(str.strip, SENTENCES), "an unknown story"]
    predicted = {name: predict(folder / name, texts).tolist() for name, predict in FILES.items()}
    write_json(folder / "expected.json", {"texts": texts, **predicted})


def _probabilities_and_vectors(folder: Path, texts: list[str]) -> np.ndarray:
    model = disan_tf.load(folder)
    rows = [[*each["probabilities"].values()] for each in model.predict(texts)]
    return np.concatenate([rows, model.encode(texts)], axis=1)


def _logits(folder: Path, texts: list[str]) -> np.ndarray:
    classifier = disan_tf.TextClassifier.from_preset(folder)
    return classifier.predict(np.array(texts), verbose=0)


def _serve(path: Path, texts: list[str]) -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        shutil.unpack_archive(path, folder)
        served = tf.saved_model.load(folder).signatures["serving_default"]
        return served(text=tf.constant(texts))["probabilities"].numpy()


FILES = {  # the name of a file or folder -> what predicts with it, a row for each text
    "int8": _probabilities_and_vectors,
    "float16": _probabilities_and_vectors,
    "preset": _logits,
    "saved_model.zip": _serve,
}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: python -m tests.stored.write FOLDER; {len(sys.argv) - 1} arguments")
    write(Path(sys.argv[1]))
