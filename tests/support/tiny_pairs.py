"""Models of sentence pairs of a few thousand weights that have learnt nothing, as bundles."""

from pathlib import Path
from typing import Optional

import numpy as np
from ml_collections import ConfigDict

from disan_tf.models.factory import build_model
from disan_tf.runs.bundle import Bundle, load_bundle, save_bundle
from tests.support.tiny import make_corpus
from tests.support.training_runs import tiny_config

NLI, RELATEDNESS = "disan_snli", "disan_sick"  # configs
CLASSES = {NLI: ["contradiction", "neutral", "entailment"], RELATEDNESS: list("12345")}
PAIRS = [
    ("The film isn't good.", "It's a bad film!"),
    ("", "boring"),
    ('A "new" story', ""),
    ("The actors and the plot are new and not boring, but it's a very very long film.", "été"),
    ("a", "(The old story is not a very good story, and it's a long and boring story!)"),
    ("the film is good", "the film is good"),
]


def make_pair_bundle(directory: Path, config_name: str, encoder: Optional[dict] = None) -> Bundle:
    """A model of config `<config_name>:tiny` below `directory`, loaded.

    The weights are random and large enough that pairs get different answers.

    Args:
      directory: is made.
      config_name: a config of pairs.
      encoder: options in place of the config's.
    """
    config = tiny_config(name=config_name).copy_and_resolve_references()
    if encoder:
        config.encoder = ConfigDict(encoder)
    corpus = make_corpus(directory / "corpus", CLASSES[f"disan_{config.data.corpus}"])
    model = build_model(config, corpus.words, len(corpus.classes))
    generator = np.random.default_rng(7)
    for weight in model.weights:
        if weight.dtype.is_floating:
            weight.assign(generator.normal(0.0, 0.4, weight.shape))
    scores = {"step": 30, f"dev_{model.criterion}": 0.25}
    save_bundle(directory / "bundle", model, config, corpus, scores)
    return load_bundle(directory / "bundle")


def attend_alone(model, ids) -> dict:
    """The encoder's attention tensors of one sentence of a pair."""
    return model.encoder.attend(model.embedding(ids), ids != 0)


def write_pairs(path: Path, pairs=PAIRS) -> Path:
    """The pairs as lines of text, with a tab between the sentences."""
    path.write_text("".join(f"{first}\t{second}\n" for first, second in pairs), encoding="utf-8")
    return path
