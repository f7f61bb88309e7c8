"""The experiments of the DSA paper: single, multiple, and the static attention baseline.

Settings that the paper leaves open:
  LeakyReLU's slope: 0.01, the default of PyTorch, which the authors use.
  First convolution: kernel 1, as in the paper's text. The paper's parameter counts (2.1m, 7.0m,
    2.4m) fit the tower's own kernel: the variants `paper_count`.
  Initial weights: He's normal rule times the root of the keep rate, as in Gehring et al.
    (2017); the printed "square root of the dropout rate" is 0 for a layer without dropout
    (`--config.encoder.init_scale=rate --config.task.init_scale=rate` where it is above 0).
  L2: half the coefficient times the squares of all matrices, which is PyTorch's weight decay
    without biases and batch normalisation.
  "If training loss is not reduced for five times with a patience of 0.001": the mean training
    loss of five epochs in a row is not below 0.999 of the best.
  Batches: drawn from all lengths (`train.window=1`). If batches are sorted by length, as in the
    other experiments, batch normalisation sees one length at a time, and its averages for
    evaluation fit no length (dev accuracy on SST after an epoch: 25 % sorted, 42 % unsorted).
  Length of training: see the experiment.
"""

from typing import Callable

from ml_collections import ConfigDict

from configs.common import glove_100d, settings, tiny
from configs.papers.disan import disan


def dsa(name: str, corpus: str, task: str) -> ConfigDict:
    """Returns the setup that both experiments of the DSA paper share, from its appendix.

    Each experiment sets the dropout of words and head, optimizer, batch size, steps and the options
    of the corpus' reader.

    Args:
      name, corpus, task: see `disan`.
    """
    config = disan(name, corpus, task)
    config.data.vectors = "glove/glove.840B.300d.txt"  # Sec. 4

    config.embedding.trainable = False  # Sec. 4: fixed word vectors

    config.encoder = ConfigDict()
    config.encoder.name = "dsa"
    config.encoder.attention = "dynamic"  # or "static", Eq. 1
    config.encoder.units = 600  # Sec. 4, d_o of single DSA
    config.encoder.attentions = 1  # Sec. 4, m
    config.encoder.iterations = 2  # App., r
    config.encoder.layers = 4  # App., L
    config.encoder.first_units = 150  # App., d_1
    config.encoder.dense_units = 75  # App., d_l
    config.encoder.widths = (3, 5)  # App., k_1 and k_2
    config.encoder.compressed_units = 300  # App., d_c
    config.encoder.first_width = 1  # Sec. 3.1; 0 = the tower's own
    config.encoder.negative_slope = 0.01
    config.encoder.init_scale = "keep"  # or "rate", the printed form
    config.encoder.word_dropout = 0.3  # App. A

    config.task = ConfigDict()
    config.task.name = task
    config.task.head = "dsa"
    config.task.hidden_layers = 2  # App. A
    config.task.hidden_units = 300  # App. A
    config.task.negative_slope = 0.01
    config.task.init_scale = "keep"
    config.task.dropout = 0.3  # App. A

    config.train.window = 1  # see above
    config.train.dropout = 0.2  # App., for every convolution
    config.train.l2 = 1e-5  # App.
    config.train.plateau = ConfigDict()
    config.train.plateau.factor = 0.5  # App.
    config.train.plateau.patience = 5  # App. A
    config.train.plateau.threshold = 0.001  # App.
    return config


def _multiple(config):
    """Sets multiple DSA, Sec. 4 and App. A."""
    config.encoder.units = 300
    config.encoder.attentions = 8
    config.task.hidden_units = 512
    config.task.dropout = 0.4


def _bi_lstm(config):
    """Sets Sec. 4.2's Bi-LSTM, after Cho et al. (2014): 300 units per direction, 600 in all."""
    _pooled_bi_lstm(config, "last")


def _bi_lstm_self_attention(config):
    _pooled_bi_lstm(config, "self_attention")


def _pooled_bi_lstm(config, pooling):
    dropout = config.encoder.word_dropout
    config.encoder = ConfigDict(
        {"name": "pooled_bi_lstm", "units": 300, "pooling": pooling, "dropout": dropout}
    )


def _cnn_non_static(config):
    """Sets Kim's (2014) CNN: 100 maps for each of 3, 4 and 5 words, dropout only after them."""
    config.encoder = ConfigDict(
        {
            "name": "multi_window_cnn",
            "windows": (3, 4, 5),
            "units": 100,
            "activation": "relu",
            "dropout": 0.0,
        }
    )
    config.embedding.trainable = True


def _tiny(config):
    tiny(config)
    if config.encoder.name == "dsa":
        config.encoder.first_units = 16
        config.encoder.dense_units = 8
        config.encoder.compressed_units = 16


DSA_VARIANTS: dict[str, Callable[[ConfigDict], None]] = {
    "single": settings({}),  # the default
    "multiple": _multiple,
    "self_attention": settings({"encoder.attention": "static"}),
    "paper_count": settings({"encoder.first_width": 0}),
    "glove_100d": glove_100d,
    "tiny": _tiny,
}

# The baselines of Table 2.
DSA_SENTENCE_BASELINES: dict[str, Callable[[ConfigDict], None]] = {
    "bi_lstm": _bi_lstm,
    "bi_lstm_self_attention": _bi_lstm_self_attention,
    "cnn_non_static": _cnn_non_static,
}
