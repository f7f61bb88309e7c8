"""A report on an installation: versions, devices, operations and data."""

import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

import tensorflow as tf

from disan_tf.common import keras_version
from disan_tf.common.errors import UserError, escape
from disan_tf.common.files import read_json
from disan_tf.common.machine import threads

_PACKAGES = (
    *("tensorflow", "keras", "tf_keras", "tensorflow-text", "tensorflow-addons", "numpy"),
    *("absl-py", "ml_collections", "h5py", "scipy", "matplotlib", "tqdm"),
    *("scikit-learn", "simplemma", "snowballstemmer"),
)
# Name of a download -> its folder below --data_dir; "polarity" holds CR, MPQA and SUBJ.
_FOLDERS = {
    "sst": "sst",
    "snli": "snli_1.0",
    "multinli": "multinli_1.0",
    "sick": "sick",
    "trec": "trec",
    "polarity": "polarity",
}


def diagnose(data_dir: Path, prepared_dir: Optional[Path] = None) -> str:
    """Returns the lines of a bug report.

    All files of the prepared corpora in `prepared_dir` are compared with their digests.
    """
    lines = [f"Python {platform.python_version()} on {platform.platform()}"]
    lines += [f"{package} {_version(package)}" for package in _PACKAGES]
    lines += [f"device {device.name}" for device in tf.config.list_logical_devices()]
    lines.append(f"threads: {threads()} of {os.cpu_count()} processors")
    lines += _describe_backends()
    lines.append(f"data in {data_dir}:")
    lines += [f"  {_corpus(name, data_dir / folder)}" for name, folder in _FOLDERS.items()]
    vectors = sorted((data_dir / "glove").glob("*.txt"))
    lines += [f"  vectors glove/{path.name}: {path.stat().st_size:,} bytes" for path in vectors]
    if not vectors:
        lines.append("  vectors: none (python -m data_prep.download glove.6B)")
    if prepared_dir is not None:
        lines.append(f"prepared in {prepared_dir}:")
        lines += [f"  {line}" for line in _compare_digests(prepared_dir)] or ["  none"]
    return "\n".join(map(escape, lines))  # names and manifests may come from a stranger


def _compare_digests(prepared_dir: Path) -> Iterator[str]:
    """Yields a line for each prepared corpus and each cache of a biLM's layers."""
    # Imported here: these need a Keras, and the rest of the report does not.
    from disan_tf.input_pipeline.corpus_format import CACHE, MANIFEST, RECORDS, Keys, damaged_files

    manifests = [*prepared_dir.glob(f"[!.]*/{MANIFEST}"), *prepared_dir.glob(f"[!.]*/{CACHE}")]
    for path in sorted(manifests):
        folder = path.parent
        try:
            records = read_json(path, f"delete {folder}", RECORDS)[Keys.FILES]
            verdict = f"{len(records)} files match their recorded digests"
            if damaged := ", ".join(damaged_files(folder, records)):
                verdict = f"{damaged} changed since it was written; delete {folder}"
        except (UserError, OSError) as error:
            verdict = error
        yield f"{folder.name}: {verdict}"


def _describe_backends():
    """Returns lines on Keras, addons and operations; without Keras, one line with the reason."""
    if problem := keras_version.problem():
        return [f"Keras: {problem}"]
    from disan_tf import addons
    from disan_tf.ops.native import runtime

    package = tf.keras.Model.__module__.split(".")[0]
    asked = os.environ.get(keras_version.VARIABLE, "unset")
    is_without_tfa = addons.optimizer_class() is addons.MovingAverage
    reason, library = runtime.unavailable(), runtime.library
    operations = (
        f"portable ({reason})" if reason else f"native, {library().origin} ({library().path})"
    )
    return [
        f"Keras: Keras {sys.modules[package].__version__[0]} from {package} "
        f"({keras_version.VARIABLE}: {asked})",
        f"addons: {'our own' if is_without_tfa else 'tensorflow-addons'}",
        f"operations: {operations}",
    ]


def _version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "is not installed"


def _corpus(name, folder):
    if not folder.is_dir():
        return f"corpus {name}: none (python -m data_prep.download {name})"
    files = [path for path in folder.rglob("*") if path.is_file()]
    return f"corpus {name}: {len(files)} files in {folder}"
