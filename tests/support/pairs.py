"""Prepared corpora of sentence pairs, made without raw text."""

import json
from pathlib import Path

import numpy as np

from disan_tf.input_pipeline import PreparedCorpus, Split

FIELDS = ("premise", "hypothesis")
SCORE_FIELDS = ("sentence_a", "sentence_b")
CLASSES = ["contradiction", "neutral", "entailment"]
POINTS = ["1", "2", "3", "4", "5"]
WORDS = ["no", "some", "all", "dogs", "cats", "birds", "sing", "run", "sleep", "here", "now"]
TOKENIZER = {
    "name": "whitespace", "version": 1, "lowercase": True, "split_words": False,
    "empty_tokens": False,
}  # fmt: skip
FIXED_WORDS = 2  # the last of WORDS
SIZES = {"train": 60, "dev": 40, "test": 40}


def make_pair_corpus(folder: Path, dim: int = 16, sizes=None) -> PreparedCorpus:
    """Writes a prepared corpus of random pairs whose first words decide the label."""
    return _make(folder, pair_split, {"classes": CLASSES, "fields": FIELDS}, dim, sizes)


def make_score_corpus(folder: Path, dim: int = 16, sizes=None) -> PreparedCorpus:
    """Writes a prepared corpus of random pairs whose first words decide the score."""
    description = {"classes": POINTS, "fields": SCORE_FIELDS, "scores": True}
    return _make(folder, score_split, description, dim, sizes)


def _make(folder, make_split, description, dim, sizes):
    folder = Path(folder)
    folder.mkdir(parents=True)
    generator = np.random.default_rng(3)
    sizes = sizes or SIZES
    manifest = {
        **description,
        "splits": {name: {"examples": size} for name, size in sizes.items()},
        "trainable_words": len(WORDS) - FIXED_WORDS,
        "fixed_words": FIXED_WORDS,
        "tokenizer": TOKENIZER,
        "inputs": {},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "vocabulary.txt").write_text("".join(f"{word}\n" for word in WORDS))
    vectors = generator.uniform(-0.5, 0.5, [len(WORDS), dim]).astype(np.float32)
    np.save(folder / "embeddings.npy", vectors)
    for name, size in sizes.items():
        _save(folder, name, make_split(_draw(generator, size, 25), _draw(generator, size, 12)))
    return PreparedCorpus(folder)


def pair_split(premises, hypotheses) -> Split:
    """A split of lists of ids; a pair's label is the sum of its first ids, modulo 3."""
    labels = [(p[0] + h[0]) % 3 for p, h in zip(premises, hypotheses)]
    return _split(FIELDS, (premises, hypotheses), np.array(labels, np.int32))


def score_split(first, second) -> Split:
    """A split of lists of ids; a pair's score falls with the distance of its first ids."""
    scores = [max(1.0, 5.0 - 0.7 * abs(int(a[0]) - int(b[0]))) for a, b in zip(first, second)]
    return _split(SCORE_FIELDS, (first, second), np.array(scores, np.float32))


def _split(fields, sentences, labels):
    return Split(
        fields=fields,
        ids={f: np.concatenate(lists).astype(np.int32) for f, lists in zip(fields, sentences)},
        offsets={
            field: np.cumsum([0, *map(len, lists)], dtype=np.int64)
            for field, lists in zip(fields, sentences)
        },
        labels=labels,
        example_ids=np.array([b"pair-%d" % number for number in range(len(labels))]),
    )


def _draw(generator, size, longest):
    """Sentences of 1 to `longest` tokens."""
    return [
        generator.integers(1, len(WORDS) + 2, size=generator.integers(1, longest + 1))
        for _ in range(size)
    ]


def _save(folder, name, split):
    for field in split.fields:
        np.save(folder / f"{name}.{field}.ids.npy", split.ids[field])
        np.save(folder / f"{name}.{field}.offsets.npy", split.offsets[field])
    np.save(folder / f"{name}.label.npy", split.labels)
    np.save(folder / f"{name}.example_id.npy", split.example_ids)
