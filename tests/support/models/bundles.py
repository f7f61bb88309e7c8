"""Models of a few thousand weights that have learnt nothing, saved as bundles in a second."""

from pathlib import Path
from typing import Optional

import numpy as np
from ml_collections import ConfigDict

from configs.disan_sst import get_config
from disan_tf.input_pipeline import PreparedCorpus, Split
from disan_tf.models.factory import build_model
from disan_tf.runs.bundle import Bundle, load_bundle, save_bundle
from disan_tf.text.lookup import VOCABULARY
from tests.support.corpora.manifests import write_manifest
from tests.support.layers.weights import draw_weights
from tests.support.runs.training import tiny_config

CLASSES = ["very bad", "bad", "neutral", "good", "very good"]
_VOCABULARY = (
    "the film is n't a good bad long short story and but very not it 's -lrb- -rrb- . , ! new old "
    "été actors plot boring moving \\/ ''"
)
WORDS = _VOCABULARY.split()
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
NLI, RELATEDNESS = "disan_snli", "disan_sick"  # configs
PAIR_CLASSES = {NLI: ["contradiction", "neutral", "entailment"], RELATEDNESS: list("12345")}
PAIRS = [
    ("The film isn't good.", "It's a bad film!"),
    ("", "boring"),
    ('A "new" story', ""),
    ("The actors and the plot are new and not boring, but it's a very very long film.", "été"),
    ("a", "(The old story is not a very good story, and it's a long and boring story!)"),
    ("the film is good", "the film is good"),
]


def make_bundle(
    directory: Path, dtype: str = "float32", seed: int = 7, encoder: Optional[dict] = None
) -> Path:
    """Writes a bundle of config `disan_sst:tiny` below `directory`; returns its folder.

    `encoder` has options in place of the config's.
    """
    config = get_config("tiny").copy_and_resolve_references()
    with config.unlocked():
        config.dtype = dtype
        if encoder:
            config.encoder = ConfigDict(encoder)
    return _make(directory, config, CLASSES, seed)


def make_pair_bundle(directory: Path, config_name: str, encoder: Optional[dict] = None) -> Bundle:
    """Writes a bundle of config `<config_name>:tiny` below `directory`; returns it, loaded.

    Args:
      directory: is made.
      config_name: a config of pairs.
      encoder: options in place of the config's.
    """
    config = tiny_config(name=config_name).copy_and_resolve_references()
    if encoder:
        config.encoder = ConfigDict(encoder)
    classes = PAIR_CLASSES[f"disan_{config.data.corpus}"]
    return load_bundle(_make(directory, config, classes, seed=7))


def _make(directory, config, classes, seed):
    """Saves a model whose weights are so large that texts get different predictions."""
    corpus = make_corpus(directory / "corpus", classes)
    model = build_model(config, corpus.words, len(classes))
    draw_weights(model.weights, seed, size=0.4)
    scores = {"step": 30, f"dev_{model.criterion}": 0.25}
    save_bundle(directory / "bundle", model, config, corpus, scores)
    return directory / "bundle"


def make_corpus(directory: Path, classes=CLASSES) -> PreparedCorpus:
    """The files of a prepared corpus that a bundle needs."""
    directory.mkdir(parents=True)
    (directory / VOCABULARY).write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    write_manifest(directory, classes, (len(WORDS) - FIXED_WORDS, FIXED_WORDS))
    return PreparedCorpus(directory)


def attend_alone(model, ids) -> dict:
    """The encoder's attention tensors of one sentence of a pair."""
    return model.encoder.attend(model.embedding(ids), ids != 0)


def write_pairs(path: Path, pairs=PAIRS) -> Path:
    """The pairs as lines of text, with a tab between the sentences."""
    path.write_text("".join(f"{first}\t{second}\n" for first, second in pairs), encoding="utf-8")
    return path


def split_of(bundle: Bundle, *texts) -> Split:
    """A split of texts, a list for each field of a bundle, with labels of 0."""
    look_up, count = bundle.text_to_ids(), len(texts[0])
    ids = {
        field: [look_up([text])[0].numpy() for text in column]
        for field, column in zip(bundle.model.fields, texts)
    }
    return Split(
        bundle.model.fields,
        {field: np.concatenate(rows) for field, rows in ids.items()},
        {field: np.cumsum([0, *map(len, rows)]) for field, rows in ids.items()},
        np.zeros(count, np.int32),
        np.array([b"%d" % number for number in range(count)]),
    )
