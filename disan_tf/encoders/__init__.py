"""Encoders, which turn token vectors into a sentence vector.

`README.md` in this folder explains how to add an encoder.
"""

from disan_tf.encoders.attentive import AdditiveEncoder, MultiHeadEncoder, Source2TokenEncoder
from disan_tf.encoders.base import PairEncoder, SentenceEncoder
from disan_tf.encoders.bi_recurrent import BiGRUEncoder, BiLSTMEncoder, PooledBiLSTMEncoder
from disan_tf.encoders.convolutional import HierarchicalCNNEncoder, MultiWindowCNNEncoder
from disan_tf.encoders.disan import DiSAN
from disan_tf.encoders.drcn import DRCN
from disan_tf.encoders.dsa import DSAEncoder
from disan_tf.encoders.resan import ReSAN, SelectedSource2TokenEncoder

ENCODERS = {
    "additive": AdditiveEncoder,
    "bi_gru": BiGRUEncoder,
    "bi_lstm": BiLSTMEncoder,
    "disan": DiSAN,
    "drcn": DRCN,
    "dsa": DSAEncoder,
    "hierarchical_cnn": HierarchicalCNNEncoder,
    "multi_head": MultiHeadEncoder,
    "multi_window_cnn": MultiWindowCNNEncoder,
    "pooled_bi_lstm": PooledBiLSTMEncoder,
    "resan": ReSAN,
    "selected_source2token": SelectedSource2TokenEncoder,
    "source2token": Source2TokenEncoder,
}

__all__ = ["ENCODERS", "PairEncoder", "SentenceEncoder"]
__all__ += [encoder.__name__ for encoder in ENCODERS.values()]
