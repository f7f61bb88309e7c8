"""Writes corpora's training texts as plain text, for a language model.

    python -m data_prep.training_texts --data_dir=data

writes `<data_dir>/bilm_texts/<corpus>.txt`, or below `--output`: one sentence a line, tokens
separated by spaces, in their own case. A repeated sentence is written once, also if several corpora
have it. A sentence is left out if it is also in an official dev or test split of a named corpus.
Parts that our seeds hold out are not official and are written: the training questions of TREC that
select a model, and all of CR, MPQA and SUBJ, whose folds take turns. So a biLM has read the
held-out sentences of these four, without labels; `--corpora` leaves a corpus out.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Optional

from data_prep.corpora import READERS, Corpus, multinli
from disan_tf.common.atomic import write_atomically
from disan_tf.common.errors import UserError, exit_status
from disan_tf.common.paths import home_path

# Options that keep every sentence of a corpus.
_NLI = {"tokens": "text", "tokenizer": "treebank", "split_words": False, "empty_tokens": False}
_HELD_OUT = {"dev_share": 0.1, "split_seed": 1}
OPTIONS = {
    "snli": {**_NLI, "length_percentile": 1.0},
    "multinli": {
        **_NLI,
        "length_percentile": 1.0,
        "split_seed": 1,
        "tokenizer_version": multinli.TOKENIZER_VERSION,
    },
    "sst": {
        "level": "sentence",
        "classes": 5,
        "repetitions": True,
        "rebalance": False,
        "tokenizer": "whitespace",
    },
    "sick": {"tokenizer": "treebank", "split_words": False, "empty_tokens": False},
    "trec": {"classes": 6, "tokenizer": "whitespace", **_HELD_OUT},
    **{
        name: {"corpus": name, "folds": 10, "fold": 0, "tokenizer": "whitespace", **_HELD_OUT}
        for name in ("cr", "mpqa", "subj")
    },
}
UNSPLIT = ("cr", "mpqa", "subj")  # corpora without official splits
SEEDED_DEV = ("trec", *UNSPLIT)  # corpora whose dev split is drawn from training examples


def write_texts(corpora: Sequence[str], data_dir: Path, output: Path) -> dict[str, tuple[int, int]]:
    """Writes a shard for each corpus; returns each shard's numbers of sentences and words.

    Raises:
      UserError: a corpus is unknown or missing, or `output` holds another corpus' shard, which may
        contain dev and test sentences of the named corpora.
    """
    for name in corpora:
        if name not in OPTIONS:
            raise UserError(f"{name} is unknown; known are {', '.join(OPTIONS)}.")
    for name in OPTIONS:
        path = Path(output) / f"{name}.txt"
        if name not in corpora and path.exists():
            raise UserError(
                f"{path} is the shard of a corpus that --corpora does not name; delete it, name "
                f"{name} too, or choose another --output."
            )
    read = {
        name: READERS[name].read(Path(data_dir), SimpleNamespace(**OPTIONS[name]))
        for name in corpora
    }
    seen = {tokens for name, corpus in read.items() for tokens in _sentences(name, corpus, False)}
    counts = {}
    for name, corpus in read.items():
        kept = []
        for tokens in _sentences(name, corpus, True):
            if tokens and tokens not in seen:
                seen.add(tokens)
                kept.append(tokens)
        text = "".join(f"{' '.join(tokens)}\n" for tokens in kept)
        write_atomically(Path(output) / f"{name}.txt", text)
        counts[name] = len(kept), sum(map(len, kept))
    return counts


def _sentences(name: str, corpus: Corpus, training: bool) -> Iterator[tuple[str, ...]]:
    """Yields a corpus' sentences that are allowed in training, or all others."""
    for split, examples in corpus.splits.items():
        may_train = split == "train" or name in UNSPLIT or (name in SEEDED_DEV and split == "dev")
        if may_train == training:
            for example in examples:
                yield from example.sentences


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Writes the shards and prints their sizes; returns the exit status."""
    parser = argparse.ArgumentParser(prog="data_prep.training_texts", description=__doc__)
    parser.add_argument("--data_dir", type=home_path, default=Path("data"))
    parser.add_argument(
        "--output", type=home_path, help="output folder (default: <data_dir>/bilm_texts)"
    )
    parser.add_argument(
        "--corpora", default=",".join(OPTIONS), help="names of corpora, separated by commas"
    )
    options = parser.parse_args(arguments)
    return exit_status(lambda: _write_and_print(options))


def _write_and_print(options):
    output = options.output or options.data_dir / "bilm_texts"
    counts = write_texts(options.corpora.split(","), options.data_dir, output)
    for name, (sentences, words) in counts.items():
        print(f"{output / f'{name}.txt'}: {sentences:,} sentences, {words:,} words")
    totals = [sum(column) for column in zip(*counts.values())]
    print(f"all: {totals[0]:,} sentences, {totals[1]:,} words")


if __name__ == "__main__":
    sys.exit(main())
