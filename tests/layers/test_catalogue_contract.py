"""The contract of every layer, applied to the attention catalogue and to the baselines' layers."""

import tensorflow as tf

from disan_tf.layers import (
    AdditiveSelfAttention,
    BasicGRU,
    BasicLSTM,
    Convolution,
    IntraAttention,
    MultiHeadSelfAttention,
    SelfAlignment,
    VanillaAttention,
)
from disan_tf.layers.attention.dynamic import DynamicSelfAttention
from disan_tf.layers.attention.static import StaticSelfAttention
from disan_tf.layers.convolution.densely_connected import DenselyConnectedCNN
from tests.support.layers.contract import MaskContract

SHARED = {"dropout": 0.25, "l2": 1e-4, "seed": 5}
BAD_DROPOUT = ({"dropout": 1.0}, {"dropout": -0.1})


class AttentionContract(MaskContract):
    """A layer that is called with a sequence and its mask."""

    bad_arguments = BAD_DROPOUT

    def call(self, layer, x, mask, training=None):
        return layer(x, mask=mask, training=training)


class TestAdditiveSelfAttention(AttentionContract):
    reduces = True

    def make(self, **options):
        return AdditiveSelfAttention(**{"units": 6, **SHARED, **options})


class TestAdditiveVanillaAttention(AttentionContract):
    reduces = True
    compatibility = "additive"
    bad_arguments = (*BAD_DROPOUT, {"compatibility": "subtractive"})

    def make(self, **options):
        mine = {"compatibility": self.compatibility, "units": 6, "query_dim": 3}
        return VanillaAttention(**{**mine, **SHARED, **options})

    def call(self, layer, x, mask, training=None):
        query = tf.ones([tf.shape(x)[0], 3])
        return layer(x, query, mask=mask, training=training)


class TestMultiplicativeVanillaAttention(TestAdditiveVanillaAttention, variant=True):
    compatibility = "multiplicative"


class TestIntraAttention(AttentionContract):
    reduces = True

    def make(self, **options):
        return IntraAttention(**{"units": 6, **SHARED, **options})


class TestSelfAlignment(AttentionContract):
    roundings = 12  # nothing scales its dot products down

    def make(self, **options):
        return SelfAlignment(**{"units": 6, **SHARED, **options})


class TestDynamicSelfAttention(AttentionContract):
    reduces = True
    units = 6
    bad_arguments = (*BAD_DROPOUT, {"attentions": 0}, {"iterations": 0})

    def make(self, **options):
        mine = {"units": 3, "attentions": 2, "iterations": 3}
        return DynamicSelfAttention(**{**mine, **SHARED, **options})


class TestSelfAttention(AttentionContract):
    reduces = True
    units = 6

    def make(self, **options):
        return StaticSelfAttention(**{"units": 6, **SHARED, **options})


class TestMultiHeadAttention(AttentionContract):
    units = 6

    def make(self, **options):
        return MultiHeadSelfAttention(**{"heads": 2, "units": 3, **SHARED, **options})


class TestMultiHeadAttentionWithBiases(TestMultiHeadAttention, variant=True):
    def make(self, **options):
        return super().make(**{"activation": "relu", "use_bias": True, **options})


class TestForwardLSTM(AttentionContract):
    units = 6
    kind = BasicLSTM
    backward = False

    def make(self, **options):
        return self.kind(**{"units": 6, "backward": self.backward, **SHARED, **options})


class TestBackwardLSTM(TestForwardLSTM, variant=True):
    backward = True


class TestForwardGRU(TestForwardLSTM):
    kind = BasicGRU


class TestBackwardGRU(TestBackwardLSTM, variant=True):
    kind = BasicGRU


class TestConvolution(AttentionContract):
    units = 6
    width = 3
    bad_arguments = (*BAD_DROPOUT, {"width": 0})

    def make(self, **options):
        mine = {"units": 6, "width": self.width, "activation": "elu"}
        return Convolution(**{**mine, **SHARED, **options})


class TestConvolutionOverMoreThanTheSentence(TestConvolution, variant=True):
    width = 12


class TestDenselyConnectedCNN(AttentionContract):
    units = 6
    first_width = 1
    bad_arguments = (
        *BAD_DROPOUT,
        {"layers": 0},
        {"widths": ()},
        {"widths": (3, 0)},
        {"first_width": 0},
        {"init_scale": "drop"},
    )

    def make(self, **options):
        mine = {"layers": 3, "first_units": 5, "units": 4, "compressed_units": 6}
        mine["first_width"] = self.first_width
        return DenselyConnectedCNN(**{**mine, **SHARED, **options})


class TestDenselyConnectedCNNOfWideWindows(TestDenselyConnectedCNN, variant=True):
    first_width = None
