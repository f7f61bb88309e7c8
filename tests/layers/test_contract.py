"""The contract of every layer, applied to each."""

import numpy as np
import tensorflow as tf

# Idle weights below: a bias that is the same for all tokens is nothing to the softmax over them.
from disan_tf.layers import (
    AdditiveSelfAttention,
    BasicGRU,
    BasicLSTM,
    Convolution,
    DirectionalSelfAttention,
    Dropout,
    FusionGate,
    IntraAttention,
    Linear,
    MultiDimAttention,
    MultiHeadSelfAttention,
    SelfAlignment,
    Source2Token,
    Token2Token,
    VanillaAttention,
    WordEmbedding,
)
from disan_tf.layers.attention.dynamic import DynamicSelfAttention, StaticSelfAttention
from disan_tf.layers.convolution import DenselyConnectedCNN
from disan_tf.layers.heads.classification import ClassificationHead
from tests.support.layers.contract import (
    BAD_DROPOUT,
    DIM,
    LENGTHS,
    MaskContract,
    SequenceContract,
    VectorContract,
)


class TestDropout(SequenceContract):
    bad_arguments = ({"rate": 1.0}, {"rate": -0.5})

    def make(self, **options):
        return Dropout(**{"rate": 0.25, "seed": 5, **options})


class TestLinear(SequenceContract):
    kind = Linear
    arguments = {"units": 6, "activation": "elu"}
    units = 6
    bad_arguments = BAD_DROPOUT


class TestFusionGate(SequenceContract):
    kind = FusionGate
    bad_arguments = BAD_DROPOUT

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
    kind = MultiDimAttention
    arguments = {"query_dim": 3}
    reduces = True
    bad_arguments = BAD_DROPOUT

    def idle(self, layer):
        return [layer.score_map.dense.bias]

    def call(self, layer, x, mask, training=None):
        query = tf.ones([tf.shape(x)[0], 3])
        return layer(x, query, mask=mask, training=training)


class TestSource2Token(MaskContract):
    kind = Source2Token
    reduces = True
    bad_arguments = BAD_DROPOUT

    def idle(self, layer):
        return [layer.score_map.dense.bias]


class TestToken2Token(MaskContract):
    kind = Token2Token
    bad_arguments = (*BAD_DROPOUT, {"direction": "sideways"})

    def idle(self, layer):
        return [layer.score_map.dense.bias]


class TestForwardToken2Token(TestToken2Token, variant=True):
    arguments = {"direction": "forward"}


class TestForwardAttention(MaskContract):
    kind = DirectionalSelfAttention
    arguments = {"units": 6, "direction": "forward", "scale": 4.0}
    units = 6
    bad_arguments = (
        *BAD_DROPOUT,
        {"direction": "sideways"},
        {"scale": 0},
        {"scale": 41},
        {"attention_form": "thick"},
    )


class TestBackwardAttention(TestForwardAttention, variant=True):
    arguments = {**TestForwardAttention.arguments, "direction": "backward"}


class TestClassificationHead(VectorContract):
    kind = ClassificationHead
    arguments = {"classes": 3, "hidden_units": 6}
    units = 3
    output_dtype = "float32"
    bad_arguments = BAD_DROPOUT


class TestClassificationHeadWithHighway(TestClassificationHead, variant=True):
    arguments = {**TestClassificationHead.arguments, "highway": True}


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


class TestForwardLSTM(AttentionContract):
    kind = BasicLSTM
    arguments = {"units": 6}
    units = 6


class TestBackwardLSTM(TestForwardLSTM, variant=True):
    arguments = {"units": 6, "backward": True}


class TestForwardGRU(TestForwardLSTM):
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
