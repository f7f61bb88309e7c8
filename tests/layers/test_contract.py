"""The contract of every layer, applied to each."""

import numpy as np
import tensorflow as tf

from disan_tf.layers import (
    DirectionalSelfAttention,
    Dropout,
    FusionGate,
    Linear,
    MultiDimAttention,
    Source2Token,
    WordEmbedding,
)
from disan_tf.layers.heads.classification import ClassificationHead
from tests.support.layers.contract import (
    DIM,
    LENGTHS,
    LayerContract,
    MaskContract,
    SequenceContract,
)

# Idle weights below: a bias that is the same for all tokens is nothing to the softmax over them.
SHARED = {"dropout": 0.25, "l2": 1e-4, "seed": 5}
BAD_DROPOUT = ({"dropout": 1.0}, {"dropout": -0.1})


class TestDropout(SequenceContract):
    bad_arguments = ({"rate": 1.0}, {"rate": -0.5})

    def make(self, **options):
        return Dropout(**{"rate": 0.25, "seed": 5, **options})

    def call(self, layer, x, mask, training=None):
        return layer(x, training=training)


class TestLinear(SequenceContract):
    units = 6
    bad_arguments = BAD_DROPOUT

    def make(self, **options):
        return Linear(**{"units": 6, "activation": "elu", **SHARED, **options})

    def call(self, layer, x, mask, training=None):
        return layer(x, training=training)


class TestFusionGate(SequenceContract):
    bad_arguments = BAD_DROPOUT

    def make(self, **options):
        return FusionGate(**{**SHARED, **options})

    def call(self, layer, x, mask, training=None):
        context = tf.cast(0.5 - x, layer.compute_dtype)  # Keras casts the first argument alone
        return layer(x, context, training=training)


class TestWordEmbedding(SequenceContract):
    def make(self, **options):
        return WordEmbedding(**{"trainable_words": 4, "fixed_words": 3, "dim": DIM, **options})

    def call(self, layer, x, mask, training=None):
        return layer(x)

    def inputs(self):
        ids = np.random.default_rng(1).integers(1, 9, size=[len(LENGTHS), max(LENGTHS)])
        mask = tf.sequence_mask(LENGTHS)
        return tf.where(mask, tf.constant(ids, tf.int32), 0), mask

    def expected_shape(self, x):
        return [*x.shape, DIM]

    def pad(self, x, tokens):
        return tf.pad(x, [[0, 0], [0, tokens]])

    def garbage(self, x):
        return tf.fill(x.shape, 3)


class TestMultiDimAttention(MaskContract):
    reduces = True
    bad_arguments = BAD_DROPOUT

    def make(self, **options):
        return MultiDimAttention(**{"query_dim": 3, **SHARED, **options})

    def idle(self, layer):
        return [layer.score_map.dense.bias]

    def call(self, layer, x, mask, training=None):
        query = tf.ones([tf.shape(x)[0], 3])
        return layer(x, query, mask=mask, training=training)


class TestSource2Token(MaskContract):
    reduces = True
    bad_arguments = BAD_DROPOUT

    def make(self, **options):
        return Source2Token(**{**SHARED, **options})

    def idle(self, layer):
        return [layer.score_map.dense.bias]

    def call(self, layer, x, mask, training=None):
        return layer(x, mask=mask, training=training)


class TestForwardAttention(MaskContract):
    direction = "forward"
    units = 6
    bad_arguments = (
        *BAD_DROPOUT,
        {"direction": "sideways"},
        {"scale": 0},
        {"scale": 41},
        {"attention_form": "thick"},
    )

    def make(self, **options):
        mine = {"units": 6, "direction": self.direction, "scale": 4.0, **SHARED}
        return DirectionalSelfAttention(**{**mine, **options})

    def call(self, layer, x, mask, training=None):
        return layer(x, mask=mask, training=training)


class TestBackwardAttention(TestForwardAttention, variant=True):
    direction = "backward"


class TestDiagonalAttention(TestForwardAttention, variant=True):
    direction = "diagonal"


class TestPlainAttention(TestForwardAttention, variant=True):
    def make(self, **options):
        return super().make(**{"attention_form": "plain", **options})


class TestLeanAttention(TestForwardAttention, variant=True):
    """The others take the native form where there is one."""

    def make(self, **options):
        return super().make(**{"attention_form": "lean", **options})


class TestClassificationHead(LayerContract):
    units = 3
    output_dtype = "float32"
    bad_arguments = BAD_DROPOUT

    def make(self, **options):
        return ClassificationHead(**{"classes": 3, "hidden_units": 6, **SHARED, **options})

    def call(self, layer, x, mask, training=None):
        return layer(x, training=training)

    def inputs(self):
        x, mask = super().inputs()
        return x[:, 0], mask
