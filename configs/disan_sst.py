"""DiSAN on the Stanford Sentiment Treebank, Table 2 of the DiSAN paper.

    python run.py --config=configs/disan_sst.py --data_dir=data --workdir=runs/disan_sst

The paper: 51.72 % test accuracy with five classes (GloVe 6B, 300 dimensions). Figure 5 is the mean
of five runs, `--seeds=1,2,3,4,5`, by sentence length.

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

Variants (`--config=configs/disan_sst.py:official`), with the paper's test accuracy:
  additive            word embeddings with additive attention, 47.47 %
  source2token        word embeddings with source2token self-attention, 48.87 %
  multi_head          multi-head attention with source2token self-attention, 49.14 %
  bi_lstm             Bi-LSTM with source2token self-attention, 49.95 %
  without_directions  DiSAN without directions, 49.41 %
  official  the authors' code where it contradicts the paper: ReLU, keep probability 0.7,
            re-balanced phrases, no logit bias, N(0, 1) for out-of-vocabulary words
  binary    two classes, neutral phrases dropped
  sentence  trained on whole sentences only
  tiny      seconds on a CPU, for tests
"""

from ml_collections import ConfigDict

from configs.common import apply_variant
from configs.papers.disan import BASELINES, disan, tiny


def get_config(variant: str = "") -> ConfigDict:
    """The config of a variant; "" is the paper's."""
    config = disan("disan_sst", corpus="sst", task="classification")
    config.data.level = "phrase"  # authors' code: every node of the training trees
    config.data.classes = 5  # Sec. 5.2
    config.data.repetitions = True  # authors' code: no phrase is merged with its equals
    config.data.rebalance = False  # authors' code only, not in the paper
    config.train.dropout = 0.2  # Sec. 5: keep probability 0.8 for sentiment analysis
    config.train.l2 = 1e-4  # Sec. 5
    config.train.steps = 120_000  # authors' code
    config.train.evaluate_every = 1000  # authors' code
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


VARIANTS = {
    **BASELINES, "official": _official, "binary": _binary, "sentence": _sentence, "tiny": tiny
}  # fmt: skip
