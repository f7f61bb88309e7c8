"""A model of a few thousand weights that has learnt nothing, saved as a bundle in a second."""

from pathlib import Path

import numpy as np

from configs.disan_sst import get_config
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.input_pipeline.format import VOCABULARY
from disan_tf.models.factory import build_model
from disan_tf.runs.bundle import save_bundle
from tests.support.manifests import write_manifest

CLASSES = ["very bad", "bad", "neutral", "good", "very good"]
WORDS = [
    "the",
    "film",
    "is",
    "n't",
    "a",
    "good",
    "bad",
    "long",
    "short",
    "story",
    "and",
    "but",
    "very",
    "not",
    "it",
    "'s",
    "-lrb-",
    "-rrb-",
    ".",
    ",",
    "!",
    "new",
    "old",
    "été",
    "actors",
    "plot",
    "boring",
    "moving",
    "\\/",
    "''",
]
FIXED_WORDS = 4  # the last of WORDS
SENTENCES = [
    "The film isn't good, but it's not very bad.",
    "",
    "(A new story)",
    "boring",
    "It's a very very long and moving film; the actors and the plot are new and not boring!",
    'Été zzz "old" and/or new 😀',
    "  \t ",
]


def make_bundle(directory: Path, dtype: str = "float32", seed: int = 7) -> Path:
    """Writes a bundle of config `disan_sst:tiny` below `directory`; returns its folder.

    The weights are random and large enough that sentences get different answers.
    """
    config = get_config("tiny").copy_and_resolve_references()
    with config.unlocked():
        config.dtype = dtype
    corpus = make_corpus(directory / "corpus")
    model = build_model(config, corpus.words, len(CLASSES))
    generator = np.random.default_rng(seed)
    for weight in model.weights:
        if weight.dtype.is_floating:
            weight.assign(generator.normal(0.0, 0.4, weight.shape))
    bundle = directory / "bundle"
    save_bundle(bundle, model, config, corpus, {"step": 30, "dev_accuracy": 0.25})
    return bundle


def make_corpus(directory: Path, classes=CLASSES) -> PreparedCorpus:
    """The files of a prepared corpus that a bundle needs."""
    directory.mkdir(parents=True)
    (directory / VOCABULARY).write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    write_manifest(directory, classes, (len(WORDS) - FIXED_WORDS, FIXED_WORDS))
    return PreparedCorpus(directory)
