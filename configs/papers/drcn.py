"""The experiments of the multiway DRCN paper: its seven models, and further variants."""

from typing import Callable

from ml_collections import ConfigDict

from configs.common import glove_100d, settings, tiny
from configs.papers.disan import disan


def drcn(name: str, corpus: str) -> ConfigDict:
    """Returns the setup of section 4.1; the default is the baseline with cosine attention.

    Args:
      name, corpus: see `disan`.
    """
    config = disan(name, corpus, task="nli")
    config.data.tokenizer = "treebank"
    config.data.lowercase = False
    config.data.vectors = "glove/glove.840B.300d.txt"  # Sec. 4.1
    config.data.oov = "normal"  # Sec. 4.1: standard normal, seed 1
    config.data.word_features = True  # characters, and the exact-match flag
    config.data.word_length = 16

    config.embedding.name = "characters"
    config.embedding.word_length = config.data.get_ref("word_length")
    config.embedding.character_dim = 16  # Sec. 4.1
    config.embedding.character_units = 32  # Sec. 4.1
    config.embedding.character_width = 5

    config.encoder = ConfigDict()
    config.encoder.name = "drcn"
    config.encoder.units = 100  # Sec. 4.1
    config.encoder.layers = 5  # Fig. 1
    config.encoder.recurrence = "rnn"  # Sec. 3.1.2; or "lstm", Kim et al.
    config.encoder.functions = "Cs"  # Sec. 3.1.2
    config.encoder.aggregation = "words"  # Eq. 6; or "functions"
    config.encoder.bottleneck_units = 0  # optional; Kim et al. have 200
    config.encoder.dropout = 0.5  # Sec. 4.1

    config.task = ConfigDict()
    config.task.name = "nli"
    config.task.head = "drcn"
    config.task.pair_features = "sum_and_difference"  # Eq. 5
    config.task.hypothesis_only = False
    config.task.hidden_layers = 2  # Sec. 3.1.3
    config.task.hidden_units = 1000  # Kim et al.
    config.task.dropout = 0.2  # Sec. 4.1

    config.train.window = 1  # batch normalisation, see `configs.papers.dsa.dsa`
    config.train.batch_norm_batches = 100  # see configs/drcn_snli.py
    config.train.dropout = 0.0
    config.train.optimizer = "rmsprop"  # Sec. 4.1
    config.train.learning_rate = 0.001  # Sec. 4.1
    config.train.l2 = 1e-6  # Sec. 4.1
    config.train.plateau = ConfigDict()
    config.train.plateau.monitor = "dev"  # Sec. 4.1
    config.train.plateau.factor = 0.15  # Sec. 4.1
    config.train.plateau.patience = 1
    config.train.plateau.threshold = 0.0
    return config


def _tiny(config):
    tiny(config)
    config.data.word_length = 8
    config.embedding.character_dim = 4
    config.embedding.character_units = 4
    config.encoder.units = 4
    config.encoder.layers = 3
    config.encoder.functions = "B-Ca-Cs-D-M"


FULL, FOUR = "B-Ca-Cs-D-M", "B-Ca-Cs-M"
# Table 1, in its order; the last is the default.
TABLE_1 = (FULL, "B-Ca-Cs-D", FOUR, "B-Ca-D-M", "B-Cs-D-M", "Ca-Cs-D-M", "Cs")
DRCN_VARIANTS: dict[str, Callable[[ConfigDict], None]] = {
    **{names: settings({"encoder.functions": names}) for names in TABLE_1},
    "over_functions": settings({"encoder.functions": FOUR, "encoder.aggregation": "functions"}),
    "bi_lstm": settings({"encoder.recurrence": "lstm"}),
    "bottleneck": settings({"encoder.bottleneck_units": 200}),
    "hypothesis_only": settings({"task.hypothesis_only": True}),
    "glove_100d": glove_100d,
    "tiny": _tiny,
}
