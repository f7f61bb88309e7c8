"""Prepared corpora of sentence pairs, with or without word features, made without raw text."""

from pathlib import Path

import numpy as np

from disan_tf.common.atomic import write_json
from disan_tf.input_pipeline import PreparedCorpus, Split, WordFeatures
from disan_tf.input_pipeline.corpus_format import EMBEDDINGS, MANIFEST, SPELLINGS, Keys, array_file
from disan_tf.text import word_forms
from disan_tf.text.characters import ASCII_CHARACTERS
from disan_tf.text.lookup import VOCABULARY
from disan_tf.text.word_forms import write_forms
from tests.support.corpora.manifests import record, write_manifest

FIELDS = ("premise", "hypothesis")
SCORE_FIELDS = ("sentence_a", "sentence_b")
CLASSES = ["contradiction", "neutral", "entailment"]
POINTS = ["1", "2", "3", "4", "5"]
WORDS = ["no", "some", "all", "dogs", "cats", "birds", "sing", "run", "sleep", "here", "now"]
FIXED_WORDS = 2  # the last of WORDS
FORMS = (("cats", "cat", "cat"), ("dogs", "dog", "dog"), ("sing", "sing", "song"))
SIZES = {"train": 60, "dev": 40, "test": 40}


def make_pair_corpus(folder: Path, dim: int = 16, sizes=None) -> PreparedCorpus:
    """Writes a prepared corpus of random pairs whose first words decide the label."""
    return _make(folder, pair_split, CLASSES, FIELDS, dim, sizes)


def make_score_corpus(folder: Path, dim: int = 16, sizes=None) -> PreparedCorpus:
    """Writes a prepared corpus of random pairs whose first words decide the score."""
    return _make(folder, score_split, POINTS, SCORE_FIELDS, dim, sizes, SCORES=True)


def _make(folder, make_split, classes, fields, dim, sizes, **changed):
    folder = Path(folder)
    folder.mkdir(parents=True)
    generator = np.random.default_rng(3)
    sizes = sizes or SIZES
    words = len(WORDS) - FIXED_WORDS, FIXED_WORDS
    write_manifest(folder, classes, words, fields, sizes, **changed)
    (folder / VOCABULARY).write_text("".join(f"{word}\n" for word in WORDS))
    vectors = generator.uniform(-0.5, 0.5, [len(WORDS), dim]).astype(np.float32)
    np.save(array_file(folder, EMBEDDINGS), vectors)
    for name, size in sizes.items():
        _save(folder, name, make_split(_draw(generator, size, 25), _draw(generator, size, 12)))
    record(folder)
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
    arrays = {f"{name}.label": split.labels, f"{name}.example_id": split.example_ids}
    for field in split.fields:
        arrays[f"{name}.{field}.ids"] = split.ids[field]
        arrays[f"{name}.{field}.offsets"] = split.offsets[field]
    for array_name, array in arrays.items():
        np.save(array_file(folder, array_name), array)


def make_feature_corpus(folder: Path, word_length: int = 6, **options) -> PreparedCorpus:
    """The corpus of `make_pair_corpus` with random characters and flags, and a few word forms."""
    folder = Path(folder)
    corpus = make_pair_corpus(folder, **options)
    for split in corpus.splits:
        features = draw_features(corpus.split(split), word_length)
        arrays = {SPELLINGS: features.spellings}
        for field in FIELDS:
            arrays[f"{split}.{field}.spelling"] = features.spelling[field]
            arrays[f"{split}.{field}.match"] = features.match[field]
        for name, array in arrays.items():
            np.save(array_file(folder, name), array)
    write_forms(folder / word_forms.WORD_FORMS, {word: tuple(forms) for word, *forms in FORMS})
    manifest = {**corpus.manifest, Keys.WORD_FEATURES: {"word_length": word_length}}
    write_json(folder / MANIFEST, manifest)
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
