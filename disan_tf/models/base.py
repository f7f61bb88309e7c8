"""The base class of models for one sentence or two."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Optional

import numpy as np
import tensorflow as tf

from disan_tf.encoders.base import SentenceEncoder
from disan_tf.layers.embedding.words import Embedding
from disan_tf.ops.batch_share import mean_of_rows
from disan_tf.text.lookup import UNKNOWN_ID


@dataclass(frozen=True)
class Resources:
    """Arrays and counts that are read from files before a model is built.

    The frequencies count word ids in the training data, from id 1 (unknown); for a language model,
    the number of sentences, twice, comes first.
    """

    words: tuple[int, int]  # number of (trainable, fixed) words
    classes: int  # number of classes, or of the scale's points
    vectors: np.ndarray  # <float32>[words, dim], the word vectors from id 2
    bilm: Optional[dict] = None  # the arguments of the `BiLM` that feeds the model, if any
    bilm_weights: Optional[dict[str, np.ndarray]] = None  # by the names of `official_tensors`
    word_counts: Optional[np.ndarray] = None  # <int64>[words + 2], the frequencies


SENTENCE = ("sentence",)  # the fields of a model of one sentence


class SentenceModel(tf.keras.Model):
    """A model of an embedding, an encoder and a head; subclasses define the sentences they read.

    A subclass is called with <int32>[batch, length] ids (0 = padding) for each of its `fields`, in
    their order, then with the embedding's `word_features` of each field, and with `training`:

        outputs = model(*(batch[name] for name in model.reads), training=True)

    or with one argument, the batch itself or a tuple of its inputs. So Keras' `fit`, `evaluate` and
    `predict` work too:

        model.compile(optimizer="adam")
        model.fit({"premise": ids, "hypothesis": other_ids}, labels)

    `fit` trains without the policy gradient of encoders with hard attention; `disan_tf.training`
    has it. A subclass also defines the losses and metrics that training and evaluation use:

        model.example_losses(outputs, labels) -> <float32>[batch], without weight decay
        model.batch_score(outputs, labels) -> <float32>[], which training reports beside the loss
        model.predictions(outputs) -> [batch], class numbers or scores
        model.scores(outputs, labels) -> {name: float}, from the NumPy arrays of a whole split

    Args:
      embedding: words -> token vectors, see `Embedding`.
      encoder: token vectors -> sentence vector; an `encoder_type`.
      head: features of the sentences -> outputs.
    """

    fields: tuple[str, ...]  # the names of the sentences in a batch
    embeddings: tuple[str, ...] = ("words", "elmo")  # possible config.embedding.name
    heads: tuple[str, ...] = ("plain", "dsa", "drcn")  # possible config.task.head
    encoder_type: type = SentenceEncoder  # base class of the possible encoders
    label_dtype: tf.DType  # of the labels in a batch
    criterion: str  # the key of `scores` whose highest value on dev is best
    criteria: tuple[str, ...] = ()  # possible config.train.criterion
    batch_score_name: str  # the name of `batch_score`
    options: tuple[str, ...] = ()  # arguments of the model from config.task
    keras_metrics: tuple[str, ...] = ()  # of `compile`

    def __init__(self, embedding: Embedding, encoder, head, **kwargs):
        super().__init__(**kwargs)
        self.embedding = embedding
        self.encoder = encoder
        self.head = head

    @staticmethod
    def check_options() -> None:
        """Checks the arguments named in `options`; ValueError for an impossible one."""

    @classmethod
    def outputs(cls, words: tuple[int, int], classes: int) -> int:
        """Returns the head's output size, given the (trainable, fixed) words and the classes."""
        return classes

    def build(self, input_shape=None):
        """Does nothing: the parts are built when they are first called."""
        self.built = True

    def set_resources(self, resources: Resources) -> None:
        """Replaces random initial weights by the pretrained arrays in `resources`."""
        self.embedding.set_pretrained(resources.vectors, resources.bilm_weights)

    @property
    def samplers(self) -> list:
        """The layers that select tokens, whose weights are trained by policy gradient."""
        return self.encoder.samplers

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of a call's inputs in a batch: fields, then `<field>_<feature>`."""
        return tuple(spec.name for spec in self.input_specs())

    def input_specs(self) -> list[tf.TensorSpec]:
        """Returns the specs of a call's inputs."""
        return input_specs(self.fields, self.embedding)

    def signatures(self) -> dict[str, list[tf.TensorSpec]]:
        """Returns the methods that a served model offers: name -> `served_specs` of the inputs.

        "encode" is among them if the encoder makes vectors of single sentences.
        """
        specs = served_specs(self.input_specs())
        return {"call": specs, "attend": specs}

    def zeros(self) -> list[tf.Tensor]:
        """Returns the smallest inputs that build a model, of one word."""
        shapes = [[size or 1 for size in spec.shape] for spec in self.input_specs()]
        return [tf.zeros(shape, spec.dtype) for shape, spec in zip(shapes, self.input_specs())]

    def batch_loss(self, outputs, labels):
        """Returns the mean loss of the batch, <float32>[]."""
        return mean_of_rows(self.example_losses(outputs, labels))

    def loss_weight(self, outputs) -> float:
        """Returns the batch's weight in the mean loss over a split: its number of examples."""
        return float(len(outputs))

    def training_loss(self, outputs, labels):
        """Returns the loss of a training step without weight decay, <float32>[]."""
        return self.batch_loss(outputs, labels)

    def compile(self, optimizer="rmsprop", loss=None, metrics=None, **kwargs):
        """Configures `fit`; without `loss` with the loss and metrics of the task."""
        if loss is None:
            loss = self.keras_loss()
            metrics = self.keras_metrics if metrics is None else metrics
        super().compile(optimizer=optimizer, loss=loss, metrics=metrics, **kwargs)

    def compile_from_config(self, config):
        """Compiles a model that was read from a file, as it was compiled before."""
        self.compile(**tf.keras.utils.deserialize_keras_object(config))
        if hasattr(self.optimizer, "build"):  # Keras' legacy optimizers have none
            self.optimizer.build(self.trainable_variables)

    def keras_loss(self) -> tf.keras.losses.Loss:
        """Returns the mean of `example_losses` as a Keras loss."""
        raise NotImplementedError

    def sentences(self, *inputs) -> list[tuple]:
        """Groups a call's inputs into (ids, *word features) for each field."""
        count = len(self.fields)
        if len(inputs) == 1 and isinstance(inputs[0], (Mapping, list, tuple)):
            (given,), specs = inputs, self.input_specs()
            names = [spec.name for spec in specs]
            if isinstance(given, Mapping):
                given = [given[name] for name in names if name in given]
            if len(given) != len(specs):
                raise ValueError(
                    f"{len(given)} inputs are given; the model reads {', '.join(names)}."
                )
            inputs = [tf.cast(tensor, spec.dtype) for tensor, spec in zip(given, specs)]
        return [tuple(inputs[number::count]) for number in range(count)]

    def embed(self, *inputs, training=None) -> list[tuple[tf.Tensor, tf.Tensor]]:
        """Returns vectors <float>[batch, length, dim] and mask <bool>[batch, length], by field."""
        return [
            (self.embedding(ids, *features, training=training), tf.not_equal(ids, 0))
            for ids, *features in self.sentences(*inputs)
        ]

    def encode(self, ids, *features, selections=None, training=None):
        """Returns sentence vectors, <float>[batch, dim], for one field's ids and word features."""
        x = self.embedding(ids, *features, training=training)
        return self.encoder.encode(x, tf.not_equal(ids, 0), selections, training)

    def select(self, *inputs, how: str, training=None) -> list:
        """Returns the `Selections` of each field for `call`, by an encoder with hard attention.

        Args:
          inputs, training: see `call`.
          how: "all", "sample" or "greedy".
        """
        embedded = self.embed(*inputs, training=training)
        return [self.encoder.select(x, mask, how, training) for x, mask in embedded]

    def lacks_words(self, *inputs):
        """Returns whether a text of each example has no word of the vocabulary, <bool>[batch].

        It is False for models that read the characters of words, which know every word.
        """
        ids = inputs[: len(self.fields)]
        if self.embedding.word_features:
            return tf.zeros(tf.shape(ids[0])[:1], tf.bool)
        lacking = [tf.reduce_all(numbers <= UNKNOWN_ID, axis=1) for numbers in ids]
        return tf.reduce_any(tf.stack(lacking), axis=0)

    def weight_vectors(self, *inputs) -> dict:
        """Returns the encoder's `weight_vectors` by name; names in a pair begin with `<field>_`."""
        vectors = {}
        for field, (x, mask) in zip(self.fields, self.embed(*inputs)):
            vectors[f"{prefix_of(field)}weight_vectors"] = self.encoder.weight_vectors(x, mask)
        return {name: tensor for name, tensor in vectors.items() if tensor is not None}

    def get_build_config(self):
        """Returns the names of the inputs for a `.keras` file, without shapes."""
        return {"inputs": list(self.reads)}

    def build_from_config(self, config):
        """Creates the weights of a model made from its configuration."""
        self(*self.zeros())

    def get_config(self):
        parts = {"embedding": self.embedding, "encoder": self.encoder, "head": self.head}
        serialize = tf.keras.utils.serialize_keras_object
        return {"name": self.name, **{name: serialize(part) for name, part in parts.items()}}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        deserialize = tf.keras.utils.deserialize_keras_object
        parts = {name: deserialize(config[name]) for name in ("embedding", "encoder", "head")}
        return cls(**{**config, **parts})


