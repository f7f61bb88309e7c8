"""DiSAN on the Multi-Genre Natural Language Inference corpus, Table 3 of the DiSAN paper.

    python run.py --config=configs/disan_multinli.py --data_dir=data --workdir=runs/disan_multinli

The paper: 70.98 % on the matched test set and 71.40 % on the mismatched one (Kaggle evaluations).
Their labels are not public, so one seeded half of dev_matched chooses the model ("dev"), the other
reports it ("test"), and so does dev_mismatched ("mismatched").

Ours, on 46,974 of its 392,702 training pairs, with 4,180 GloVe 840B vectors, one seed, 12,600 steps
(18 epochs), 40 minutes on one shared core:

    --config.dtype=mixed_bfloat16 --config.data.tokens=text --config.data.tokenizer=treebank
    --config.data.vectors=glove/glove.840B.300d.subset.txt
    --config.train.steps=12600 --config.train.evaluate_every=420

    dev half 59.63 %, test half 59.09 %, mismatched (917 pairs) 59.32 %, train 68.02 %

The paper gives no settings of its own for this corpus: those of SNLI hold.

Variants (`--config=configs/disan_multinli.py:additive`):
  additive, source2token, multi_head, bi_lstm, without_directions  the baselines of Table 1
  official  as in configs/disan_snli.py; the authors' MultiNLI code was not released
  tiny      seconds on a CPU, for tests
"""

from ml_collections import ConfigDict

from configs.common import apply_variant
from configs.papers.disan import BASELINES, disan, tiny


def get_config(variant: str = "") -> ConfigDict:
    """The config of a variant; "" is the paper's."""
    config = disan("disan_multinli", corpus="multinli", task="nli")
    config.data.tokens = "parse"  # as for SNLI: leaves of the binary parses; or "text"
    config.data.split_words = True  # as for SNLI
    config.data.empty_tokens = False
    config.data.length_percentile = 0.97  # as for SNLI
    config.data.split_seed = 1  # which half of dev_matched chooses; not changed by --seeds
    config.train.window = 500  # an epoch has 5,900 batches
    config.train.steps = 400_000  # as for SNLI
    config.train.evaluate_every = 2000
    return apply_variant(config, variant, VARIANTS)


def _official(config):
    config.data.empty_tokens = True
    config.data.fixed_words = "all"


VARIANTS = {**BASELINES, "official": _official, "tiny": tiny}
