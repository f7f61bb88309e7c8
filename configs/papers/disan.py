"""The experiments of the DiSAN paper, and the baselines of its Table 1."""

from typing import Callable

from ml_collections import ConfigDict

from configs.common import base_config, glove_100d, settings, tiny


def disan(name: str, corpus: str, task: str) -> ConfigDict:
    """Returns the training setup of the DiSAN paper, section 5.

    Each experiment sets dropout, weight decay, steps and the options of the corpus' reader.

    Args:
      name, corpus, task: see `base_config`.
    """
    config = base_config(name, corpus, task)
    config.data.lowercase = True  # authors' code
    config.data.vectors = "glove/glove.6B.300d.txt"  # Sec. 5
    config.data.oov = "uniform"  # Sec. 5: U(-0.05, 0.05)
    config.embedding.dim = 300  # Sec. 5

    config.encoder.name = "disan"
    config.encoder.units = 300  # Sec. 5, d_h
    config.encoder.activation = "elu"  # Sec. 5

    config.task.hidden_units = 300  # Sec. 5.1 and 5.2
    config.task.activation = "elu"  # Sec. 5
    config.task.logit_bias = True  # the paper's parameter counts include it

    config.train.batch_size = 64  # Sec. 5
    config.train.learning_rate = 0.5  # Sec. 5
    config.train.dropout = 0.25  # Sec. 5: keep probability 0.75, or by the size of the corpus
    config.train.l2 = 5e-5  # Sec. 5, or by the size of the corpus
    config.evaluate.batch_size = 100  # authors' code
    return config


def cross_validated(name: str, corpus: str) -> ConfigDict:
    """Returns the setup for CR, MPQA or SUBJ, section 5.3: 10-fold cross-validation."""
    config = disan(name, corpus, task="classification")
    config.data.folds = 10  # Sec. 5.3
    config.data.fold = 0  # the test fold; --folds=all trains on every fold in turn
    config.data.dev_share = 0.1  # share of the other folds that selects the model
    config.data.split_seed = 1  # seed of the folds; not changed by --seeds
    config.train.window = 35
    return config


def _additive(config):
    config.encoder = ConfigDict({"name": "additive", **shape(config)})


def _source2token(config):
    config.encoder = ConfigDict({"name": "source2token", "activation": config.encoder.activation})


def _multi_head(config):
    """Sets Sec. 5.1's 8 heads of 75 units; the paper tries keep probabilities 0.7, 0.75 ... 0.9."""
    activation = config.encoder.activation
    config.encoder = ConfigDict(
        {"name": "multi_head", "heads": 8, "units": 75, "activation": activation}
    )


def _bi_lstm(config):
    """Sets Sec. 5.1's 300 units per direction and the paper's ELU; the authors' code has ReLU."""
    config.encoder = ConfigDict({"name": "bi_lstm", **shape(config)})


def shape(config: ConfigDict) -> dict:
    """Returns the settings that all encoders of a paper share."""
    return {"units": config.encoder.units, "activation": config.encoder.activation}


# The baselines of DiSAN's Table 1 as variants of its configs.
BASELINES: dict[str, Callable[[ConfigDict], None]] = {
    "additive": _additive,
    "source2token": _source2token,
    "multi_head": _multi_head,
    "bi_lstm": _bi_lstm,
    "without_directions": settings({"encoder.directions": ("diagonal", "diagonal")}),
}
# The variants of every experiment of the DiSAN paper.
DISAN_VARIANTS = {**BASELINES, "glove_100d": glove_100d, "tiny": tiny}
