"""The papers' mechanisms as Keras layers. They know nothing of configs, corpora or files."""

from disan_tf.layers.additive import AdditiveSelfAttention
from disan_tf.layers.convolution import Convolution
from disan_tf.layers.dense_convolution import DenselyConnectedCNN
from disan_tf.layers.directional import DirectionalSelfAttention
from disan_tf.layers.dropout import Dropout
from disan_tf.layers.dynamic_attention import DynamicSelfAttention
from disan_tf.layers.embedding import WordEmbedding
from disan_tf.layers.fusion_gate import FusionGate
from disan_tf.layers.gru import GRU
from disan_tf.layers.highway import Highway
from disan_tf.layers.intra import IntraAttention
from disan_tf.layers.iterative_sampling import IterativeSequenceSampling
from disan_tf.layers.linear import Linear
from disan_tf.layers.lstm import LSTM
from disan_tf.layers.multi_dim import MultiDimAttention
from disan_tf.layers.multi_head import MultiHeadAttention
from disan_tf.layers.positional import positional_encoding
from disan_tf.layers.reinforced import ReinforcedSelfAttention
from disan_tf.layers.sampling import ReinforcedSequenceSampling
from disan_tf.layers.selective import SelectiveSelfAttention
from disan_tf.layers.self_alignment import SelfAlignment
from disan_tf.layers.self_attention import SelfAttention
from disan_tf.layers.source2token import Source2Token
from disan_tf.layers.vanilla import VanillaAttention

__all__ = [
    "AdditiveSelfAttention",
    "Convolution",
    "DenselyConnectedCNN",
    "DirectionalSelfAttention",
    "Dropout",
    "DynamicSelfAttention",
    "FusionGate",
    "GRU",
    "Highway",
    "IntraAttention",
    "IterativeSequenceSampling",
    "LSTM",
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
