"""A biLM of the official sizes, with random weights, on 1,000 sentences of the treebank.

    python -m tests.measurements.bilm_encoding --data_dir=data [--dtype=mixed_bfloat16]

prints as JSON how long loading takes, how many sentences a second are cached in sorted batches and
how many one at a time, the cache's size, and the peak memory of the process.
"""

import argparse
import json
import resource
import statistics
import tempfile
import time
from pathlib import Path
from typing import Callable

import numpy as np
import tensorflow as tf

from configs.elmo_disan_sst import get_config
from data_prep.prepare import prepare
from disan_tf.elmo import BiLM
from disan_tf.elmo.cache import cache_layers, find_sentences, make_encoder
from disan_tf.elmo.official_files import load_bilm, save_bilm
from disan_tf.input_pipeline import PreparedCorpus

SENTENCES = 1000
ALONE = 50  # of them one at a time
REPETITIONS = 3
FILTERS = [(1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024)]


def report(measure: Callable[[Path, Path, str], dict], description: str) -> None:
    """Measures in a folder of its own, and prints what came out."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data_dir", type=Path, default=Path("data"))
    parser.add_argument("--dtype", default="float32")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(Path(folder), options.data_dir, options.dtype), indent=2))


def measure(folder: Path, data_dir: Path, dtype: str) -> dict:
    """What the module's docstring tells, in seconds, sentences per second and bytes."""
    write_inputs(folder, data_dir)
    config = get_config("tiny").unlock()
    config.data.level = "sentence"
    config.data.bilm = "elmo/random"
    corpus = PreparedCorpus(prepare(config.data, folder, folder / "prepared"))
    started = time.monotonic()
    bilm = load_bilm(*corpus.bilm, dtype=tf.keras.mixed_precision.Policy(dtype))
    load_seconds = time.monotonic() - started
    sentences, encode = find_sentences(corpus), make_encoder(bilm)
    spellings = np.asarray(corpus.split("train").features.spellings)
    _encode_alone(encode, sentences.rows[:2], spellings)  # traces
    started = time.monotonic()
    cache = cache_layers(corpus, bilm).folder
    cached = len(sentences.rows) / (time.monotonic() - started)
    some = sentences.rows[:: len(sentences.rows) // ALONE][:ALONE]
    alone = [ALONE / _encode_alone(encode, some, spellings) for _ in range(REPETITIONS)]
    return {
        "dtype": dtype,
        "sentences": len(sentences.rows),
        "tokens": int(sentences.starts[-1]),
        "load_seconds": round(load_seconds, 1),
        "weights_bytes": corpus.bilm[1].stat().st_size,
        "cached_sentences_per_second": round(cached, 1),
        "alone_sentences_per_second": round(statistics.median(alone), 1),
        "faster": round(cached / statistics.median(alone), 1),
        "cache_bytes": (cache / "layers.npy").stat().st_size,
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def write_inputs(folder: Path, data_dir: Path) -> None:
    """A `--data_dir` with the first training trees, and elmo/random, a biLM to read them."""
    trees = (data_dir / "sst/trees/train.txt").read_text(encoding="utf-8").splitlines(True)
    (folder / "sst/trees").mkdir(parents=True)
    parts = {"train": trees[: SENTENCES - 2], "dev": trees[-2:-1], "test": trees[-1:]}
    for name, lines in parts.items():
        (folder / f"sst/trees/{name}.txt").write_text("".join(lines), encoding="utf-8")
    bilm = BiLM(512, 4096, FILTERS, skip_connections=True)
    bilm.build([None, None, 50])
    (folder / "elmo").mkdir()
    names = [folder / "elmo" / f"random_{kind}" for kind in ("options.json", "weights.hdf5")]
    save_bilm(bilm, *names)


def _encode_alone(encode, rows, spellings) -> float:
    """Seconds for one sentence after the other."""
    started = time.monotonic()
    for row in rows:
        encode(spellings[row[None]].astype(np.int32), np.array([len(row)])).numpy()
    return time.monotonic() - started


if __name__ == "__main__":
    report(measure, __doc__)
