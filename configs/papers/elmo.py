"""ELMo in place of word vectors (ELMo-DiSAN paper, Sec. III), for any experiment."""

from ml_collections import ConfigDict

OFFICIAL_BILM = "elmo/elmo_2x4096_512_2048cnn_2xhighway"  # Sec. III-A: two layers


def feed_with_elmo(config: ConfigDict) -> None:
    """Replaces a config's word vectors by ELMo; all other options stay."""
    config.data.vectors = ""
    config.data.bilm = OFFICIAL_BILM

    config.embedding = ConfigDict()
    config.embedding.name = "elmo"
    config.embedding.dim = config.data.get_ref("embedding_dim")
    config.embedding.bilm = config.data.get_ref("bilm")
    config.embedding.cached = True
    config.embedding.phrases = "own"  # or "cut"
    config.embedding.trainable_bilm = False
    config.embedding.normalize = False
    config.embedding.words = False  # whether word vectors are concatenated with ELMo's
    config.embedding.dropout = 0.1  # for a biLM in training; Peters et al. (2018)
