"""The state of an installation: versions, devices, operations and data."""

import importlib.metadata
import os
import platform
from pathlib import Path

import tensorflow as tf

from disan_tf import legacy_keras

_PACKAGES = (
    "tensorflow", "keras", "tf_keras", "tensorflow-text", "tensorflow-addons", "numpy", "absl-py",
    "ml_collections", "h5py", "scipy", "matplotlib", "tqdm",
)  # fmt: skip

# Name of a download -> its folder below --data_dir; "polarity" holds CR, MPQA and SUBJ.
_FOLDERS = {
    "sst": "sst", "snli": "snli_1.0", "multinli": "multinli_1.0", "sick": "sick", "trec": "trec",
    "polarity": "polarity",
}  # fmt: skip


def diagnose(data_dir: Path) -> str:
    """What a bug report needs to say, a line each."""
    lines = [f"Python {platform.python_version()} on {platform.platform()}"]
    lines += [f"{package} {_version(package)}" for package in _PACKAGES]
    lines += [f"device {device.name}" for device in tf.config.list_logical_devices()]
    threads = tf.config.threading.get_intra_op_parallelism_threads() or "all"
    lines.append(f"threads: {threads} of {os.cpu_count()} processors")
    lines += _needing_keras()
    lines.append(f"data in {data_dir}:")
    lines += [f"  {_corpus(name, data_dir / folder)}" for name, folder in _FOLDERS.items()]
    vectors = sorted((data_dir / "glove").glob("*.txt"))
    lines += [f"  vectors glove/{path.name}: {path.stat().st_size:,} bytes" for path in vectors]
    if not vectors:
        lines.append("  vectors: none (python -m data_prep.download glove.6B)")
    return "\n".join(lines)


def _needing_keras():
    """Which Keras, addons and operations are used."""
    if problem := legacy_keras.problem():
        return [f"Keras: {problem}"]
    from disan_tf import addons
    from disan_tf.ops.native import runtime

    package, reason = tf.keras.Model.__module__.split(".")[0], runtime.unavailable()
    asked = os.environ.get(legacy_keras.VARIABLE, "unset")
    own = addons.backend().__name__.endswith("without_tfa")
    return [
        f"Keras: Keras 2 from {package} ({legacy_keras.VARIABLE}: {asked})",
        f"addons: {'our own' if own else 'tensorflow-addons'}",
        f"operations: portable ({reason})" if reason else "operations: native",
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
