"""Finds out if a corpus is prepared already with the same options, rules and raw files."""

import hashlib
import json
from pathlib import Path
from typing import Optional

from data_prep import stems_and_lemmas
from data_prep.corpora import READERS
from disan_tf.common.files import sha256
from disan_tf.input_pipeline.format import FORMAT, MANIFEST, Keys, has_format, read_manifest
from disan_tf.text.tokenizer import VERSIONS


def directory_name(options) -> str:
    """Returns `<corpus>-<digest>`, with a digest over the options and all rules' versions."""
    content = {
        "format": FORMAT,
        "options": options.to_dict(),
        "tokenizer_version": VERSIONS[options.tokenizer],
    }
    if options.get("word_features"):
        content["stems_and_lemmas"] = stems_and_lemmas.versions()
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return f"{options.corpus}-{digest[:12]}"


def is_current(target: Path, data_dir: Path, options) -> bool:
    """Returns whether `target` is prepared from the current files in the current format.

    Raises:
      UserError: the raw corpus is missing, or the manifest of `target` is damaged.
    """
    if not (target / MANIFEST).is_file():
        return False
    if not has_format(target):
        return False
    inputs = read_manifest(target)[Keys.INPUTS]
    recorded = {(data_dir / name).resolve(): content for name, content in inputs.items()}
    files = READERS[options.corpus].files(data_dir, options)
    if not {path.resolve() for path in files} <= recorded.keys():
        return False
    return all(_is_unchanged(path, content) for path, content in recorded.items())


def fingerprint(path: Path) -> dict:
    """Returns a file's record for the manifest: "sha256", "bytes" and "mtime_ns"."""
    stat = path.stat()
    return {"sha256": sha256(path), "bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns}


def state(path: Path) -> Optional[tuple[int, ...]]:
    """Returns a state that changes when a file is written or replaced; None without a file."""
    if not path.is_file():
        return None
    stat = path.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _is_unchanged(path: Path, recorded: dict) -> bool:
    """Compares size and time, which is fast, and the digest only when the time differs."""
    if not path.is_file() or path.stat().st_size != recorded["bytes"]:
        return False
    return path.stat().st_mtime_ns == recorded["mtime_ns"] or sha256(path) == recorded["sha256"]
