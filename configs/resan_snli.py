"""ReSAN on the Stanford Natural Language Inference corpus, Tables 1, 2 and 4 of the ReSAN paper.

    python run.py --config=configs/resan_snli.py --data_dir=data --workdir=runs/resan_snli

The paper: 86.3 % test accuracy, 92.6 % on the training data, 3.1 million parameters (GloVe 6B, 300
dimensions).

Ours so far is an early point: 4,200 steps of 64 pairs for every row, 3 epochs of 89,169 of the
549,367 training pairs, with 4,180 GloVe 840B vectors (92 % of the training tokens) and averaged
weights, one seed, 2 to 21 minutes each on a busy core:

    --config.dtype=mixed_bfloat16 --config.data.tokens=text --config.data.tokenizer=treebank
    --config.data.vectors=glove/glove.840B.300d.subset.txt --config.train.batch_size=64
    --config.train.moving_average=0.999 --config.train.steps=4200
    --config.train.evaluate_every=700
    --config.policy.pretrain_steps=2450 --config.policy.policy_steps=350  (with hard attention)

                                 dev    test   train  heads, dependents selected at the end
  ReSAN                          59.06  59.95  61.32  .11 .27
  without_unselected             58.14  58.04  60.12  .96 .37
  without_dependency_restricted  59.30  59.87  61.41  .97 .97
  without_hard_attention         60.56  61.11  62.88
  without_soft_attention         61.48  61.75  63.55  .95 .95
  without_attention              63.33  63.95  65.46
  iterative                      58.74  59.38  61.05  .67 .25
  multi_window_cnn               62.07  62.98  65.16
  bi_lstm                        63.70  63.88  66.32

All have just begun (DiSAN needs 20,000 steps for 75 %, see configs/disan_snli.py), and those with
directional attention begin slowly: nothing about the paper's order follows from these figures.

Variants (`--config=configs/resan_snli.py:official`), with the paper's test accuracy:
  without_unselected             heads that are not selected leave the sentence, 86.1 %
  without_dependency_restricted  one sampler for heads and dependents; the others leave, 85.6 %
  without_hard_attention         DiSAN with the highway layer, 86.0 %
  without_soft_attention         source2token on the selected words, 83.4 %
  without_attention              source2token on all words, 83.1 %
  iterative                      tokens are chosen one after another, 86.2 %
  paper_reward                   the reward of Eq. 17 in place of the authors' code's
  bi_lstm, bi_gru                85.0 %, 84.9 %
  multi_window_cnn               83.2 %
  hierarchical_cnn               83.9 %
  multi_head, disan              84.2 %, 85.6 %
  official                       the authors' code: ELU, the context of an unselected head is the
                                 mean of the others, and the odd tokens of configs/disan_snli.py
  tiny                           seconds on a CPU, for tests
"""

from ml_collections import ConfigDict

from configs.common import apply_variant
from configs.papers.resan import RESAN_VARIANTS, resan


def get_config(variant: str = "") -> ConfigDict:
    """The config of a variant; "" is the paper's."""
    config = resan("resan_snli", corpus="snli", task="nli")
    config.data.tokens = "parse"  # as for DiSAN
    config.data.split_words = True
    config.data.empty_tokens = False
    config.data.length_percentile = 0.97
    config.task.highway = True  # authors' code; the paper's parameter count has it
    config.train.dropout = 0.35  # authors' code: keep probability 0.65; Sec. 4: 0.65 to 0.8
    config.train.window = 250  # an epoch has 4,200 batches
    config.train.steps = 400_000  # authors' code: 200,000 of pretraining and as many after it
    config.train.evaluate_every = 2000
    config.policy.pretrain_steps = 200_000
    config.policy.pretrain_patience = 5
    config.policy.policy_steps = 5000  # authors' code
    return apply_variant(config, variant, {**RESAN_VARIANTS, "official": _official})


def _official(config):
    config.data.empty_tokens = True
    config.data.fixed_words = "all"
    config.encoder.activation = "elu"
    config.encoder.unselected = "mean_of_others"
    config.task.activation = "elu"
