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
from disan_tf.layers.attention.dynamic import DynamicSelfAttention, StaticSelfAttention
from disan_tf.layers.convolution import DenselyConnectedCNN
from tests.support.layers.contract import BAD_DROPOUT, MaskContract


class AttentionContract(MaskContract):
    """A layer with a mask and dropout."""

    bad_arguments = BAD_DROPOUT


class TestAdditiveSelfAttention(AttentionContract):
    kind = AdditiveSelfAttention
    arguments = {"units": 6}
    reduces = True


class TestAdditiveVanillaAttention(AttentionContract):
    kind = VanillaAttention
    arguments = {"compatibility": "additive", "units": 6, "query_dim": 3}
    reduces = True
    bad_arguments = (*BAD_DROPOUT, {"compatibility": "subtractive"})

    def call(self, layer, x, mask, training=None):
        query = tf.ones([tf.shape(x)[0], 3])
        return layer(x, query, mask=mask, training=training)


class TestMultiplicativeVanillaAttention(TestAdditiveVanillaAttention, variant=True):
    arguments = {**TestAdditiveVanillaAttention.arguments, "compatibility": "multiplicative"}


class TestIntraAttention(AttentionContract):
    kind = IntraAttention
    arguments = {"units": 6}
    reduces = True


class TestSelfAlignment(AttentionContract):
    kind = SelfAlignment
    arguments = {"units": 6}
    roundings = 12  # nothing scales its dot products down


class TestDynamicSelfAttention(AttentionContract):
    kind = DynamicSelfAttention
    arguments = {"units": 3, "attentions": 2, "iterations": 3}
    reduces = True
    units = 6
    bad_arguments = (*BAD_DROPOUT, {"attentions": 0}, {"iterations": 0})


class TestSelfAttention(AttentionContract):
    kind = StaticSelfAttention
    arguments = {"units": 6}
    reduces = True
    units = 6


class TestMultiHeadAttention(AttentionContract):
    kind = MultiHeadSelfAttention
    arguments = {"heads": 2, "units": 3}
    units = 6


class TestMultiHeadAttentionWithBiases(TestMultiHeadAttention, variant=True):
    arguments = {**TestMultiHeadAttention.arguments, "activation": "relu", "use_bias": True}


class TestForwardLSTM(AttentionContract):
    kind = BasicLSTM
    arguments = {"units": 6}
    units = 6


class TestBackwardLSTM(TestForwardLSTM, variant=True):
    arguments = {"units": 6, "backward": True}


class TestForwardGRU(TestForwardLSTM):
    kind = BasicGRU


class TestBackwardGRU(TestBackwardLSTM, variant=True):
    kind = BasicGRU


class TestConvolution(AttentionContract):
    kind = Convolution
    arguments = {"units": 6, "width": 3, "activation": "elu"}
    units = 6
    bad_arguments = (*BAD_DROPOUT, {"width": 0})


class TestConvolutionOverMoreThanTheSentence(TestConvolution, variant=True):
    arguments = {**TestConvolution.arguments, "width": 12}


class TestDenselyConnectedCNN(AttentionContract):
    kind = DenselyConnectedCNN
    arguments = {
        "layers": 3,
        "first_width": 1,
        "first_units": 5,
        "units": 4,
        "compressed_units": 6,
    }
    units = 6
    bad_arguments = (
        *BAD_DROPOUT,
        {"layers": 0},
        {"widths": ()},
        {"widths": (3, 0)},
        {"first_width": 0},
        {"init_scale": "drop"},
    )


class TestDenselyConnectedCNNOfWideWindows(TestDenselyConnectedCNN, variant=True):
    arguments = {**TestDenselyConnectedCNN.arguments, "first_width": None}
