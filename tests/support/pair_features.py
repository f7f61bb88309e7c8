"""Word features for prepared corpora of pairs that were made without raw text."""

from pathlib import Path

import numpy as np

from disan_tf.common.files import write_json
from disan_tf.input_pipeline import PreparedCorpus, WordFeatures
from disan_tf.input_pipeline import format as names
from disan_tf.text import word_forms
from disan_tf.text.characters import ASCII_CHARACTERS
from disan_tf.text.word_forms import write_forms
from tests.support.manifests import record
from tests.support.pairs import FIELDS, WORDS, make_pair_corpus

FORMS = (("cats", "cat", "cat"), ("dogs", "dog", "dog"), ("sing", "sing", "song"))


def make_feature_corpus(folder: Path, word_length: int = 6, **options) -> PreparedCorpus:
    """The corpus of `make_pair_corpus` with random characters and flags, and a few word forms."""
    folder = Path(folder)
    corpus = make_pair_corpus(folder, **options)
    for split in corpus.splits:
        features = draw_features(corpus.split(split), word_length)
        arrays = {names.SPELLINGS: features.spellings}
        for field in FIELDS:
            arrays[f"{split}.{field}.spelling"] = features.spelling[field]
            arrays[f"{split}.{field}.match"] = features.match[field]
        for name, array in arrays.items():
            np.save(names.array_file(folder, name), array)
    write_forms(folder / word_forms.FORMS, {word: tuple(forms) for word, *forms in FORMS})
    manifest = {**corpus.manifest, names.Keys.WORD_FEATURES: {"word_length": word_length}}
    write_json(folder / names.MANIFEST, manifest)
    record(folder)
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
