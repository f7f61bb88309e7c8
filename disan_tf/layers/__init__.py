"""The papers' mechanisms as Keras layers. They know nothing of configs, corpora or files."""

from disan_tf.layers.attention.additive import AdditiveSelfAttention
from disan_tf.layers.attention.directional import DirectionalSelfAttention
from disan_tf.layers.attention.dynamic import DynamicSelfAttention
from disan_tf.layers.attention.fusion_gate import FusionGate
from disan_tf.layers.attention.intra import IntraAttention
from disan_tf.layers.attention.multi_dim import MultiDimAttention
from disan_tf.layers.attention.multi_head import MultiHeadAttention
from disan_tf.layers.attention.positional import positional_encoding
from disan_tf.layers.attention.self_alignment import SelfAlignment
from disan_tf.layers.attention.source2token import Source2Token
from disan_tf.layers.attention.static import SelfAttention
from disan_tf.layers.attention.vanilla import VanillaAttention
from disan_tf.layers.convolution.convolution import Convolution
from disan_tf.layers.convolution.dense import DenselyConnectedCNN
from disan_tf.layers.dropout import Dropout
from disan_tf.layers.embedding.words import WordEmbedding
from disan_tf.layers.hard_attention.iterative import IterativeSequenceSampling
from disan_tf.layers.hard_attention.reinforced import ReinforcedSelfAttention
from disan_tf.layers.hard_attention.sampling import ReinforcedSequenceSampling
from disan_tf.layers.hard_attention.selective import SelectiveSelfAttention
from disan_tf.layers.highway import Highway
from disan_tf.layers.linear import Linear
from disan_tf.layers.recurrent.gru import BasicGRU
from disan_tf.layers.recurrent.lstm import BasicLSTM

__all__ = [
    "AdditiveSelfAttention",
    "Convolution",
    "DenselyConnectedCNN",
    "DirectionalSelfAttention",
    "Dropout",
    "DynamicSelfAttention",
    "FusionGate",
    "BasicGRU",
    "Highway",
    "IntraAttention",
    "IterativeSequenceSampling",
    "BasicLSTM",
    "Linear",
    "MultiDimAttention",
    "MultiHeadAttention",
    "ReinforcedSelfAttention",
    "ReinforcedSequenceSampling",
    "SelectiveSelfAttention",
    "SelfAlignment",
    "SelfAttention",
    "Source2Token",
    "VanillaAttention",
    "WordEmbedding",
    "positional_encoding",
]
