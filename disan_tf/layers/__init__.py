"""The papers' mechanisms as Keras layers, independent of configs, corpora and files."""

from disan_tf.common import keras_version

keras_version.check()

from disan_tf.layers.attention.directional import DirectionalSelfAttention, FusionGate
from disan_tf.layers.attention.dynamic import DynamicSelfAttention, StaticSelfAttention
from disan_tf.layers.attention.multi_head import MultiHeadSelfAttention, positional_encoding
from disan_tf.layers.attention.multiway import MultiwayCoAttention
from disan_tf.layers.attention.token2token import IntraAttention, SelfAlignment, Token2Token
from disan_tf.layers.attention.token_attention import (
    AdditiveSelfAttention,
    MultiDimAttention,
    Source2Token,
    VanillaAttention,
)
from disan_tf.layers.convolution import Convolution, DenselyConnectedCNN
from disan_tf.layers.dropout import Dropout
from disan_tf.layers.embedding.words import WordEmbedding
from disan_tf.layers.feed_forward import Bottleneck, Highway
from disan_tf.layers.hard_attention.reinforced import ReinforcedSelfAttention
from disan_tf.layers.hard_attention.samplers import (
    IterativeSequenceSampling,
    ReinforcedSequenceSampling,
)
from disan_tf.layers.hard_attention.selective import SelectiveSelfAttention
from disan_tf.layers.heads.batch_norm import DRCNHead, DSAHead
from disan_tf.layers.heads.classification import ClassificationHead
from disan_tf.layers.heads.word_softmax import WordSoftmax
from disan_tf.layers.linear import Linear
from disan_tf.layers.recurrent import BasicGRU, BasicLSTM, BasicRNN

__all__ = [
    "AdditiveSelfAttention",
    "BasicGRU",
    "BasicLSTM",
    "BasicRNN",
    "Bottleneck",
    "ClassificationHead",
    "Convolution",
    "DRCNHead",
    "DSAHead",
    "DenselyConnectedCNN",
    "DirectionalSelfAttention",
    "Dropout",
    "DynamicSelfAttention",
    "FusionGate",
    "Highway",
    "IntraAttention",
    "IterativeSequenceSampling",
    "Linear",
    "MultiDimAttention",
    "MultiHeadSelfAttention",
    "MultiwayCoAttention",
    "ReinforcedSelfAttention",
    "ReinforcedSequenceSampling",
    "SelectiveSelfAttention",
    "SelfAlignment",
    "Source2Token",
    "StaticSelfAttention",
    "Token2Token",
    "VanillaAttention",
    "WordEmbedding",
    "WordSoftmax",
    "positional_encoding",
]
