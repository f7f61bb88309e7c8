"""DiSAN on SICK, the semantic relatedness of two sentences, Table 4 of the DiSAN paper.

    python run.py --config=configs/disan_sick.py --data_dir=data --workdir=runs/disan_sick

The paper, mean (standard deviation) of five runs with GloVe 6B: Pearson's r .8695 (.0012),
Spearman's rho .8139 (.0012), mean squared error .2879 (.0036).
Ours, three seeds, all training pairs: r .8685 (.0010), rho .8111 (.0010), .3295 (.0050) with GloVe
840B of 300 dimensions; `:glove_100d`, two seeds: r .8551 (.0007), rho .7941 (.0017), .3951 (.0021).

Variants (`--config=configs/disan_sick.py:official`):
  additive, source2token, multi_head, bi_lstm, without_directions  the baselines of Table 1
  official    the authors' code for SICK, which they released only with ReSAN: the squared error of
              the expected score, ReLU everywhere, keep probability 0.7, batches of 128
  elmo        ELMo vectors in place of GloVe's
  glove_100d  GloVe 6B with 100 dimensions; the paper uses 300
  recorded    the settings of our recorded result
  tiny        for tests: trains in seconds on a CPU
"""

from ml_collections import ConfigDict

from configs.common import apply_variant, recorded, sick_vectors
from configs.papers.disan import DISAN_VARIANTS, disan
from configs.papers.elmo import feed_with_elmo


def get_config(variant: str = "") -> ConfigDict:
    """Returns a variant's config; "" is the paper's."""
    config = disan("disan_sick", corpus="sick", task="relatedness")
    config.data.tokenizer = "treebank"  # the sentences are raw text
    config.task.loss = "kl"  # Tai et al. 2015, cited in Sec. 5.3
    config.train.l2 = 1e-4  # authors' code for SICK
    config.train.window = 35  # an epoch has 71 batches
    config.train.steps = 4970  # 70 epochs
    config.train.evaluate_every = 71  # an epoch
    return apply_variant(config, variant, VARIANTS)


def _official(config):
    config.encoder.activation = "relu"
    config.task.activation = "relu"
    config.task.loss = "squared_error"
    config.train.batch_size = 128
    config.train.dropout = 0.3


def _recorded(config):
    recorded({"train.moving_average": 0.995, "evaluate.splits": ("test",)})(config)
    sick_vectors(config)


VARIANTS = {**DISAN_VARIANTS, "official": _official, "elmo": feed_with_elmo, "recorded": _recorded}
