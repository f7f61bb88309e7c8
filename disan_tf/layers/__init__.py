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

__all__ = ["AdditiveSelfAttention", "BasicGRU", "BasicLSTM", "BasicRNN", "Bottleneck"]
__all__ += ["ClassificationHead", "Convolution", "DRCNHead", "DSAHead", "DenselyConnectedCNN"]
__all__ += ["DirectionalSelfAttention", "Dropout", "DynamicSelfAttention", "FusionGate", "Highway"]
__all__ += ["IntraAttention", "IterativeSequenceSampling", "Linear", "MultiDimAttention"]
__all__ += ["MultiHeadSelfAttention", "MultiwayCoAttention", "ReinforcedSelfAttention"]
__all__ += ["ReinforcedSequenceSampling", "SelectiveSelfAttention", "SelfAlignment", "Source2Token"]
__all__ += ["StaticSelfAttention", "Token2Token", "VanillaAttention", "WordEmbedding"]
__all__ += ["WordSoftmax", "positional_encoding"]
