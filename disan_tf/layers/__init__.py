"""The papers' mechanisms as Keras layers, independent of configs, corpora and files."""

from disan_tf.common import keras_version

keras_version.check()

from disan_tf.layers.attention.additive import AdditiveSelfAttention
from disan_tf.layers.attention.directional import DirectionalSelfAttention
from disan_tf.layers.attention.dynamic import DynamicSelfAttention
from disan_tf.layers.attention.fusion_gate import FusionGate
from disan_tf.layers.attention.intra import IntraAttention
from disan_tf.layers.attention.multi_dim import MultiDimAttention
from disan_tf.layers.attention.multi_head import MultiHeadSelfAttention
from disan_tf.layers.attention.multiway import MultiwayCoAttention
from disan_tf.layers.attention.positional import positional_encoding
from disan_tf.layers.attention.self_alignment import SelfAlignment
from disan_tf.layers.attention.source2token import Source2Token
from disan_tf.layers.attention.static import StaticSelfAttention
from disan_tf.layers.attention.token2token import Token2Token
from disan_tf.layers.attention.vanilla import VanillaAttention
from disan_tf.layers.bottleneck import Bottleneck
from disan_tf.layers.convolution.convolution import Convolution
from disan_tf.layers.convolution.densely_connected import DenselyConnectedCNN
from disan_tf.layers.dropout import Dropout
from disan_tf.layers.embedding.words import WordEmbedding
from disan_tf.layers.hard_attention.iterative import IterativeSequenceSampling
from disan_tf.layers.hard_attention.parallel import ReinforcedSequenceSampling
from disan_tf.layers.hard_attention.reinforced import ReinforcedSelfAttention
from disan_tf.layers.hard_attention.selective import SelectiveSelfAttention
from disan_tf.layers.heads.classification import ClassificationHead
from disan_tf.layers.heads.drcn import DRCNHead
from disan_tf.layers.heads.dsa import DSAHead
from disan_tf.layers.heads.word_softmax import WordSoftmax
from disan_tf.layers.highway import Highway
from disan_tf.layers.linear import Linear
from disan_tf.layers.recurrent.gru import BasicGRU
from disan_tf.layers.recurrent.lstm import BasicLSTM
from disan_tf.layers.recurrent.rnn import BasicRNN

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
