"""The training model of a biLM, which predicts words."""

import tensorflow as tf

from disan_tf.elmo.bilm import BiLM
from disan_tf.layers.keras_layer import build_child
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import real_tokens
from disan_tf.metrics.scores import perplexities
from disan_tf.models.base import SENTENCE, SentenceModel
from disan_tf.ops.tracing import on_host

BOUNDARIES = 2  # begin and end of sentence: the first classes; ids from 1 (unknown) follow


@serializable
class LanguageModel(SentenceModel):
    """A language model, characters -> biLM -> words (ELMo-DiSAN paper, Eq. 10 to 12).

    The forward layers predict each word and the sentence's end from the words before. The backward
    layers predict each word and the sentence's begin from the words after. Sentences are read whole
    and from zero states, as downstream models read them; the official training cuts a stream of
    sentences into pieces of 20 tokens and carries the states on. It is trained by
    `disan_tf.training`, not by Keras' `fit`, and called with ids and characters, not with a batch.

    Args:
      embedding: a `WordBytes`.
      encoder: a `BiLM`, which makes vectors from bytes itself.
      head: a `WordSoftmax` of `words + 3` classes: begin, end, unknown, and the words.

    Call arguments:
      ids: <int32>[batch, length], 0 = padding, 1 = unknown.
      characters: <int32>[batch, length, word_length], see `disan_tf.text.characters.byte_ids`.
      training: whether dropout acts and the softmax is estimated.

    Returns:
      <float32>[batch, 3]: for each sentence the sums of -ln p in nats, forward and backward, and
      the number of words that each direction predicts, with the boundary.
    """

    fields = SENTENCE
    embeddings = ("bytes",)
    heads = ("word_softmax",)
    encoder_type = BiLM
    label_dtype = tf.int32
    criterion = "log_likelihood"
    batch_score_name = "sampled_perplexity"

    def __init__(self, *parts, **kwargs):
        super().__init__(*parts, **kwargs)
        if not self.encoder.built:  # the encoder itself is never called
            build_child(self.encoder, [None, None, self.encoder.word_length])

    @classmethod
    def outputs(cls, words, classes):
        return sum(words) + 1 + BOUNDARIES

    def set_resources(self, resources):
        """Sets the head's word frequencies."""
        self.head.set_counts(resources.word_counts)

    @property
    def samplers(self):
        return []

    def signatures(self):
        """Returns {}: a language model is not served; its biLM feeds other models."""
        return {}

    def call(self, ids, characters, training=None):
        mask, characters = tf.not_equal(ids, 0), self.embedding(ids, characters)
        x, real = self.encoder.encode_tokens(characters, mask)
        layers, _ = self.encoder.read(x, real, training=training)
        forward, backward = tf.split(layers[:, :, -1], 2, axis=-1)
        with on_host():
            count = tf.reduce_sum(tf.cast(mask, tf.int32), axis=1)
            last = tf.one_hot(count, tf.shape(ids)[1] + 1, dtype=tf.int32)  # after the last word
            words = tf.where(mask, ids + (BOUNDARIES - 1), 0)
            following = tf.pad(words, [[0, 0], [0, 1]]) + last  # begin of sentence is 0, its end 1
            before = tf.pad(words, [[0, 0], [1, 0]])
            predicts = tf.sequence_mask(count + 1, tf.shape(ids)[1] + 1)
        losses = [
            self._sums(h, targets, predicts, training)
            for h, targets in ((forward[:, :-1], following), (backward[:, 1:], before))
        ]
        return tf.stack([*losses, tf.cast(count + 1, tf.float32)], axis=1)

    def _sums(self, h, targets, predicts, training):
        """Sums -ln p over each sentence, <float32>[batch]."""
        with on_host():
            targets, rows = real_tokens(targets, predicts), tf.where(predicts)[:, 0]
        losses = self.head(real_tokens(h, predicts), targets, training=training)
        losses = losses[: tf.shape(rows)[0]]
        return tf.math.unsorted_segment_sum(losses, rows, tf.shape(predicts)[0])

    def batch_loss(self, outputs, labels):
        """Returns -ln p of a word, the mean over both directions and all words in the batch."""
        forward, backward, count = tf.unstack(tf.reduce_sum(outputs, axis=0))
        return (forward + backward) / (2.0 * count)

    def loss_weight(self, outputs):
        """Returns the number of words that each direction predicts in the batch."""
        return float(tf.reduce_sum(outputs[:, 2]))

    def batch_score(self, outputs, labels):
        return tf.exp(self.batch_loss(outputs, labels))

    def predictions(self, outputs):
        return tf.constant(outputs)

    def scores(self, outputs, labels):
        """Returns the scores of `perplexities`."""
        return perplexities(outputs)

    def attend(self, *inputs):
        """Returns {}: a biLM has no attention."""
        return {}
