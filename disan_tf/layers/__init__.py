"""The papers' mechanisms as Keras layers. They know nothing of configs, corpora or files."""

from disan_tf.layers.directional import DirectionalSelfAttention
from disan_tf.layers.dropout import Dropout
from disan_tf.layers.embedding import WordEmbedding
from disan_tf.layers.fusion_gate import FusionGate
from disan_tf.layers.linear import Linear
from disan_tf.layers.multi_dim import MultiDimAttention
from disan_tf.layers.source2token import Source2Token

__all__ = [
    "DirectionalSelfAttention",
    "Dropout",
    "FusionGate",
    "Linear",
    "MultiDimAttention",
    "Source2Token",
    "WordEmbedding",
]
