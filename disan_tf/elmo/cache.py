"""The layers of a biLM for every sentence of a prepared corpus, computed once.

They are in a folder beside the prepared corpus, `elmo-<digest of weights, options, sentences and so
on>/`. Corpora that differ only in word vectors, or in the vectors' seed, share the folder:

    layers.npy                    <float16>[tokens, layers, dim], layers of all distinct sentences
    <split>.<field>.starts.npy    <int64>[examples], row in layers.npy of each example's first token
    progress.json                 during the computation: number of batches on the disk
    cache.json                    written last: the files' sizes, dtypes, shapes and digests;
                                  sentences, tokens, seconds, versions
"""

import contextlib
import hashlib
import json
import os
import shutil
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from disan_tf.common.atomic import write_array, write_json
from disan_tf.common.errors import UserError
from disan_tf.common.files import read_json, sha256
from disan_tf.common.process import locked
from disan_tf.common.progress import progress_bar
from disan_tf.elmo.bilm import BiLM
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.input_pipeline.batch_plan import cut_batches
from disan_tf.input_pipeline.cached_layers import LayerFiles
from disan_tf.input_pipeline.corpus_format import (
    CACHE,
    LAYERS,
    Keys,
    array_file,
    read_header,
    record_files,
)

FORMAT = 2
BATCH_TOKENS = 4096  # tokens of a batch, padding and markers included
FLUSH_SECONDS = 30  # between two updates of progress.json


class Sentences(NamedTuple):
    """The distinct sentences of a corpus; `numbers` and `shifts` are by (split, field)."""

    rows: list[np.ndarray]  # for each sentence <int32>[tokens], rows of `spellings`
    starts: np.ndarray  # <int64>[sentences + 1], first row of each sentence in `layers.npy`
    numbers: dict[tuple[str, str], np.ndarray]  # <int64>[examples], the sentence of each example
    shifts: dict[tuple[str, str], np.ndarray]  # <int64>[examples], tokens before a phrase


def cache_layers(corpus: PreparedCorpus, bilm: BiLM, phrases: str = "own") -> LayerFiles:
    """Opens the cached layers of a corpus, or computes them; resumes an interrupted run.

    If several processes want the same layers, one computes them and the others wait.

    Args:
      corpus: a corpus prepared for a biLM.
      bilm: the biLM with its weights.
      phrases: "own" reads each phrase as a sentence of its own; "cut" reads the sentence around it,
        and takes the layers of the phrase's words.

    Raises:
      UserError: the layers do not fit on the disk, a file of the cache is damaged, or phrases are
        to be cut and the corpus has no sentences around them.
    """
    if phrases == "cut" and all(corpus.contexts(split) is None for split in corpus.splits):
        raise UserError(
            f"{corpus.directory} does not record the sentences around its phrases; prepare it "
            "with --config.data.contexts=True."
        )
    options, weights = corpus.bilm
    content = {
        "format": FORMAT,
        "options": json.loads(options.read_text(encoding="utf-8")),
        "weights": sha256(weights),
        "tokenizer": corpus.manifest[Keys.TOKENIZER],
        "dtype": bilm.dtype_policy.name,
        "phrases": phrases,
        "sentences": _digest(corpus, phrases),
    }
    key = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]
    folder = corpus.directory.parent / f"elmo-{key}"
    folder.mkdir(exist_ok=True)
    with locked(folder / "lock"):
        if not (folder / CACHE).is_file():
            _write(folder, corpus, bilm, phrases)
    return LayerFiles(folder)


def _digest(corpus, phrases) -> str:
    """Returns a digest of all examples' words and, to cut phrases, of the sentences around them."""
    arrays = {}
    for name in corpus.splits:
        split, contexts = corpus.split(name), corpus.contexts(name)
        arrays["spellings"] = split.features.spellings  # all splits share it
        for field in corpus.fields:
            arrays[f"{name}.{field}.spelling"] = split.features.spelling[field]
            arrays[f"{name}.{field}.offsets"] = split.offsets[field]
        if phrases == "cut" and contexts is not None:
            parts = contexts._asdict().items()
            arrays.update({f"{name}.contexts.{part}": array for part, array in parts})
    digest = hashlib.sha256()
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array))
    return digest.hexdigest()


def _write(folder: Path, corpus: PreparedCorpus, bilm: BiLM, phrases: str) -> None:
    sentences, started = find_sentences(corpus, phrases), time.monotonic()
    shape = int(sentences.starts[-1]), 1 + bilm.layers, 2 * bilm.units
    layers = _open(array_file(folder, LAYERS), shape, len(sentences.rows))
    plan = plan_batches(sentences)
    done = _progress(folder, len(plan))
    encode, noted = make_encoder(bilm), time.monotonic()
    spellings = corpus.split("train").features.spellings
    with progress_bar("biLM layers", "tokens", shape[0]) as bar:
        for number, batch in enumerate(plan):
            tokens = sum(len(sentences.rows[k]) for k in batch)
            if number >= done:
                _encode_batch(encode, sentences, batch, spellings, layers)
                if time.monotonic() - noted > FLUSH_SECONDS:
                    layers.flush()
                    write_json(folder / "progress.json", {"batches": number + 1, "of": len(plan)})
                    noted = time.monotonic()
            bar.update(tokens)
    layers.flush()
    for (split, field), numbers in sentences.numbers.items():
        starts = sentences.starts[numbers] + sentences.shifts[split, field]
        write_array(array_file(folder, f"{split}.{field}.starts"), starts)
    write_json(
        folder / CACHE,
        {
            "format": FORMAT,
            Keys.FILES: record_files(sorted(folder.glob("*.npy"))),
            "sentences": len(sentences.rows),
            "tokens": shape[0],
            "seconds": round(time.monotonic() - started, 1),
            "resumed_at_batch": done,
            "tensorflow": tf.__version__,
        },
    )
    (folder / "progress.json").unlink(missing_ok=True)


