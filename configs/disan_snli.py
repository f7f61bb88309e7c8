"""DiSAN on the Stanford Natural Language Inference corpus, Table 1 of the DiSAN paper.

    python run.py --config=configs/disan_snli.py --data_dir=data --workdir=runs/disan_snli

The paper: 85.62 % test accuracy, 91.08 % on the training data, 2.35 million parameters (GloVe 6B,
300 dimensions).
Ours, with 100-dimensional GloVe vectors: 76.39 (0.15) % on 16 % of the training pairs, and 79.14
(0.09) % on 28 %.

Variants (`--config=configs/disan_snli.py:official`), with the paper's test accuracy:
  additive            word embeddings with additive attention, 79.81 %
  source2token        word embeddings with source2token self-attention, 83.12 %
  multi_head          multi-head attention with source2token self-attention, 84.17 %
  bi_lstm             Bi-LSTM with source2token self-attention, 84.98 %
  without_directions  DiSAN without directions, 84.66 %
  official            follows the authors' code: empty strings remain tokens, and all words of
                      the vector file are in the vocabulary
  elmo                ELMo vectors in place of GloVe's; its cache takes 6 KB per token
  glove_100d          GloVe 6B with 100 dimensions; the paper uses 300
  glove_100d_padded   glove_100d concatenated with 200 trainable dimensions from U(-.05, .05);
                      for additive and source2token, which are only as wide as the vectors
  recorded            our recorded results: the subset snli_94108, 89,169 training pairs
  recorded_159k       our recorded results: the subset snli_159549, 151,423 pairs
  tiny                for tests: trains in seconds on a CPU
"""

from ml_collections import ConfigDict

from configs.common import apply_variant, glove_100d_padded, recorded, settings
from configs.papers.disan import DISAN_VARIANTS, disan
from configs.papers.elmo import feed_with_elmo


def get_config(variant: str = "") -> ConfigDict:
    """Returns a variant's config; "" is the paper's."""
    config = disan("disan_snli", corpus="snli", task="nli")
    config.data.tokens = "parse"  # authors' code: leaves of the binary parses; or "text"
    config.data.split_words = True  # authors' code: also at hyphens, slashes and quotes
    config.data.empty_tokens = False  # authors' code only: keeps empty strings beside quotes
    config.data.length_percentile = 0.97  # authors' code: drops the longest training pairs
    config.data.subset = ""  # a subset of the training pairs; data_prep/DATA.md
    config.train.window = 500  # an epoch has 8,300 batches
    config.train.steps = 400_000  # authors' code
    config.train.evaluate_every = 2000  # authors' code: 500, only in the last 100,000 steps
    return apply_variant(config, variant, VARIANTS)


_settings = {
    "data.tokens": "text",
    "data.tokenizer": "treebank",
    "data.subset": "snli_94108",
    "train.moving_average": 0.999,
    "train.steps": 30_000,
    "train.evaluate_every": 1000,
    "evaluate.splits": ("test",),
}
_larger = {
    "data.subset": "snli_159549",
    "train.steps": 90_000,
    "train.evaluate_every": 2000,
    "evaluate.splits": (),
}


VARIANTS = {
    **DISAN_VARIANTS,
    "glove_100d_padded": glove_100d_padded,
    "official": settings({"data.empty_tokens": True, "data.fixed_words": "all"}),
    "elmo": feed_with_elmo,
    "recorded": recorded(_settings),
    "recorded_159k": recorded({**_settings, **_larger}),
}
