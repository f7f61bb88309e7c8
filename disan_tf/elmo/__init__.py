"""ELMo: a bidirectional language model over characters, and the mix of its layers."""

from disan_tf.elmo.bilm import BiLM
from disan_tf.elmo.embedding import ScalarMix
from disan_tf.elmo.projected_lstm import ProjectedLSTM
from disan_tf.elmo.token_encoder import TokenEncoder

__all__ = ["BiLM", "ProjectedLSTM", "ScalarMix", "TokenEncoder"]
