"""What models of one sentence and of two have in common."""

import tensorflow as tf

from disan_tf.encoders.base import SentenceEncoder
from disan_tf.layers.embedding.base import Embedding
from disan_tf.models.resources import Resources


class SentenceModel(tf.keras.Model):
    """Embedding, encoder and head; subclasses say which sentences they read, and how.

    A subclass is called with <int32>[batch, length] ids (0 = padding) for each of its `fields`, in
    their order, then with the embedding's `word_features` of each field, and with `training`. So
    for every model

        outputs = model(*(batch[name] for name in model.reads), training=True)

    A subclass also says how it is trained and measured; the training loop and the evaluation know
    nothing else of its task:

        model.example_losses(outputs, labels) -> <float32>[batch], without weight decay
        model.batch_score(outputs, labels) -> <float32>[], what a training shows beside the loss
        model.predictions(outputs) -> [batch], what the model says: class numbers, or scores
        model.scores(outputs, labels) -> {name: float} of the NumPy arrays of a whole split

    Args:
      embedding: words -> token vectors, see `Embedding`.
      encoder: token vectors -> sentence vector; an `encoder_type`.
      head: features of the sentences -> outputs.
    """

    fields: tuple[str, ...]  # the names of the sentences in a batch
    embeddings: tuple[str, ...] = ("words", "elmo")  # config.embedding.name that it can have
    heads: tuple[str, ...] = ("plain", "dsa", "drcn")  # config.task.head that it can have
    encoder_type: type = SentenceEncoder  # of the encoders that it can have
    label_dtype: tf.DType  # of the labels in a batch
    criterion: str  # the key of `scores` that is best where it is highest on dev
    batch_score_name: str  # the name of `batch_score`
    options: tuple[str, ...] = ()  # arguments of the model that are values of config.task

    def __init__(self, embedding: Embedding, encoder, head, **kwargs):
        super().__init__(**kwargs)
        self.embedding = embedding
        self.encoder = encoder
        self.head = head

    @classmethod
    def outputs(cls, words: tuple[int, int], classes: int) -> int:
        """How many numbers the head gives, of the (trainable, fixed) words and the classes."""
        return classes

    def set_resources(self, resources: Resources) -> None:
        """Assigns what a training starts with in place of random numbers."""
        self.embedding.set_pretrained(resources.vectors, resources.bilm_weights)

    @property
    def samplers(self) -> list:
        """The layers that choose tokens, whose weights are trained by policy gradient."""
        return self.encoder.samplers

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of what a call takes, as in a batch: fields, then `<field>_<feature>`."""
        return tuple(spec.name for spec in self.input_specs())

    def input_specs(self) -> list[tf.TensorSpec]:
        """What a call takes."""
        return input_specs(self.fields, self.embedding)

    def signatures(self) -> dict[str, list[tf.TensorSpec]]:
        """What the model can be asked for when it is served: name of a method -> its inputs.

        These are "call", for predictions, "attend", and "encode" where a sentence has a vector by
        itself.
        """
        return {"call": self.input_specs(), "attend": self.input_specs()}

    def zeros(self) -> list[tf.Tensor]:
        """The smallest inputs, of one word, which build a model."""
        shapes = [[size or 1 for size in spec.shape] for spec in self.input_specs()]
        return [tf.zeros(shape, spec.dtype) for shape, spec in zip(shapes, self.input_specs())]

    def loss(self, outputs, labels):
        """Mean of the batch, <float32>[]."""
        return tf.reduce_mean(self.example_losses(outputs, labels))

    def sentences(self, *inputs) -> list[tuple]:
        """For each field its ids and word features, of the inputs of a call."""
        count = len(self.fields)
        return [inputs[number::count] for number in range(count)]

    def embed(self, *inputs, training=None) -> list[tuple[tf.Tensor, tf.Tensor]]:
        """Token vectors <float>[batch, length, dim] and mask <bool>[batch, length], by field."""
        return [
            (self.embedding(ids, *features, training=training), tf.not_equal(ids, 0))
            for ids, *features in self.sentences(*inputs)
        ]

    def encode(self, ids, *features, selections=None, training=None):
        """Sentence vectors, <float>[batch, dim], of one field's ids and word features."""
        x = self.embedding(ids, *features, training=training)
        return self.encoder.encode(x, tf.not_equal(ids, 0), selections, training)

    def select(self, *inputs, how: str, training=None) -> list:
        """What an encoder with hard attention chooses in each field, for `call`.

        Args:
          inputs: of a call.
          how: "all", "sample" or "greedy".
          training: whether dropout acts.

        Returns:
          A `disan_tf.layers.hard_attention.selections.Selections` for each field.
        """
        embedded = self.embed(*inputs, training=training)
        return [self.encoder.select(x, mask, how, training) for x, mask in embedded]

    def weight_vectors(self, *inputs) -> dict:
        """The encoder's, by the name "weight_vectors", of a pair with the field's before it."""
        vectors = {}
        for field, (x, mask) in zip(self.fields, self.embed(*inputs)):
            prefix = "" if len(self.fields) == 1 else f"{field}_"
            vectors[f"{prefix}weight_vectors"] = self.encoder.weight_vectors(x, mask)
        return {name: tensor for name, tensor in vectors.items() if tensor is not None}

    def get_build_config(self):
        """What a `.keras` file says of how the model was built: for no shapes in particular."""
        return {"inputs": list(self.reads)}

    def build_from_config(self, config):
        """Creates the weights of a model that was made from its configuration."""
        self(*self.zeros())

    def get_config(self):
        parts = {"embedding": self.embedding, "encoder": self.encoder, "head": self.head}
        serialize = tf.keras.saving.serialize_keras_object
        return {"name": self.name, **{name: serialize(part) for name, part in parts.items()}}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        deserialize = tf.keras.saving.deserialize_keras_object
        parts = {name: deserialize(config[name]) for name in ("embedding", "encoder", "head")}
        return cls(**{**config, **parts})


def input_specs(fields: tuple[str, ...], embedding: Embedding) -> list[tf.TensorSpec]:
    """What a model of these fields takes: <int32>[batch, length] ids, then the word features."""
    ids = [tf.TensorSpec([None, None], tf.int32, field) for field in fields]
    return ids + [
        tf.TensorSpec(spec.shape, spec.dtype, f"{field}_{feature}")
        for feature, spec in embedding.word_features.items()
        for field in fields
    ]