def find_sentences(corpus: PreparedCorpus, phrases: str = "own") -> Sentences:
    """Finds the distinct sentences of all splits, in the order of their first appearance."""
    known, rows, numbers, shifts = {}, [], {}, {}
    for name in corpus.splits:
        split, contexts = corpus.split(name), corpus.contexts(name)
        for field in corpus.fields:
            if phrases == "cut" and contexts is not None:
                whole = _number(contexts.spelling, contexts.offsets, known, rows)
                sentence, shift = contexts.places.T
                numbers[name, field], shifts[name, field] = whole[sentence], shift
            else:
                spelling, offsets = split.features.spelling[field], split.offsets[field]
                numbers[name, field] = _number(spelling, offsets, known, rows)
                shifts[name, field] = np.zeros(len(split), np.int64)
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return Sentences(rows, starts, numbers, shifts)


def _number(spelling, offsets, known, rows) -> np.ndarray:
    """Numbers the sentences, <int64>[sentences]; adds new sentences to `known` and `rows`."""
    numbers = np.empty(len(offsets) - 1, np.int64)
    for place, (start, end) in enumerate(zip(offsets[:-1], offsets[1:])):
        words = np.asarray(spelling[start:end])
        numbers[place] = known.setdefault(words.tobytes(), len(rows))
        if numbers[place] == len(rows):
            rows.append(words)
    return numbers


def plan_batches(sentences: Sentences, batch_tokens: int = BATCH_TOKENS) -> list[np.ndarray]:
    """Sorts sentences by length into batches of at most `batch_tokens`, or of one sentence."""
    lengths = np.diff(sentences.starts) + 2  # markers
    order = np.argsort(lengths, kind="stable")
    return cut_batches(order, lengths[order, None], batch_tokens=batch_tokens)


def make_encoder(bilm: BiLM):
    """Returns a function from characters <int32>[batch, length, word_length] and lengths to layers.

    The lengths are <int64>[batch], the layers float16.
    """

    shape = [None, None, bilm.word_length]
    signature = [tf.TensorSpec(shape, tf.int32), tf.TensorSpec([None], tf.int64)]

    @tf.function(input_signature=signature, autograph=False)
    def encode(characters, lengths):
        mask = tf.sequence_mask(lengths, tf.shape(characters)[1])
        return tf.cast(bilm(characters, mask=mask, training=False), tf.float16)

    return encode


def _encode_batch(encode, sentences, batch, spellings, layers):
    lengths = np.array([len(sentences.rows[k]) for k in batch])
    rows = np.zeros([len(batch), lengths.max()], np.int32)
    for row, k in zip(rows, batch):
        row[: len(sentences.rows[k])] = sentences.rows[k]
    encoded = encode(spellings[rows].astype(np.int32), lengths).numpy()
    for vectors, k, length in zip(encoded, batch, lengths):
        layers[sentences.starts[k] : sentences.starts[k] + length] = vectors[:length]


def _open(path: Path, shape, sentences: int):
    """Opens the memory-mapped array; makes a new one if there is none of this shape."""
    if path.is_file():
        with contextlib.suppress(OSError, ValueError):  # damaged
            header = read_header(path)
            if header.shape == shape and header.dtype == np.float16:
                return np.load(path, mmap_mode="r+", allow_pickle=False)
        (path.parent / "progress.json").unlink(missing_ok=True)
    need, free = 2 * int(np.prod(shape)), shutil.disk_usage(path.parent).free
    print(
        f"the biLM's layers of {sentences:,} distinct sentences, {shape[0]:,} tokens of "
        f"{shape[1]} x {shape[2]} numbers, take {need / 1e9:,.1f} GB in {path.parent} "
        f"({free / 1e9:,.1f} GB are free)"
    )
    if need > free:
        raise _disk_is_full(path, f"it needs {need / 1e9:,.1f} GB")
    layers = np.lib.format.open_memmap(path, "w+", np.float16, shape)
    try:
        with open(path, "r+b") as file:  # a failed write into the map has no message
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    except OSError as error:
        path.unlink()
        raise _disk_is_full(path, error.strerror) from None
    return layers


def _disk_is_full(path, reason) -> UserError:
    return UserError(
        f"{path} cannot be made ({reason}): free disk space, name another --prepared_dir, or "
        "compute layers on the fly with --config.embedding.cached=False."
    )


def _progress(folder: Path, batches: int) -> int:
    """Returns the number of batches that an interrupted run left on the disk."""
    path = folder / "progress.json"
    if not path.is_file():
        return 0
    progress = read_json(path, f"delete {folder}", {"batches": int, "of": int})
    fits_plan = progress["of"] == batches and 0 <= progress["batches"] <= batches
    return progress["batches"] if fits_plan else 0
