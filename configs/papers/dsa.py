"""The experiments of the DSA paper: single, multiple, and its baseline of static attention.

What the paper leaves open, and our choice:
  LeakyReLU's slope: 0.01, the default of PyTorch, which it uses.
  First convolution: kernel 1, as its text says. Its parameter counts (2.1m, 7.0m, 2.4m) fit
    the tower's own kernel: the variants `paper_count`.
  Initial weights: He's normal rule times the root of the keep rate, as in Gehring et al.
    (2017); the printed "square root of the dropout rate" is 0 for a layer without dropout
    (`--config.encoder.init_scale=rate --config.task.init_scale=rate` where it is above 0).
  L2: half of it times the squares of all matrices, which is PyTorch's weight decay but for
    biases and batch normalisation.
  "If training loss is not reduced for five times with a patience of 0.001": the mean training
    loss of an epoch, five in a row that are not below 0.999 of the best.
  Batches: drawn from all lengths (`train.window=1`). In batches of sorted lengths, as elsewhere
    here, batch normalisation sees sentences of one length at a time, and the averages that it
    keeps for evaluation fit none (dev accuracy on SST after an epoch: 25 % so, 42 % with this).
  Length of training: it names none; see the experiment.
"""

from typing import Callable

from ml_collections import ConfigDict

from configs.common import glove_100d, tiny
from configs.papers.disan import disan


def dsa(name: str, corpus: str, task: str) -> ConfigDict:
    """The training setup that both experiments of the DSA paper share, its appendix.

    Dropout of the words and of the head, optimizer, batch size, steps and the options of the
    corpus' reader are the experiment's own.

    Args:
      name, corpus, task: see `disan`.
    """
    config = disan(name, corpus, task)
    config.data.vectors = "glove/glove.840B.300d.txt"  # Sec. 4

    config.embedding.trainable = False  # Sec. 4: word vectors stay as they are

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
    config.train.dropout = 0.2  # App., of every convolution
    config.train.l2 = 1e-5  # App.
    config.train.plateau = ConfigDict()
    config.train.plateau.factor = 0.5  # App.
    config.train.plateau.patience = 5  # App. A
    config.train.plateau.threshold = 0.001  # App.
    return config


def _single(config):
    """The default."""


def _multiple(config):
    """Sec. 4 and App. A."""
    config.encoder.units = 300
    config.encoder.attentions = 8
    config.task.hidden_units = 512
    config.task.dropout = 0.4


def _self_attention(config):
    config.encoder.attention = "static"


def _paper_count(config):
    config.encoder.first_width = 0


def _bi_lstm(config):
    """Sec. 4.2, after Cho et al. (2014): 300 units each way, so that a sentence has DSA's 600."""
    _pooled_bi_lstm(config, "last")


def _bi_lstm_self_attention(config):
    _pooled_bi_lstm(config, "self_attention")


def _pooled_bi_lstm(config, pooling):
    dropout = config.encoder.word_dropout
    config.encoder = ConfigDict(
        {"name": "pooled_bi_lstm", "units": 300, "pooling": pooling, "dropout": dropout}
    )


def _cnn_non_static(config):
    """Kim (2014): 100 maps for each of 3, 4 and 5 words, dropout on what they find alone."""
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
    config.encoder.first_units = 16
    config.encoder.dense_units = 8
    config.encoder.compressed_units = 16


DSA_VARIANTS: dict[str, Callable[[ConfigDict], None]] = {
    "single": _single,
    "multiple": _multiple,
    "self_attention": _self_attention,
    "paper_count": _paper_count,
    "glove_100d": glove_100d,
    "tiny": _tiny,
}

# The baselines of Table 2.
DSA_SENTENCE_BASELINES: dict[str, Callable[[ConfigDict], None]] = {
    "bi_lstm": _bi_lstm,
    "bi_lstm_self_attention": _bi_lstm_self_attention,
    "cnn_non_static": _cnn_non_static,
}