def input_specs(fields: tuple[str, ...], embedding: Embedding) -> list[tf.TensorSpec]:
    """Returns the specs of a model's inputs: <int32>[batch, length] ids, then word features."""
    ids = [tf.TensorSpec([None, None], tf.int32, field) for field in fields]
    return ids + [
        tf.TensorSpec(spec.shape, spec.dtype, f"{field}_{feature}")
        for feature, spec in embedding.word_features.items()
        for field in fields
    ]


def prefix_of(field: str) -> str:
    """Returns the start of the names of a field's tensors: "", or "<field>_" in a pair."""
    return "" if field in SENTENCE else f"{field}_"


def served_specs(specs: list[tf.TensorSpec]) -> list[tf.TensorSpec]:
    """Gives inputs, see `input_specs`, the names that they have in a served model.

    They are `ids` and the word features of one sentence, or `<field>_ids` and `<field>_<feature>`.
    """
    (single,) = SENTENCE
    if specs[0].name == single:
        names = {spec.name: spec.name.replace(f"{single}_", "") for spec in specs}
        names[single] = "ids"
    else:
        names = {spec.name: f"{spec.name}_ids" for spec in specs[:2]}
    return [
        tf.TensorSpec(spec.shape, spec.dtype, names.get(spec.name, spec.name)) for spec in specs
    ]
