"""A config -> a model."""

import tensorflow as tf

from disan_tf import encoders
from disan_tf.elmo.bilm import BiLM
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
    "EMBEDDINGS", "ENCODERS", "HEADS", "TASKS", "build_model", "count_parameters",
    "make_embedding", "make_encoder", "make_head",
]  # fmt: skip

ENCODERS = {**encoders.ENCODERS, "bilm": BiLM}
HEADS = {
    "plain": ClassificationHead,
    "dsa": DSAHead,
    "drcn": DRCNHead,
    "word_softmax": WordSoftmax,
}
TASKS = {
    "classification": SentenceClassifier,
    "nli": SentencePairClassifier,
    "relatedness": RelatednessModel,
    "language_model": LanguageModel,
}


def build_model(
    config, words: tuple[int, int], classes: int, attention_form: str = "auto", bilm=None,
    cached: bool = False,
) -> SentenceModel:  # fmt: skip
    """A built model.

    Args:
      config: a config of `configs/`; `embedding`, `encoder`, `task`, `dtype`, `seed`, `train.l2`
        and `train.dropout` matter here. `encoder.dropout` and `task.dropout`, where they are given,
        win over `train.dropout`.
      words: number of (trainable, fixed) words.
      classes: number of classes, or of the points of a scale.
      attention_form: form of `disan_tf.ops.directional_attention`.
      bilm: the arguments of the `BiLM` that feeds the model, if one does.
      cached: whether batches have the layers of that biLM in place of characters.

    Returns:
      The model of `TASKS` that `config.task.name` names, with initial weights.
    """
    task, own_options, _ = _task_of(config)
    encoder = make_encoder(config, attention_form)
    head = make_head(config, task.outputs(words, classes))
    embedding = make_embedding(config, Sources(words, bilm, cached))
    model = task(embedding, encoder, head, **own_options, name=config.name)
    model(*model.zeros())
    return model


def make_encoder(config, attention_form: str = "auto"):
    """The encoder of a config, without weights yet; see `build_model`.

    Raises:
      ValueError: a value of `config.encoder` that does not exist, or does not fit another.
    """
    options = {"dropout": config.train.dropout, **config.encoder}
    kind = ENCODERS[options.pop("name")]
    if issubclass(kind, encoders.SentenceEncoder):
        options["attention_form"] = attention_form
    return kind(
        **options, **_shared(config), seed=site_seed(config.seed, "encoder"), name="encoder"
    )


def encoders_of(task: type) -> list[str]:
    """The names of the encoders that a value of `TASKS` can have."""
    return [name for name, kind in ENCODERS.items() if issubclass(kind, task.encoder_type)]


def make_head(config, classes: int):
    """The head of a config, without weights yet; see `build_model`.

    Raises:
      ValueError: a value of `config.task` that does not exist.
    """
    _, _, options = _task_of(config)
    options = {"dropout": config.train.dropout, **options}
    return HEADS[options.pop("head")](
        classes, **options, **_shared(config), seed=site_seed(config.seed, "head"), name="head"
    )


def _shared(config):
    """What encoder and head have in common."""
    return {"l2": config.train.l2, "dtype": tf.keras.mixed_precision.Policy(config.dtype)}


def _task_of(config):
    """The class of `TASKS`, its options in `config.task`, and those of the head."""
    options = dict(config.task)
    task = TASKS[options.pop("name")]
    own_options = {name: options.pop(name) for name in task.options if name in options}
    return task, own_options, options


def count_parameters(model: tf.keras.Model) -> int:
    """Trainable parameters without the embedding, as the papers count them."""
    embeddings = (part for part in model.submodules if isinstance(part, WordEmbedding))
    vectors = {id(weight) for part in embeddings for weight in part.trainable_weights}
    counted = (weight for weight in model.trainable_weights if id(weight) not in vectors)
    return sum(int(tf.size(weight)) for weight in counted)
