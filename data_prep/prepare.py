"""Prepares a corpus from files and word vectors, see `disan_tf.input_pipeline.corpus_format`."""

import contextlib
import gc
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Callable, Optional

from data_prep import bilm_files, stems_and_lemmas
from data_prep.corpora import READERS, Corpus, read_corpus, subsets, tokenizer_version
from data_prep.corpora.corpus import overlap_warnings
from data_prep.manifest import coverage_warnings, describe
from data_prep.word_features import write_word_features
from data_prep.write_corpus import index_tokens, write_split
from data_prep.write_vocabulary import write_vocabulary
from disan_tf.common.atomic import scratch_folder, sync_and_rename, write_json
from disan_tf.common.errors import UserError
from disan_tf.common.files import sha256
from disan_tf.common.progress import stages
from disan_tf.input_pipeline.corpus_format import (
    FORMAT,
    MANIFEST,
    Keys,
    has_format,
    read_manifest,
    record_files,
)
from disan_tf.text import word_vectors
from disan_tf.text.tokenizer import lowercase


def prepare(options, data_dir: Path, prepared_dir: Path, version: Optional[int] = None) -> Path:
    """Prepares a corpus, unless it is prepared already from the same inputs.

    Args:
      options: a ConfigDict that `data_prep.check_options` has checked: `corpus` and its reader's
        options, `tokenizer`, `lowercase`, the options of `write_vocabulary`; `word_features`,
        absent or False for none, with `word_length`, the number of a word's characters; and `bilm`,
        absent or "" for none, the name of a biLM's files, see `data_prep.bilm_files.find`, or
        `word_bytes`, absent or 0 for none, the length of words that a biLM in training reads.
      data_dir: the raw corpora and vectors.
      prepared_dir: the prepared corpora.
      version: the version of the tokenizer, which models and work directories record; None = see
        `data_prep.corpora.tokenizer_version`.

    Returns:
      `<prepared_dir>/<corpus>-<digest of the options and the version>`.

    Raises:
      UserError: missing or malformed inputs; no files are left behind.
    """
    data_dir, prepared_dir = Path(data_dir), Path(prepared_dir)
    version = version or tokenizer_version(options)
    target = prepared_dir / directory_name(options, version)
    if is_current(target, data_dir, options):
        return target
    with scratch_folder(target) as scratch:
        new, outdated = scratch / "new", scratch / "outdated"
        new.mkdir()
        with _garbage_uncollected():
            _write_corpus(options, data_dir, new, version)
        if is_current(target, data_dir, options):  # another process was faster
            return target
        with contextlib.suppress(FileNotFoundError):
            os.replace(target, outdated)
        try:
            sync_and_rename(new, target)
        except OSError:  # another process may have been faster while this one waited for the disk
            if not is_current(target, data_dir, options):
                raise
    return target


def is_prepared(options, data_dir: Path, prepared_dir: Path, version: Optional[int] = None) -> bool:
    """Returns whether `prepare` would find the corpus prepared; see there for the arguments."""
    name = directory_name(options, version or tokenizer_version(options))
    return is_current(Path(prepared_dir) / name, Path(data_dir), options)


