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
from disan_tf.layers.heads.batch_norm import DRCNHead, DSAHead
from disan_tf.layers.heads.classification import ClassificationHead
from disan_tf.layers.heads.word_softmax import WordSoftmax
from disan_tf.layers.keras_layer import sublayers
from disan_tf.models.base import SentenceModel
from disan_tf.models.classification import SentenceClassifier
from disan_tf.models.embeddings import EMBEDDINGS, Sources
from disan_tf.models.language_model import LanguageModel
from disan_tf.models.nli import SentencePairClassifier
from disan_tf.models.relatedness import RelatednessModel

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
    parts = (
        embedding_parts(config, Sources(words, bilm, cached)),
        encoder_parts(config, attention_form),
        head_parts(config, task.outputs(words, classes)),
    )
    layers = [make(**options) for options, make in parts]
    model = task(*layers, **own_options, name=config.name)
    model(*model.zeros())
    return model


def check_regularisation(dropout: float, l2: float) -> None:
    """Raises ValueError for impossible values of `config.train.dropout` and `config.train.l2`."""
    BaseLayer(dropout, l2, seed=0)


def embedding_parts(config, sources: Sources) -> tuple[dict, functools.partial]:
    """Returns the embedding's arguments from the config, and a partial with all others."""
    kind = EMBEDDINGS[config.embedding.name]
    make = functools.partial(kind.make, sources=sources, shared=_shared(config, "embedding"))
    return _without(config.embedding, "name"), make


def encoder_parts(config, attention_form: str = "auto") -> tuple[dict, functools.partial]:
    """Returns the encoder's arguments from the config, and a partial with all others.

    Raises:
      ValueError: see `encoder_class`.
    """
    options = {"dropout": config.train.dropout, **_without(config.encoder, "name")}
    given, kind = _shared(config, "encoder"), encoder_class(config.encoder.name)
    if issubclass(kind, encoders.SentenceEncoder):
        given["attention_form"] = attention_form
    return options, functools.partial(kind, **given)


def head_parts(config, classes: int) -> tuple[dict, functools.partial]:
    """Returns the head's arguments from the config, and a partial with all others."""
    own = _without(config.task, "name", "head", "calibrate", *TASKS[config.task.name].options)
    make = functools.partial(HEADS[config.task.head], classes=classes, **_shared(config, "head"))
    return {"dropout": config.train.dropout, **own}, make


def encoder_class(name: str) -> type:
    """Returns a class of `ENCODERS`, or of another package, see `own_encoder`.

    Raises:
      ValueError: the class does not exist, or its module is not imported.
    """
    if ":" in name:
        return own_encoder(name)
    check_choice("name", name, ENCODERS)
    return ENCODERS[name]


def _shared(config, part: str) -> dict:
    """Returns the arguments that embedding, encoder and head share."""
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
    embeddings = (part for part in sublayers(model) if isinstance(part, WordEmbedding))
    vectors = {id(weight) for part in embeddings for weight in part.trainable_weights}
    counted = (weight for weight in model.trainable_weights if id(weight) not in vectors)
    return sum(int(tf.size(weight)) for weight in counted)
