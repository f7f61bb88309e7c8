"""DiSAN on the Stanford Natural Language Inference corpus, Table 1 of the DiSAN paper.

    python run.py --config=configs/disan_snli.py --data_dir=data --workdir=runs/disan_snli

The paper: 85.62 % test accuracy, 91.08 % on the training data, 2.35 million parameters (GloVe 6B,
300 dimensions). Ours: not measured yet.

Variants (`--config=configs/disan_snli.py:official`):
  official  the authors' code where it contradicts good sense: the empty strings that its splitting
            of words leaves stay tokens; all words of the vector file are known
  tiny      seconds on a CPU, for tests
"""

from ml_collections import ConfigDict

from disan_tf.configuration import apply_variant


def get_config(variant: str = "") -> ConfigDict:
    """The config of a variant; "" is the paper's."""
    config = ConfigDict()
    config.name = "disan_snli"
    config.seed = 1
    config.dtype = "float32"  # or mixed_bfloat16; mixed_float16 takes 15 s a step on a CPU

    config.data = ConfigDict()
    config.data.corpus = "snli"
    config.data.tokens = "parse"  # authors' code: leaves of the binary parses; or "text"
    config.data.tokenizer = "whitespace"  # the parses are tokenised; raw text needs "treebank"
    config.data.split_words = True  # authors' code: also at hyphens, slashes and quotes
    config.data.empty_tokens = False  # authors' code only: keep what is left beside a quote
    config.data.length_percentile = 0.97  # authors' code: training pairs with the longest are left
    config.data.lowercase = True  # authors' code
    config.data.vectors = "glove/glove.6B.300d.txt"  # Sec. 5, training setup
    config.data.embedding_dim = 300  # Sec. 5, training setup
    config.data.fixed_words = "corpus"  # dev and test words that only the vectors know
    config.data.oov = "uniform"  # Sec. 5: U(-0.05, 0.05)
    config.data.seed = config.get_ref("seed")

    config.encoder = ConfigDict()
    config.encoder.name = "disan"
    config.encoder.units = 300  # Sec. 5, d_h
    config.encoder.activation = "elu"  # Sec. 5

    config.task = ConfigDict()
    config.task.name = "nli"
    config.task.hidden_units = 300  # Sec. 5.1
    config.task.activation = "elu"  # Sec. 5
    config.task.logit_bias = True  # authors' code; the paper's parameter count has it

    config.train = ConfigDict()
    config.train.batch_size = 64  # Sec. 5
    config.train.batch_tokens = 0  # padded tokens of a batch in place of batch_size; 0 = off
    config.train.window = 500  # batches that are sorted by length together; an epoch has 8,300
    config.train.learning_rate = 0.5  # Sec. 5
    config.train.dropout = 0.25  # Sec. 5: keep probability 0.75 for language inference
    config.train.l2 = 5e-5  # Sec. 5
    config.train.moving_average = 0.0  # decay of averaged weights for evaluation; 0 = off
    config.train.steps = 400_000  # authors' code
    config.train.evaluate_every = 2000  # authors' code: 500, and in the last 100,000 steps alone
    config.train.patience = 0  # evaluations without a better dev accuracy; 0 = never stop early
    config.train.checkpoint_every = 2000
    config.train.log_every = 100

    config.evaluate = ConfigDict()
    config.evaluate.batch_size = 100  # authors' code
    return apply_variant(config, variant, VARIANTS)


def _official(config):
    config.data.empty_tokens = True
    config.data.fixed_words = "all"


def _tiny(config):
    config.data.vectors = ""
    config.data.embedding_dim = 16
    config.encoder.units = 16
    config.task.hidden_units = 16
    config.train.batch_size = 16
    config.train.steps = 50
    config.train.evaluate_every = 10
    config.train.checkpoint_every = 10
    config.train.log_every = 10


VARIANTS = {"official": _official, "tiny": _tiny}
