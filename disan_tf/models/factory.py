"""Builds a model from a config, within the memory, and checks the sections that describe it."""

import contextlib
import functools
import math
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Optional

import tensorflow as tf

from disan_tf import encoders
from disan_tf.common.checks import check_choice
from disan_tf.common.errors import UserError
from disan_tf.common.keras_version import is_keras_3
from disan_tf.common.options import chosen, flag, read_section
from disan_tf.elmo.bilm import BiLM
from disan_tf.encoders.custom import custom_encoder, import_custom
from disan_tf.layers.dropout import site_seed
from disan_tf.layers.embedding.words import WordEmbedding
from disan_tf.layers.heads.batch_norm import DRCNHead, DSAHead
from disan_tf.layers.heads.classification import ClassificationHead
from disan_tf.layers.heads.word_softmax import WordSoftmax
from disan_tf.layers.keras_layer import sublayers
from disan_tf.models.base import SentenceModel
from disan_tf.models.classification import SentenceClassifier
from disan_tf.models.embeddings import ANY_SOURCES, EMBEDDINGS, Sources, check_arrays
from disan_tf.models.language_model import LanguageModel
from disan_tf.models.pairs import SentencePairClassifier
from disan_tf.models.relatedness import RelatednessModel
from disan_tf.ops.tracing import gpu_memory

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
    """
    task, dropout = TASKS[config.task.name], config.train.dropout
    shared = SharedArguments(config.train.l2, config.dtype, config.seed)
    options = {name: config.task[name] for name in task.options if name in config.task}
    head = head_parts(config.task, task.outputs(words, classes), dropout, shared)
    parts = (
        embedding_parts(config.embedding, Sources(words, bilm, cached), shared),
        encoder_parts(config.encoder, dropout, shared, attention_form),
        head,
    )
    layers = [make(**arguments) for arguments, make in parts]
    model = task(*layers, **options, name=config.name)
    model(*model.zeros())
    return model


class SharedArguments(NamedTuple):
    """`config.train.l2`, `dtype` and `seed`, which embedding, encoder and head share."""

    l2: float = 0.0
    dtype: str = "float32"
    seed: int = 0

    def of(self, part: str) -> dict:
        """Returns the arguments of the part with this name."""
        policy = tf.keras.mixed_precision.Policy(self.dtype)
        return {"l2": self.l2, "dtype": policy, "seed": site_seed(self.seed, part), "name": part}


NOTHING_SHARED = SharedArguments()  # for parts that are only checked or compared


def read_model(task, embedding, encoder, data, fields: Sequence[str]) -> type:
    """Checks the sections of a config that describe a model, with the classes that they name.

    Args:
      task, embedding, encoder, data: sections of a config; the last one is checked already.
      fields: the names of the corpus' sentences.

    Returns:
      The class of the encoder.

    Raises:
      UserError: a part that does not exist, that the task cannot have, or for which the corpus has
        no sentences or arrays.
    """
    model = chosen(TASKS, "task", task)
    chosen(_named(EMBEDDINGS, model.embeddings), "embedding", embedding)
    chosen(_named(HEADS, model.heads), "task", task, "head")
    if tuple(fields) != model.fields:
        raise UserError(
            f"--config.task.name={task.name} reads {' and '.join(model.fields)}, but the corpus "
            f"{data.corpus} has {' and '.join(fields)}; choose a task that fits it."
        )
    options, make = embedding_parts(embedding, ANY_SOURCES)
    read_section("embedding", options, f"the embedding {embedding.name}", make)
    check_arrays(embedding, data)
    kind = _fitting_encoder(encoder, model.encoder_type, task.name)
    options, make = head_parts(task, classes=2)
    options.update({name: task[name] for name in ("calibrate", *model.options) if name in task})
    has_policy = bool(getattr(kind, "samplers", ()))
    calibration = functools.partial(check_calibration, task=model, has_policy=has_policy)
    owner = f"the task {task.name} with the head {task.head}"
    read_section("task", options, owner, make, calibration, model.check_options)
    if data.get("score") and data.lowest != task.get("lowest", 1):
        raise UserError(
            f"--config.task.lowest={task.get('lowest', 1)} must be {data.lowest}, as "
            "config.data.lowest is."
        )
    options, make = encoder_parts(encoder)
    read_section("encoder", options, encoder.name, make)
    return kind


def _fitting_encoder(encoder, kind: type, task: str) -> type:
    """Returns the class in `config.encoder`; UserError unless it is the kind that a task needs.

    A module of another package that the config names is imported.
    """
    import_custom(encoder)
    name = encoder.get("name")
    if not isinstance(name, str) or ":" not in name:  # one of ours
        fitting = [known for known, other in ENCODERS.items() if issubclass(other, kind)]
        return chosen(_named(ENCODERS, fitting), "encoder", encoder)
    if not issubclass(custom_encoder(name), kind):
        raise UserError(
            f"{flag('encoder', 'name')}={name} must be a {kind.__name__}, which the task {task} "
            "needs."
        )
    return custom_encoder(name)


def check_calibration(calibrate: bool = False, *, task: type[SentenceModel], has_policy: bool):
    """Raises ValueError if a model without classes, or with hard attention, is to be calibrated."""
    if calibrate and (has_policy or not task.criteria):
        raise ValueError("calibrate=True is for classes without hard attention; leave it False.")


def embedding_parts(
    embedding, sources: Sources, shared: SharedArguments = NOTHING_SHARED
) -> tuple[dict, functools.partial]:
    """Returns the arguments in `config.embedding`, and a partial with all others."""
    kind = EMBEDDINGS[embedding.name]
    make = functools.partial(kind.make, sources=sources, shared=shared.of("embedding"))
    return _without(embedding, "name"), make


def encoder_parts(
    encoder,
    dropout: float = 0.0,
    shared: SharedArguments = NOTHING_SHARED,
    attention_form: str = "auto",
) -> tuple[dict, functools.partial]:
    """Returns the arguments in `config.encoder`, and a partial with all others."""
    options = {"dropout": dropout, **_without(encoder, "name")}
    given, kind = shared.of("encoder"), encoder_class(encoder.name)
    if issubclass(kind, encoders.SentenceEncoder):
        given["attention_form"] = attention_form
    return options, functools.partial(kind, **given)


def head_parts(
    task, classes: int, dropout: float = 0.0, shared: SharedArguments = NOTHING_SHARED
) -> tuple[dict, functools.partial]:
    """Returns the head's arguments in `config.task`, and a partial with all others."""
    options = _without(task, "name", "head", "calibrate", *TASKS[task.name].options)
    make = functools.partial(HEADS[task.head], classes=classes, **shared.of("head"))
    return {"dropout": dropout, **options}, make


