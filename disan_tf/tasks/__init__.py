"""Encoder(s) -> prediction, and how a config becomes a model."""

import tensorflow as tf

from disan_tf.encoders import ENCODERS
from disan_tf.layers.dropout import site_seed
from disan_tf.layers.embedding import WordEmbedding
from disan_tf.tasks.classification import ClassificationHead, SentenceClassifier
from disan_tf.tasks.nli import MATCHINGS, SentencePairClassifier
from disan_tf.tasks.normalized_head import NormalizedHead
from disan_tf.tasks.relatedness import LOSSES, SentencePairScorer
from disan_tf.tasks.sentences import SentenceModel

HEADS = {
    "plain": ClassificationHead,
    "normalized": NormalizedHead,
}
TASKS = {
    "classification": SentenceClassifier,
    "nli": SentencePairClassifier,
    "relatedness": SentencePairScorer,
}

__all__ = [
    "ClassificationHead",
    "HEADS",
    "LOSSES",
    "MATCHINGS",
    "NormalizedHead",
    "SentenceClassifier",
    "SentenceModel",
    "SentencePairClassifier",
    "SentencePairScorer",
    "TASKS",
    "build_model",
    "count_parameters",
    "make_encoder",
    "make_head",
]


def build_model(
    config, words: tuple[int, int], classes: int, attention_form: str = "auto"
) -> SentenceModel:
    """A built model.

    Args:
      config: a config of `configs/`; `encoder`, `task`, `dtype`, `seed`, `train.l2`,
        `train.dropout` and `train.embeddings` (whether words learn; absent = they do) matter here.
        `encoder.dropout` and `task.dropout`, where they are given, win over `train.dropout`.
      words: number of (trainable, fixed) words.
      classes: number of classes, or of the points of a scale.
      attention_form: form of `disan_tf.ops.directional_attention`.

    Returns:
      The model of `TASKS` that `config.task.name` names, with initial weights. Its head is that of
      `HEADS` that `config.task.head` names, "plain" where none is named.

    """
    embedding = WordEmbedding(
        *words, config.data.embedding_dim, config.train.get("embeddings", True),
        dtype=tf.keras.mixed_precision.Policy(config.dtype), name="embedding",
    )  # fmt: skip
    encoder, head = make_encoder(config, attention_form), make_head(config, classes)
    task, own_options, _ = _task_of(config)
    model = task(embedding, encoder, head, **own_options, name=config.name)
    model(*[tf.zeros([1, 1], tf.int32)] * len(model.fields))
    return model


def make_encoder(config, attention_form: str = "auto"):
    """The encoder of a config, without weights yet; see `build_model`.

    Raises:
      ValueError: a value of `config.encoder` that does not exist, or does not fit another.
    """
    options = {"dropout": config.train.dropout, **config.encoder}
    return ENCODERS[options.pop("name")](
        **options, **_shared(config), attention_form=attention_form,
        seed=site_seed(config.seed, "encoder"), name="encoder",
    )  # fmt: skip


def make_head(config, classes: int):
    """The head of a config, without weights yet; see `build_model`.

    Raises:
      ValueError: a value of `config.task` that does not exist.
    """
    _, _, options = _task_of(config)
    options = {"dropout": config.train.dropout, **options}
    return HEADS[options.pop("head", "plain")](
        classes, **options, **_shared(config), seed=site_seed(config.seed, "head"), name="head"
    )


def _shared(config):
    """What encoder and head have in common."""
    return {"l2": config.train.l2, "dtype": tf.keras.mixed_precision.Policy(config.dtype)}


def _task_of(config):
    """The class of `TASKS`, its options in `config.task`, and those of the head."""
    options = dict(config.task)
    task = TASKS[options.pop("name", "classification")]  # absent from older configs
    own_options = {name: options.pop(name) for name in task.options if name in options}
    return task, own_options, options


def count_parameters(model: tf.keras.Model) -> int:
    """Trainable parameters without the embedding, as the papers count them."""
    parts = (layer for layer in model.layers if not isinstance(layer, WordEmbedding))
    return sum(int(tf.size(weight)) for layer in parts for weight in layer.trainable_weights)
