"""How fast SNLI is prepared, and in how much memory, at the size of the real corpus.

    python -m tests.measurements.preparation --data_dir=data --folder=preparation

makes 550,000 training pairs out of those in `--data_dir`: it repeats them with the number of the
repetition in front of each sentence, so that sentences are as seldom equal as they were, and adds
parses that bracket their words, so that lines are as long as the real ones. Then it prints, for the
leaves of parses and for raw text:

    parse: 11.0 s, 51,952 pairs a second, 1.01 GiB at the highest; load 1.7 before

`--rows=2200000` makes the file of vectors as long as the published GloVe 840B, by repeating its
rows with a number in front of their words: 5.6 GB. The time is that of a whole preparation once
TensorFlow is loaded: reading, tokenising, vocabulary, vectors and writing. The memory is that of a
new process, TensorFlow included.
"""

import argparse
import json
import os
import re
import resource
import tempfile
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Optional

from configs.disan_snli import get_config
from data_prep.corpora.nli_files import TOKENIZERS
from data_prep.corpora.snli import LAYOUT
from data_prep.prepare import prepare
from disan_tf.benchmark.timing import in_new_process
from disan_tf.common.files import read_lines


def main() -> None:
    """Prints a line for each source of tokens."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data_dir", type=Path, default=Path("data"))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=550_000)
    parser.add_argument("--vectors", default="glove/glove.840B.300d.subset.txt")
    parser.add_argument("--rows", type=int, help="of the vector file; default: as it is")
    parser.add_argument("--tokens", nargs="+", choices=list(TOKENIZERS), default=list(TOKENIZERS))
    options = parser.parse_args()
    total = sum(_write_corpus(options.data_dir, options.folder, options.pairs))
    _write_vectors(
        options.data_dir / options.vectors, options.folder / options.vectors, options.rows
    )
    for tokens in options.tokens:
        load = os.getloadavg()[0]
        seconds, peak = in_new_process(measure, options.folder, tokens, options.vectors)
        print(
            f"{tokens}: {seconds:.1f} s, {total / seconds:,.0f} pairs a second, "
            f"{peak:.2f} GiB at the highest; load {load:.1f} before"
        )


def measure(data_dir: Path, tokens: str, vectors: str) -> tuple[float, float]:
    """Seconds that a preparation takes, and the GiB of memory that the process had at most."""
    options = get_config().data
    options.tokens, options.tokenizer, options.vectors = tokens, TOKENIZERS[tokens], vectors
    with tempfile.TemporaryDirectory() as prepared_dir:
        start = time.perf_counter()
        prepare(options, data_dir, Path(prepared_dir))
        seconds = time.perf_counter() - start
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _write_corpus(data_dir: Path, folder: Path, pairs: int) -> Iterator[int]:
    """Writes the three files; yields the number of pairs of each."""
    for split, source in LAYOUT.find(data_dir).items():
        target = folder / source.relative_to(data_dir)
        target.parent.mkdir(parents=True, exist_ok=True)
        repetitions = None if split == "train" else 1
        rows = islice(_rows(source, repetitions), pairs)
        with open(target, "w", encoding="utf-8") as file:
            yield sum(1 for row in rows if file.write(f"{json.dumps(row)}\n"))


def _write_vectors(source: Path, target: Path, rows: Optional[int]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    repeated = (f"{k or ''}{line}" for k in count() for line in lines)
    with open(target, "w", encoding="utf-8") as file:
        file.writelines(islice(repeated, len(lines) if rows is None else rows))


def _rows(path: Path, repetitions: Optional[int]) -> Iterator[dict]:
    """The pairs of a file, again and again if `repetitions` is None."""
    for repetition in count() if repetitions is None else range(repetitions):
        for _, line in read_lines(path):
            yield _parsed(json.loads(line), f"{repetition} " if repetition else "")


def _parsed(row: dict, prefix: str) -> dict:
    for name in ("sentence1", "sentence2"):
        row[name] = prefix + row[name]
        words = re.findall(r"\w+|[^\w\s()]", row[name])
        row[f"{name}_binary_parse"] = f"( {' ( '.join(words)}{' )' * len(words)}"
        row[f"{name}_parse"] = f"(ROOT (S {' '.join(f'(NN {word})' for word in words)}))"
    return row


if __name__ == "__main__":
    main()
