"""Builds a model from a config."""

import functools

import tensorflow as tf

from disan_tf import encoders
from disan_tf.common.options import check_choice
from disan_tf.elmo.bilm import BiLM
from disan_tf.encoders.own import own_encoder
from disan_tf.layers.base import BaseLayer
from disan_tf.layers.dropout import site_seed
from disan_tf.layers.embedding.words import WordEmbedding
from disan_tf.layers.heads.classification import ClassificationHead
from disan_tf.layers.heads.drcn import DRCNHead
from disan_tf.layers.heads.dsa import DSAHead
from disan_tf.layers.heads.word_softmax import WordSoftmax
from disan_tf.models.base import SentenceModel
from disan_tf.models.classification import SentenceClassifier
from disan_tf.models.embeddings import EMBEDDINGS, Sources, make_embedding
from disan_tf.models.language_model import LanguageModel
from disan_tf.models.nli import SentencePairClassifier
from disan_tf.models.relatedness import RelatednessModel

__all__ = [
    "EMBEDDINGS",
    "ENCODERS",
    "HEADS",
    "TASKS",
    "build_model",
    "count_parameters",
    "make_embedding",
    "make_encoder",
    "make_head",
]

ENCODERS = {**encoders.ENCODERS, "bilm": BiLM}
HEADS = {"plain": ClassificationHead, "dsa": DSAHead, "drcn": DRCNHead, "word_softmax": WordSoftmax}
TASKS = {
    "classification": SentenceClassifier,
    "nli": SentencePairClassifier,
    "relatedness": RelatednessModel,
    "language_model": LanguageModel,
}


def build_model(
    config,
    words: tuple[int, int],
    classes: int,
    attention_form: str = "auto",
    bilm=None,
    cached: bool = False,
) -> SentenceModel:
    """Makes and builds a model.

    Args:
      config: a config of `configs/`, of which `embedding`, `encoder`, `task`, `dtype`, `seed`,
        `train.l2` and `train.dropout` are used. `encoder.dropout` and `task.dropout`, if given,
        override `train.dropout`.
      words: number of (trainable, fixed) words.
      classes: number of classes, or of the scale's points.
      attention_form: form of `disan_tf.ops.directional_attention`.
      bilm: the arguments of the `BiLM` that feeds the model, if any.
      cached: whether batches hold the biLM's layers in place of characters.

    Returns:
      A model of the class `TASKS[config.task.name]`, with initial weights.
    """
    task = TASKS[config.task.name]
    own_options = {name: config.task[name] for name in task.options if name in config.task}
    encoder = make_encoder(config, attention_form)
    head = make_head(config, task.outputs(words, classes))
    embedding = make_embedding(config, Sources(words, bilm, cached))
    model = task(embedding, encoder, head, **own_options, name=config.name)
    model(*model.zeros())
    return model


def check_regularisation(dropout: float, l2: float) -> None:
    """Raises ValueError for impossible values of `config.train.dropout` and `config.train.l2`."""
    BaseLayer(dropout, l2)


def make_encoder(config, attention_form: str = "auto"):
    """Makes the encoder of a config, without weights yet; see `build_model`.

    Raises:
      ValueError: a value of `config.encoder` does not exist, or contradicts another.
    """
    return encoder_maker(config, attention_form)(**encoder_options(config))


def encoder_maker(config, attention_form: str = "auto") -> functools.partial:
    """Returns the encoder's class as a partial with all arguments but `encoder_options`."""
    kind, given = encoder_class(config.encoder.name), {}
    if issubclass(kind, encoders.SentenceEncoder):
        given["attention_form"] = attention_form
    return functools.partial(kind, **given, **_shared(config, "encoder"))


def encoder_class(name: str) -> type:
    """Returns a class of `ENCODERS`, or of another package, see `own_encoder`.

    Raises:
      ValueError: the class does not exist, or its module is not imported.
    """
    if ":" in name:
        return own_encoder(name)
    check_choice("name", name, ENCODERS)
    return ENCODERS[name]


def encoder_options(config) -> dict:
    """Returns the encoder's arguments from the config."""
    return {"dropout": config.train.dropout, **_without(config.encoder, "name")}


def encoders_of(task: type) -> list[str]:
    """Returns the names of the encoders that a model class of `TASKS` can have."""
    return [name for name, kind in ENCODERS.items() if issubclass(kind, task.encoder_type)]


def make_head(config, classes: int):
    """Makes the head of a config, without weights yet; see `build_model`.

    Raises:
      ValueError: a value of `config.task` does not exist.
    """
    return head_maker(config, classes)(**head_options(config))


def head_maker(config, classes: int) -> functools.partial:
    """Returns the head's class as a partial with all arguments but `head_options`."""
    kind = HEADS[config.task.head]
    return functools.partial(kind, classes=classes, **_shared(config, "head"))


def head_options(config) -> dict:
    """Returns the head's arguments from the config."""
    task = TASKS[config.task.name]
    options = _without(config.task, "name", "head", *task.options)
    return {"dropout": config.train.dropout, **options}


def _shared(config, part: str) -> dict:
    """Returns the arguments that encoder and head share."""
    return {
        "l2": config.train.l2,
        "dtype": tf.keras.mixed_precision.Policy(config.dtype),
        "seed": site_seed(config.seed, part),
        "name": part,
    }


def _without(section, *names) -> dict:
    return {name: value for name, value in section.items() if name not in names}


def count_parameters(model: tf.keras.Model) -> int:
    """Counts the trainable parameters without word vectors, as the papers do."""
    embeddings = (part for part in model.submodules if isinstance(part, WordEmbedding))
    vectors = {id(weight) for part in embeddings for weight in part.trainable_weights}
    counted = (weight for weight in model.trainable_weights if id(weight) not in vectors)
    return sum(int(tf.size(weight)) for weight in counted)
