"""The experiments of the DiSAN paper, and the baselines of its Table 1."""

from typing import Callable

from ml_collections import ConfigDict


def disan(name: str, corpus: str, task: str) -> ConfigDict:
    """The training setup of the DiSAN paper, section 5.

    Dropout, weight decay, steps and the options of the corpus' reader are the experiment's own.

    Args:
      name: of the experiment.
      corpus: a key of `data_prep.corpora.READERS`.
      task: a key of `disan_tf.models.factory.TASKS`.
    """
    config = ConfigDict()
    config.name = name
    config.seed = 1
    config.dtype = "float32"  # or mixed_bfloat16; mixed_float16 takes 15 s a step on a CPU

    config.data = ConfigDict()
    config.data.corpus = corpus
    config.data.tokenizer = "whitespace"  # "treebank" where sentences are not tokenised
    config.data.lowercase = True  # authors' code
    config.data.vectors = "glove/glove.6B.300d.txt"  # Sec. 5
    config.data.fixed_words = "corpus"  # dev and test words that only the vectors know
    config.data.oov = "uniform"  # Sec. 5: U(-0.05, 0.05)
    config.data.seed = config.get_ref("seed")

    config.embedding = ConfigDict()
    config.embedding.name = "words"
    config.embedding.dim = 300  # Sec. 5
    config.embedding.trainable = True
    config.data.embedding_dim = config.embedding.get_ref("dim")

    config.encoder = ConfigDict()
    config.encoder.name = "disan"
    config.encoder.units = 300  # Sec. 5, d_h
    config.encoder.activation = "elu"  # Sec. 5

    config.task = ConfigDict()
    config.task.name = task
    config.task.head = "plain"
    config.task.hidden_units = 300  # Sec. 5.1 and 5.2
    config.task.activation = "elu"  # Sec. 5
    config.task.logit_bias = True  # the paper's parameter counts have it

    config.train = ConfigDict()
    config.train.batch_size = 64  # Sec. 5
    config.train.batch_tokens = 0  # padded tokens of a batch in place of batch_size; 0 = off
    config.train.examples = 0  # train on so many, drawn from all; 0 = all
    config.train.window = 100  # batches that are sorted by length together
    config.train.learning_rate = 0.5  # Sec. 5
    config.train.dropout = 0.25  # Sec. 5: keep probability 0.75, or by the size of the corpus
    config.train.l2 = 5e-5  # Sec. 5, or by the size of the corpus
    config.train.moving_average = 0.0  # decay of averaged weights for evaluation; 0 = off
    config.train.steps = 0
    config.train.evaluate_every = 0
    config.train.patience = 0  # evaluations without a better dev score; 0 = never stop early
    config.train.checkpoint_every = config.train.get_oneway_ref("evaluate_every")
    config.train.log_every = 100

    config.evaluate = ConfigDict()
    config.evaluate.batch_size = 100  # authors' code
    config.evaluate.splits = ()  # scored beside dev at each evaluation, for curves; never chosen by
    return config


def cross_validated(name: str, corpus: str) -> ConfigDict:
    """DiSAN on CR, MPQA or SUBJ, section 5.3: 10-fold cross-validation."""
    config = disan(name, corpus, task="classification")
    config.data.folds = 10  # Sec. 5.3
    config.data.fold = 0  # the test part; --folds=all runs through them
    config.data.dev_share = 0.1  # of the other folds; it chooses the model
    config.data.split_seed = 1  # which example is in which fold; not changed by --seeds
    config.train.window = 35
    return config


def _additive(config):
    config.encoder = ConfigDict({"name": "additive", **shape(config)})


def _source2token(config):
    config.encoder = ConfigDict({"name": "source2token", "activation": config.encoder.activation})


def _multi_head(config):
    """Sec. 5.1: 8 heads of 75 units; its keep probability was tuned from 0.7 to 0.9 by 0.05."""
    activation = config.encoder.activation
    config.encoder = ConfigDict(
        {"name": "multi_head", "heads": 8, "units": 75, "activation": activation}
    )


def _bi_lstm(config):
    """Sec. 5.1: 300 units each way. ELU as everywhere in the paper; the authors' code has ReLU."""
    config.encoder = ConfigDict({"name": "bi_lstm", **shape(config)})


def _without_directions(config):
    config.encoder.directions = ("diagonal", "diagonal")


def shape(config: ConfigDict) -> dict:
    """What the encoders of a paper have in common."""
    return {"units": config.encoder.units, "activation": config.encoder.activation}


def tiny(config: ConfigDict) -> None:
    """Changes a config to train in seconds on a CPU, for tests."""
    config.data.vectors = ""
    config.data.embedding_dim = 16
    config.encoder.units = 16
    config.task.hidden_units = 16
    config.train.batch_size = 16
    config.train.steps = 50
    config.train.evaluate_every = 10
    config.train.log_every = 10


# The baselines of DiSAN's Table 1 as variants of its configs.
BASELINES: dict[str, Callable[[ConfigDict], None]] = {
    "additive": _additive,
    "source2token": _source2token,
    "multi_head": _multi_head,
    "bi_lstm": _bi_lstm,
    "without_directions": _without_directions,
}
