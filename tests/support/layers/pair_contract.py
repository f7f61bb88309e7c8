"""What tests of models of sentence pairs share."""

import numpy as np
import tensorflow as tf

from disan_tf.encoders import DiSAN
from disan_tf.layers import WordEmbedding
from disan_tf.layers.heads.classification import ClassificationHead
from tests.support.layers.contract import DIM, LENGTHS, SequenceContract
from tests.support.layers.weights import draw_weights

OTHER = tf.constant([[3, 4, 0], [2, 9, 11], [5, 0, 0], [8, 6, 1]])  # as many as LENGTHS


class PairContract(SequenceContract):
    """The contract of a layer for a pair model, of which the first sentence varies."""

    reduces = True
    output_dtype = "float32"
    test_weight_decay_is_on_the_matrices = None  # the layers' own

    def call(self, layer, x, mask, training=None):
        return layer(x, OTHER[: tf.shape(x)[0]], training=training)

    def idle(self, layer):
        return [layer.encoder.source2token.score_map.dense.bias]

    def inputs(self):
        ids = np.random.default_rng(1).integers(1, 12, size=[len(LENGTHS), max(LENGTHS)])
        mask = tf.sequence_mask(LENGTHS)
        return tf.where(mask, tf.constant(ids, tf.int32), 0), mask

    def expected_shape(self, x):
        return [x.shape[0], self.units]

    def pad(self, x, tokens):
        return tf.pad(x, [[0, 0], [0, tokens]])

    def garbage(self, x):
        return tf.zeros_like(x)  # an id says by itself that it is padding


def pair_parts(classes: int, dtype=None, **options):
    """The embedding, the encoder and the head of a small model, with dropout and weight decay."""
    shared = {"dropout": 0.25, "l2": 1e-4, "dtype": dtype, **options}
    return (
        WordEmbedding(7, 3, DIM, dtype=dtype, name="embedding"),
        DiSAN(6, seed=5, name="encoder", **shared),
        ClassificationHead(classes, 6, seed=6, name="head", **shared),
    )


def with_drawn_weights(model: tf.keras.Model) -> tf.keras.Model:
    """The model, built, with weights that make its answers differ."""
    model(OTHER, OTHER)
    draw_weights(model.trainable_weights, seed=2, size=0.4)
    return model