@contextlib.contextmanager
def _garbage_uncollected() -> Iterator[None]:
    """Disables garbage collection among millions of tuples, which takes a quarter of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _write_corpus(options, data_dir: Path, folder: Path, version: int) -> None:
    """Reads, indexes and writes everything, the manifest last.

    Raises:
      UserError: see `prepare`; or an input changed during preparation.
    """
    texts, vector_files, bilm = _find_files(options, data_dir)
    if vector_files:
        word_vectors.check_dimension(vector_files[0], word_vectors.dimension(options))
    if bilm:
        bilm_files.read_word_length(bilm[0])
    states = {path: state(path) for path in texts + vector_files + bilm}
    with stages(4) as begin:
        begin(f"preparing: reads {options.corpus}")
        corpus = _read_corpus(options, data_dir, version)
        manifest = describe(options, corpus, version)
        manifest.update(_write_arrays(options, folder, corpus, vector_files, bilm, begin))
        manifest[Keys.WARNINGS] += coverage_warnings(manifest)
        begin("preparing: takes digests of the files")
        manifest[Keys.INPUTS] = {
            _input_name(path, data_dir): fingerprint(path)
            for path in corpus.inputs + vector_files + bilm
            if path.parent != subsets.PACKAGED  # the same wherever the package is
        }
    for path, before in states.items():  # after the digests, so that these match the read files
        if state(path) != before:
            raise UserError(f"{path} changed while it was prepared; run the same command again.")
    manifest[Keys.FILES] = record_files(sorted(folder.iterdir()))
    write_json(folder / MANIFEST, manifest)


def _write_arrays(
    options,
    folder: Path,
    corpus: Corpus,
    vector_files: list[Path],
    bilm,
    begin: Callable[[str], None],
) -> dict:
    """Writes the vocabulary, the word vectors and the splits; returns their manifest entries."""
    index = index_tokens(corpus)
    words = lowercase(index.tokens) if options.lowercase else index.tokens
    begin(f"preparing: reads {vector_files[0].name if vector_files else 'the words'}")
    counts = index.training_counts
    token_ids, manifest = write_vocabulary(options, folder, words, counts, vector_files)
    begin("preparing: writes arrays")
    flags, about = write_word_features(options, folder, index, corpus.fields)
    manifest.update(about)
    has_spellings = bool(bilm or options.get("word_bytes"))
    if bilm:
        manifest.update(bilm_files.write_bilm(options.bilm, bilm, folder, index.tokens))
    elif has_spellings:
        about = bilm_files.write_characters(options.word_bytes, folder, index.tokens)
        manifest.update(about)
    manifest[Keys.SPLITS] = {
        split: write_split(folder, split, corpus, index, token_ids, flags, has_spellings)
        for split in corpus.splits
    }
    return manifest


def _find_files(options, data_dir: Path) -> tuple[list[Path], list[Path], list[Path]]:
    """Returns the files that would be read now: of the corpus, of word vectors, and of a biLM.

    The list of words, if the options name one, follows the file of word vectors.
    """
    texts, vectors, bilm = READERS[options.corpus].files(data_dir, options), [], []
    if options.vectors:
        vectors = [word_vectors.find(data_dir, options.vectors)]
        if words := options.get("vector_words"):
            vectors.append(subsets.find_words(data_dir, words))
    if options.get("bilm"):
        bilm = bilm_files.find(data_dir, options.bilm)
    return texts, vectors, bilm


def _read_corpus(options, data_dir: Path, version: int) -> Corpus:
    corpus = read_corpus(data_dir, options, version)
    for split, examples in corpus.splits.items():
        if not examples:
            raise UserError(
                f"split {split} of {corpus.name} has no examples left; "
                "check its files and the options that drop examples."
            )
    corpus.warnings += overlap_warnings(corpus)
    return corpus


def directory_name(options, version: int) -> str:
    """Returns `<corpus>-<digest>`, with a digest over the options and all rules' versions.

    `version` is the version of the tokenizer.
    """
    content = {
        "format": FORMAT,
        "options": options.to_dict(),
        "tokenizer_version": version,
    }
    if options.get("word_features"):
        content["stems_and_lemmas"] = stems_and_lemmas.versions()
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return f"{options.corpus}-{digest[:12]}"


def is_current(target: Path, data_dir: Path, options) -> bool:
    """Returns whether `target` is prepared from the current files in the current format.

    Raises:
      UserError: a raw file is missing, or the manifest of `target` is damaged.
    """
    if not (target / MANIFEST).is_file():
        return False
    if not has_format(target):
        return False
    inputs = read_manifest(target)[Keys.INPUTS]
    root = data_dir.resolve()
    recorded = {(root / name).resolve(): content for name, content in inputs.items()}
    files = (path for paths in _find_files(options, data_dir) for path in paths)
    if not {it.resolve() for it in files if it.parent != subsets.PACKAGED} <= recorded.keys():
        return False
    return all(_is_unchanged(path, content) for path, content in recorded.items())


def _input_name(path: Path, data_dir: Path) -> str:
    """Returns the name of an input in the manifest: its path relative to the data folder.

    Links are resolved for an input outside of the folder, so that ".." leads there.
    """
    name = os.path.relpath(path, data_dir)
    if name.startswith(os.pardir):
        name = os.path.relpath(path.resolve(), data_dir.resolve())
    return Path(name).as_posix()


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
