"""Word features for prepared corpora of pairs that were made without raw text."""

import json
from pathlib import Path

import numpy as np

from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.input_pipeline.corpus import WordFeatures
from disan_tf.text.characters import ASCII_CHARACTERS
from tests.support.pairs import FIELDS, WORDS, make_pair_corpus

FORMS = (("cats", "cat", "cat"), ("dogs", "dog", "dog"), ("sing", "sing", "song"))


def make_feature_corpus(folder: Path, word_length: int = 6, **options) -> PreparedCorpus:
    """The corpus of `make_pair_corpus` with random characters and flags, and a few word forms."""
    folder = Path(folder)
    corpus = make_pair_corpus(folder, **options)
    for split in corpus.splits:
        features = draw_features(corpus.split(split), word_length)
        np.save(folder / "spellings.npy", features.spellings)
        for field in FIELDS:
            np.save(folder / f"{split}.{field}.spelling.npy", features.spelling[field])
            np.save(folder / f"{split}.{field}.match.npy", features.match[field])
    (folder / "forms.tsv").write_text("".join("\t".join(row) + "\n" for row in FORMS))
    manifest = {**corpus.manifest, "word_features": {"word_length": word_length}}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return PreparedCorpus(folder)


def draw_features(split, word_length: int) -> WordFeatures:
    """Features of the right shapes, the same spellings for every split."""
    generator = np.random.default_rng(11)
    spellings = generator.integers(1, ASCII_CHARACTERS, [len(WORDS) + 2, word_length]).astype(
        np.uint8
    )
    spellings[0] = 0
    match = {
        field: generator.integers(0, 2, len(split.ids[field])).astype(np.uint8)
        for field in split.fields
    }
    return WordFeatures(spellings, {field: split.ids[field] for field in split.fields}, match)
