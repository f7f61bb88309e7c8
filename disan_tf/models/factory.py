"""A config -> a model."""

from typing import Optional

import tensorflow as tf

from disan_tf.elmo.embedding import ElmoEmbedding
from disan_tf.encoders import SentenceEncoder
from disan_tf.layers.dropout import site_seed
from disan_tf.layers.embedding.characters import WordCharacterEmbedding
from disan_tf.layers.embedding.words import WordEmbedding
from disan_tf.layers.heads.classification import ClassificationHead
from disan_tf.layers.heads.drcn import DRCNHead
from disan_tf.layers.heads.dsa import DSAHead
from disan_tf.layers.heads.word_softmax import WordSoftmax
from disan_tf.models.base import SentenceModel
from disan_tf.models.classification import SentenceClassifier
from disan_tf.models.elmo import ElmoClassifier
from disan_tf.models.language_model import LanguageModel
from disan_tf.models.matching import SentencePairMatcher
from disan_tf.models.nli import SentencePairClassifier
from disan_tf.models.relatedness import SentencePairScorer

HEADS = {
    "plain": ClassificationHead,
    "normalized": DSAHead,
    "matching": DRCNHead,
    "words": WordSoftmax,
}
TASKS = {
    "classification": SentenceClassifier,
    "nli": SentencePairClassifier,
    "relatedness": SentencePairScorer,
    "matching": SentencePairMatcher,
    "elmo_classification": ElmoClassifier,
    "language_model": LanguageModel,
}


def build_model(
    config, words: tuple[int, int], classes: int, attention_form: str = "auto",
    bilm: Optional[dict] = None,
) -> SentenceModel:  # fmt: skip
    """A built model.

    Args:
      config: a config of `configs/`; `encoder`, `task`, `dtype`, `seed`, `train.l2`,
        `train.dropout` and `train.embeddings` (whether words learn; absent = they do) matter here,
        for a model that reads characters `words`, see `WordCharacterEmbedding`, and for one that a
        biLM feeds `elmo`, see `ElmoEmbedding`; its `words` says whether word vectors stand beside.
        `encoder.dropout` and `task.dropout`, where they are given, win over `train.dropout`.
      words: number of (trainable, fixed) words.
      classes: number of classes, or of the points of a scale.
      attention_form: form of `disan_tf.ops.directional_attention`.
      bilm: the arguments of the `BiLM` that feeds the model, if one does.

    Returns:
      The model of `TASKS` that `config.task.name` names, with initial weights. Its head is that of
      `HEADS` that `config.task.head` names, "plain" where none is named.

    """
    task, own_options, _ = _task_of(config)
    encoder = make_encoder(config, attention_form)
    head = make_head(config, task.outputs(words, classes))
    model = task(
        _make_embedding(config, words, bilm), encoder, head, **own_options, name=config.name
    )
    model(*model.zeros())
    return model


def _make_embedding(config, words, bilm):
    """What the words of a model are read from."""
    task, _, _ = _task_of(config)
    arguments = *words, config.data.embedding_dim, config.train.get("embeddings", True)
    dtype = tf.keras.mixed_precision.Policy(config.dtype)
    if task.reads_bilm:
        names = ("trainable_words", "fixed_words", "dim", "learns")
        options = dict(config.elmo)
        options["words"] = dict(zip(names, arguments)) if options["words"] else None
        del options["cached"], options["phrases"]
        return ElmoEmbedding(
            bilm, **options, l2=config.train.l2, seed=site_seed(config.seed, "embedding"),
            dtype=dtype, name="embedding",
        )  # fmt: skip
    if task is LanguageModel:
        return None
    if not task.word_features:
        return WordEmbedding(*arguments, dtype=dtype, name="embedding")
    return WordCharacterEmbedding(
        *arguments, **config.words, l2=config.train.l2, dtype=dtype,
        seed=site_seed(config.seed, "embedding"), name="embedding",
    )  # fmt: skip


def make_encoder(config, attention_form: str = "auto"):
    """The encoder of a config, without weights yet; see `build_model`.

    Raises:
      ValueError: a value of `config.encoder` that does not exist, or does not fit another.
    """
    task, _, _ = _task_of(config)
    options = {"dropout": config.train.dropout, **config.encoder}
    kind = task.encoders[options.pop("name")]
    if issubclass(kind, SentenceEncoder):
        options["attention_form"] = attention_form
    return kind(
        **options, **_shared(config), seed=site_seed(config.seed, "encoder"), name="encoder"
    )


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
    embeddings = (part for part in model.submodules if isinstance(part, WordEmbedding))
    vectors = {id(weight) for part in embeddings for weight in part.trainable_weights}
    counted = (each for each in model.trainable_weights if id(each) not in vectors)
    return sum(int(tf.size(weight)) for weight in counted)
