"""What models of one sentence and of two have in common."""

import tensorflow as tf

from disan_tf.encoders import ENCODERS
from disan_tf.layers.embedding.words import WordEmbedding


class SentenceModel(tf.keras.Model):
    """Embedding, encoder and head; subclasses say which sentences they join and how.

    A subclass is called with <int32>[batch, length] ids (0 = padding) for each of its `fields`,
    in their order, then with its `word_features` of each, and with `training`. So for every model

        outputs = model(*(batch[name] for name in model.reads), training=True)

    A subclass also says how it is trained and measured; the training loop and the evaluation know
    nothing else of its task:

        model.example_losses(outputs, labels) -> <float32>[batch], without weight decay
        model.batch_score(outputs, labels) -> <float32>[], what a training shows beside the loss
        model.predictions(outputs) -> [batch], what the model says: class numbers, or scores
        model.scores(outputs, labels) -> {name: float} of the NumPy arrays of a whole split

    Args:
      embedding: ids -> token vectors.
      encoder: token vectors -> sentence vector.
      head: features of the sentences -> outputs.
    """

    fields: tuple[str, ...]  # the names of the sentences in a batch
    encoders: dict = ENCODERS  # those that it can have
    serves = True  # whether it answers sentences
    encodes = True  # whether `encode` gives the vector of a sentence by itself
    word_features: dict[str, int] = {}  # what it reads of a field's words besides ids: name -> rank
    reads_bilm = False  # whether its embedding is an `ElmoEmbedding`
    label_dtype: tf.DType  # of the labels in a batch
    criterion: str  # the key of `scores` that is best where it is highest on dev
    batch_score_name: str  # the name of `batch_score`
    options: tuple[str, ...] = ()  # arguments of the model that are values of config.task

    def __init__(self, embedding: WordEmbedding, encoder, head, **kwargs):
        super().__init__(**kwargs)
        self.embedding = embedding
        self.encoder = encoder
        self.head = head

    @classmethod
    def outputs(cls, words: tuple[int, int], classes: int) -> int:
        """How many numbers the head gives, of the (trainable, fixed) words and the classes."""
        return classes

    def read_corpus(self, corpus, config) -> None:
        """Takes from a `PreparedCorpus` what training starts with: its word vectors."""
        self.embedding.set_vectors(corpus.vectors)

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of what a call takes, as in a batch: fields, then `<field>_<feature>`."""
        return tuple(spec.name for spec in self.batch_specs())

    @classmethod
    def input_specs(cls) -> list[tf.TensorSpec]:
        """What a call takes, all <int32>[batch, length, ...]."""
        ranks = dict.fromkeys(cls.fields, 2)
        for feature, rank in cls.word_features.items():
            ranks.update({f"{field}_{feature}": rank for field in cls.fields})
        return [tf.TensorSpec([None] * rank, tf.int32, name) for name, rank in ranks.items()]

    def batch_specs(self) -> list[tf.TensorSpec]:
        """What a batch of training or of evaluation has for a call."""
        return self.input_specs()

    def zeros(self) -> list[tf.Tensor]:
        """The smallest inputs, of one word, which build a model."""
        return [tf.zeros([1] * spec.shape.rank, spec.dtype) for spec in self.input_specs()]

    def loss(self, outputs, labels):
        """Mean of the batch, <float32>[]."""
        return tf.reduce_mean(self.example_losses(outputs, labels))

    def represent(self, ids, *features, training=None):
        """Token vectors, <float>[batch, length, dim], of one field's ids and word features."""
        return self.embedding(ids, *features)

    def encode(self, ids, *features, training=None, selections=None):
        """Sentence vectors, <float>[batch, dim], of one field's ids and word features.

        `selections` are what `select` chose for it; None leaves the choice to the encoder.
        """
        mask = tf.not_equal(ids, 0)  # computed once, passed on by argument
        options = {} if selections is None else {"selections": selections}
        x = self.represent(ids, *features, training=training)
        return self.encoder(x, mask=mask, training=training, **options)

    def select(self, *ids, how: str, training=None) -> list:
        """What an encoder with hard attention chooses in each field, for `call`.

        Args:
          ids: <int32>[batch, length] of each field.
          how: "all", "sample" or "greedy".
          training: whether dropout acts.

        Returns:
          A `disan_tf.layers.hard_attention.selections.Selections` for each field.
        """
        return [
            self.encoder.select(self.embedding(each), tf.not_equal(each, 0), how, training)
            for each in ids
        ]

    def attend_sentence(self, ids, *features):
        """The encoder's named attention tensors for one field's ids and word features."""
        return self.encoder.attend(self.represent(ids, *features), tf.not_equal(ids, 0))

    def weight_vectors(self, *inputs) -> dict:
        """The encoder's, by the name "weight_vectors", of a pair with the field's before it."""
        found, count = {}, len(self.fields)
        for number, field in enumerate(self.fields):
            ids, *features = inputs[number::count]
            prefix = "" if count == 1 else f"{field}_"
            x = self.represent(ids, *features)
            vectors = self.encoder.weight_vectors(x, tf.not_equal(ids, 0))
            if vectors is not None:
                found[f"{prefix}weight_vectors"] = vectors
        return found

    def get_config(self):
        parts = {"embedding": self.embedding, "encoder": self.encoder, "head": self.head}
        serialize = tf.keras.saving.serialize_keras_object
        return {"name": self.name, **{name: serialize(part) for name, part in parts.items()}}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        deserialize = tf.keras.saving.deserialize_keras_object
        parts = {name: deserialize(config[name]) for name in ("embedding", "encoder", "head")}
        return cls(**{**config, **parts})
