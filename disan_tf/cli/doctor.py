"""A report on an installation: versions, devices, operations and data."""

import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

import tensorflow as tf
from ml_collections import ConfigDict

from disan_tf.common import keras_version
from disan_tf.common.checks import count
from disan_tf.common.errors import UserError, escape
from disan_tf.common.files import read_json
from disan_tf.common.machine import threads

_PACKAGES = (
    *("tensorflow", "keras", "tf_keras", "tensorflow-text", "tensorflow-addons", "numpy"),
    *("absl-py", "ml_collections", "h5py", "scipy", "matplotlib", "tqdm"),
    *("scikit-learn", "simplemma", "snowballstemmer"),
)
_OWN_DATA = ("table", "text")  # corpora whose files the options name


def diagnose(data_dir: Path, prepared_dir: Optional[Path] = None) -> str:
    """Returns the lines of a bug report.

    All files of the prepared corpora in `prepared_dir` are compared with their digests.
    """
    lines = [f"Python {platform.python_version()} on {platform.platform()}"]
    lines += [f"{package} {_version(package)}" for package in _PACKAGES]
    lines += [f"device {device.name}" for device in tf.config.list_logical_devices()]
    lines.append(f"threads: {threads()} of {os.cpu_count()} processors")
    lines += _describe_backends()
    if keras_version.problem():
        lines.append("data: not examined, because its readers need Keras")
    else:
        lines += _describe_files(data_dir, prepared_dir)
    return "\n".join(map(escape, lines))  # names and manifests may come from a stranger


def _describe_files(data_dir: Path, prepared_dir: Optional[Path]) -> Iterator[str]:
    """Yields the lines on raw and on prepared data."""
    yield f"data in {data_dir}:"
    yield from (f"  {line}" for line in _describe_data(data_dir))
    if prepared_dir is not None:
        yield f"prepared in {prepared_dir}:"
        yield from [f"  {line}" for line in _compare_digests(prepared_dir)] or ["  none"]


def _describe_data(data_dir: Path) -> Iterator[str]:
    """Yields a line for each corpus, file of word vectors and biLM, as a preparation finds them."""
    # Imported here: these need a Keras, and the rest of the report does not.
    from data_prep import bilm_files
    from data_prep.corpora import READERS
    from disan_tf.text import word_vectors

    for name in sorted(READERS.keys() - _OWN_DATA):
        try:
            files = READERS[name].files(data_dir, ConfigDict({"corpus": name}))
            names = ", ".join(path.relative_to(data_dir).as_posix() for path in files)
            yield f"corpus {name}: {names}"
        except (UserError, OSError) as error:
            yield str(error)
    vectors = word_vectors.vector_files(data_dir / "glove")
    for path in vectors:
        yield f"vectors glove/{path.name}: {count(path.stat().st_size, 'byte')}"
    if not vectors:
        yield "vectors: none (python -m data_prep.download glove.6B)"
    bilms = bilm_files.names(data_dir)
    for name in bilms:
        try:
            size = bilm_files.find(data_dir, name)[-1].stat().st_size
            yield f"biLM {name}: {count(size, 'byte')}"
        except (UserError, OSError) as error:
            yield str(error)
    if not bilms:
        yield "biLM: none (python -m data_prep.download elmo)"


def _compare_digests(prepared_dir: Path) -> Iterator[str]:
    """Yields a line for each prepared corpus and each cache of a biLM's layers."""
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
