"""DiSAN on the Stanford Sentiment Treebank, Table 2 of the DiSAN paper.

    python run.py --config=configs/disan_sst.py --data_dir=data --workdir=runs/disan_sst

The paper: 51.72 % test accuracy with five classes (GloVe 6B, 300 dimensions). Figure 5 shows the
mean of five runs, `--seeds=1,2,3,4,5`, by sentence length.
Ours, `:glove_100d`, three seeds: 50.02 % (0.73), on distinct phrases of all training trees, with
vectors of 100 dimensions for 98 % of their tokens and averaged weights.
`:binary,glove_100d`, one seed: 86.00 %.

Variants (`--config=configs/disan_sst.py:official`), with the paper's test accuracy:
  additive            word embeddings with additive attention, 47.47 %
  source2token        word embeddings with source2token self-attention, 48.87 %
  multi_head          multi-head attention with source2token self-attention, 49.14 %
  bi_lstm             Bi-LSTM with source2token self-attention, 49.95 %
  without_directions  DiSAN without directions, 49.41 %
  official            the authors' code where it contradicts the paper: ReLU, keep probability 0.7,
                      re-balanced phrases, no logit bias, N(0, 1) for out-of-vocabulary words; all
                      words of the vector file are in the vocabulary
  binary              two classes, neutral phrases dropped
  sentence            trained on whole sentences only
  glove_100d          GloVe 6B with 100 dimensions; the paper uses 300
  glove_100d_padded   glove_100d concatenated with 200 trainable dimensions from U(-.05, .05);
                      for additive and source2token, which are only as wide as the vectors
  recorded            the settings of our recorded results (`binary,recorded` for two classes)
  tiny                for tests: trains in seconds on a CPU
"""

from ml_collections import ConfigDict

from configs.common import apply_variant, glove_100d_padded, recorded, settings
from configs.papers.disan import DISAN_VARIANTS, disan


def get_config(variant: str = "") -> ConfigDict:
    """Returns a variant's config; "" is the paper's."""
    config = disan("disan_sst", corpus="sst", task="classification")
    config.data.level = "phrase"  # authors' code: every node of the training trees
    config.data.classes = 5  # Sec. 5.2
    config.data.repetitions = True  # authors' code: equal phrases are kept
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


def _recorded(config):
    recorded(
        {
            "data.repetitions": False,
            "train.moving_average": 0.999,
            "train.steps": 200_000,  # patience ends all trainings earlier
            "train.patience": 15,
        }
    )(config)
    if config.data.classes == 2:
        config.train.steps, config.train.patience = 60_000, 12
        config.evaluate.splits = ("test",)


VARIANTS = {
    **DISAN_VARIANTS,
    "glove_100d_padded": glove_100d_padded,
    "official": _official,
    "binary": settings({"data.classes": 2}),
    "sentence": settings({"data.level": "sentence"}),
    "recorded": _recorded,
}
