"""DiSAN on the Stanford Sentiment Treebank, Table 2 of the DiSAN paper.

    python run.py --config=configs/disan_sst.py --data_dir=data --workdir=runs/disan_sst

The paper: 51.72 % test accuracy with five classes (GloVe 6B, 300 dimensions).

Ours, so far with the 4,180 GloVe 840B vectors that cover 68 % of the training tokens, one seed, on
two shared processors:

    --config.data.vectors=glove/glove.840B.300d.subset.txt --config.data.repetitions=False
    --config.train.evaluate_every=500

  distinct phrases                          dev 46.50  test 43.98  step 18,500, 40 minutes
  and --config.train.moving_average=0.999   dev 46.68  test 44.62  step 36,000, 65 minutes
  and --config.data.rebalance=True          dev 46.23  test 44.03  step 18,000, 31 minutes

The same first run with native operations, 20,000 steps in 13 minutes (83 s an epoch of 2,489 steps,
the evaluations every 500 steps included): dev 46.41, test 44.21 at step 17,500. Without them this
machine does 19 steps a second, with them 35.

Dev accuracy of the first on its way: 37.0 after one epoch (2,489 steps), 41 after two, 43 to 45
after four, 45 to 46.5 from six on. `checkpoints/results/` has the curves, and what is known of the
difference from the paper.

Variants (`--config=configs/disan_sst.py:official`):
  official  the authors' code where it contradicts the paper: ReLU, keep probability 0.7,
            re-balanced phrases, no logit bias, N(0, 1) for out-of-vocabulary words
  binary    two classes, neutral phrases dropped
  sentence  trained on whole sentences only
  tiny      seconds on a CPU, for tests
"""

from ml_collections import ConfigDict

from disan_tf.configuration import apply_variant


def get_config(variant: str = "") -> ConfigDict:
    """The config of a variant; "" is the paper's."""
    config = ConfigDict()
    config.name = "disan_sst"
    config.seed = 1
    config.dtype = "float32"  # or mixed_bfloat16; mixed_float16 takes 15 s a step on a CPU

    config.data = ConfigDict()
    config.data.corpus = "sst"
    config.data.level = "phrase"  # authors' code: every node of the training trees
    config.data.classes = 5  # Sec. 5.2
    config.data.repetitions = True  # authors' code: no phrase is merged with its equals
    config.data.rebalance = False  # authors' code only, not in the paper
    config.data.tokenizer = "whitespace"  # the treebank is tokenised
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
    config.task.hidden_units = 300  # Sec. 5.2
    config.task.activation = "elu"  # Sec. 5
    config.task.logit_bias = True  # Sec. 5.2 says nothing; a softmax layer has one

    config.train = ConfigDict()
    config.train.batch_size = 64  # Sec. 5
    config.train.batch_tokens = 0  # padded tokens of a batch in place of batch_size; 0 = off
    config.train.window = 100  # batches that are sorted by length together
    config.train.learning_rate = 0.5  # Sec. 5
    config.train.dropout = 0.2  # Sec. 5: keep probability 0.8 for sentiment analysis
    config.train.l2 = 1e-4  # Sec. 5
    config.train.moving_average = 0.0  # decay of averaged weights for evaluation; 0 = off
    config.train.steps = 120_000  # authors' code
    config.train.evaluate_every = 1000  # authors' code
    config.train.patience = 0  # evaluations without a better dev accuracy; 0 = never stop early
    config.train.checkpoint_every = 1000
    config.train.log_every = 100

    config.evaluate = ConfigDict()
    config.evaluate.batch_size = 128  # authors' code
    return apply_variant(config, variant, VARIANTS)


def _official(config):
    config.data.rebalance = True
    config.data.oov = "normal"
    config.data.fixed_words = "all"
    config.encoder.activation = "relu"
    config.task.activation = "relu"
    config.task.logit_bias = False
    config.train.dropout = 0.3


def _binary(config):
    config.data.classes = 2


def _sentence(config):
    config.data.level = "sentence"


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


VARIANTS = {"official": _official, "binary": _binary, "sentence": _sentence, "tiny": _tiny}