def encoder_class(name: str) -> type:
    """Returns a class of `ENCODERS`, or of another package; for errors see `custom_encoder`."""
    if ":" in name:
        return custom_encoder(name)
    check_choice("name", name, ENCODERS)
    return ENCODERS[name]


def _without(section, *names) -> dict:
    return {name: value for name, value in section.items() if name not in names}


def _named(components: Mapping, names: Sequence[str]) -> dict:
    return {name: components[name] for name in names}


def count_parameters(model: tf.keras.Model) -> int:
    """Counts the trainable parameters without word vectors, as the papers do."""
    embeddings = (part for part in sublayers(model) if isinstance(part, WordEmbedding))
    vectors = {id(weight) for part in embeddings for weight in part.trainable_weights}
    counted = (weight for weight in model.trainable_weights if id(weight) not in vectors)
    return sum(int(tf.size(weight)) for weight in counted)


@contextlib.contextmanager
def memory_limit(copies: int, most: Optional[tuple[str, int]] = None) -> Iterator[None]:
    """Raises MemoryError in the block for variables that exceed the device's memory.

    The device is the smallest visible GPU, since a strategy copies the variables to each, or the
    machine if it has no GPU. Under Keras 3 only weights of layers in the block's thread count.

    Args:
      copies: copies of each weight: 1 to predict, 4 to train (gradient and two optimizer slots).
      most: the name of a limit, such as a file that holds the weights, and its bytes; None = the
        device.
    """
    (device, memory), used = most or _device_memory(), 0

    def count(name, shape, dtype):
        nonlocal used
        shape = tf.TensorShape(shape)
        if shape.is_fully_defined():
            used += copies * math.prod(shape) * tf.dtypes.as_dtype(dtype).size
        if used > memory:
            raise MemoryError(
                f"with {name} of {' x '.join(map(str, shape))} numbers the model "
                f"needs {used / 1e9:,.0f} GB, and the {device} has {memory / 1e9:,.0f} GB"
            )

    def create(next_creator, **options):
        count(options.get("name"), options.get("shape"), options["dtype"])
        return next_creator(**options)

    with _counted_weights(count) if is_keras_3() else tf.variable_creator_scope(create):
        yield


@contextlib.contextmanager
def _counted_weights(count) -> Iterator[None]:
    """Calls `count` before a layer of Keras 3, which knows no variable creators, adds a weight."""
    add_weight, thread = tf.keras.layers.Layer.add_weight, threading.get_ident()

    def counted(layer, shape=(), *args, **options):
        if threading.get_ident() == thread:
            count(options.get("name"), shape, options.get("dtype") or layer.variable_dtype)
        return add_weight(layer, shape, *args, **options)

    tf.keras.layers.Layer.add_weight = counted
    try:
        yield
    finally:
        tf.keras.layers.Layer.add_weight = add_weight


def _device_memory() -> tuple[str, int]:
    """Returns "GPU" or "machine", and its memory in bytes."""
    memory = gpu_memory()
    if memory is not None:
        return "GPU", memory
    return "machine", os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
