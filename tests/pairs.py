"""Prepared corpora of sentence pairs, made without raw text."""

import json
from pathlib import Path

import numpy as np

from disan_tf.input_pipeline import PreparedCorpus, Split

FIELDS = ("premise", "hypothesis")
CLASSES = ["contradiction", "neutral", "entailment"]
WORDS = ["no", "some", "all", "dogs", "cats", "birds", "sing", "run", "sleep", "here", "now"]
FIXED_WORDS = 2  # the last of WORDS
SIZES = {"train": 60, "dev": 40, "test": 40}


def make_pair_corpus(folder: Path, dim: int = 16, sizes=None) -> PreparedCorpus:
    """Writes a prepared corpus of random pairs whose first words decide the label."""
    folder = Path(folder)
    folder.mkdir(parents=True)
    generator = np.random.default_rng(3)
    manifest = {
        "classes": CLASSES,
        "fields": FIELDS,
        "trainable_words": len(WORDS) - FIXED_WORDS,
        "fixed_words": FIXED_WORDS,
        "tokenizer": {"name": "whitespace", "version": 1, "lowercase": True},
        "inputs": {},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "vocabulary.txt").write_text("".join(f"{word}\n" for word in WORDS))
    vectors = generator.uniform(-0.5, 0.5, [len(WORDS), dim]).astype(np.float32)
    np.save(folder / "embeddings.npy", vectors)
    for name, size in (sizes or SIZES).items():
        _save(folder, name, pair_split(_draw(generator, size, 25), _draw(generator, size, 12)))
    return PreparedCorpus(folder)


def pair_split(premises, hypotheses) -> Split:
    """A split of lists of ids; a pair's label is the sum of its first ids, modulo 3."""
    sentences = {"premise": premises, "hypothesis": hypotheses}
    return Split(
        fields=FIELDS,
        ids={field: np.concatenate(lists).astype(np.int32) for field, lists in sentences.items()},
        offsets={
            field: np.cumsum([0, *map(len, lists)], dtype=np.int64)
            for field, lists in sentences.items()
        },
        labels=np.array([(p[0] + h[0]) % 3 for p, h in zip(premises, hypotheses)], np.int32),
        example_ids=np.array([b"pair-%d" % number for number in range(len(premises))]),
    )


def _draw(generator, size, longest):
    """Sentences of 1 to `longest` tokens."""
    return [
        generator.integers(1, len(WORDS) + 2, size=generator.integers(1, longest + 1))
        for _ in range(size)
    ]


def _save(folder, name, split):
    for field in FIELDS:
        np.save(folder / f"{name}.{field}.ids.npy", split.ids[field])
        np.save(folder / f"{name}.{field}.offsets.npy", split.offsets[field])
    np.save(folder / f"{name}.label.npy", split.labels)
    np.save(folder / f"{name}.example_id.npy", split.example_ids)
