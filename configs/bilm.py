"""A biLM like ELMo's, trained on plain text (Peters et al. 2018; ELMo-DiSAN, Eq. 10 to 12).

    python -m data_prep.training_texts --data_dir=data
    python run.py --config=configs/bilm.py:small --data_dir=data --workdir=runs/bilm
    python run.py --mode=export --workdir=runs/bilm --output=data/elmo/bilm_small

Ours: perplexity 78.6 on held-out lines (`:small`, 3.46 million words of the corpora's training
texts); a trigram model has 85.2.

`--config.data.texts=folder` names another folder below --data_dir with files `*.txt`: one sentence
per line, with spaces between tokens. Perplexities are measured on held-out lines.

The official training reads a stream in pieces of 20 tokens. Here each sentence is read as a whole
from zero states, as when the biLM is used. Batches are measured in tokens, not in rows.

The official training multiplies the mean loss by its 20 steps, clips the gradients to a norm of 10
and begins Adagrad's sums at 1. We leave the loss as it is, clip to 10 / 20 and begin the sums at
1 / 20^2, which gives the same steps. `:small` trains with Adam and does not clip.

Variants (`--config=configs/bilm.py:small`):
  small  for a few million words: 128 units, 256 cells
  tiny   for tests: trains in seconds on a CPU
"""

from ml_collections import ConfigDict

from configs.common import apply_variant, base_config

_UNROLLED = 20  # the factor of the official loss, which trains on pieces of 20 tokens


def get_config(variant: str = "") -> ConfigDict:
    """Returns a variant's config; "" has the official sizes."""
    config = base_config("bilm", corpus="text", task="language_model")
    config.data.texts = "bilm_texts"
    config.data.lowercase = False
    config.data.repetitions = True
    config.data.longest = 200
    config.data.dev_share = 0.01
    config.data.test_share = 0.01
    config.data.split_seed = 1
    config.data.embedding_dim = 1  # it has no word vectors
    config.data.min_count = 3

    config.embedding = ConfigDict()
    config.embedding.name = "bytes"
    config.embedding.word_length = 50  # official
    config.data.word_bytes = config.embedding.get_ref("word_length")

    config.encoder.name = "bilm"
    config.encoder.units = 512  # official
    config.encoder.cells = 4096  # official
    config.encoder.layers = 2  # official
    config.encoder.filters = (
        (1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024)
    )  # official  # fmt: skip
    config.encoder.character_dim = 16  # official
    config.encoder.highways = 2  # official
    config.encoder.activation = "relu"  # official
    config.encoder.cell_clip = 3.0  # official
    config.encoder.projection_clip = 3.0  # official
    config.encoder.skip_connections = True  # official
    config.encoder.word_length = config.embedding.get_ref("word_length")

    config.task.head = "word_softmax"
    config.task.negatives = 8192  # official

    config.train.batch_tokens = 2560  # official: 128 rows of 20
    config.train.window = 200
    config.train.dropout = 0.1  # official
    config.train.l2 = 0.0
    config.train.optimizer = "adagrad"  # official
    config.train.learning_rate = 0.2  # official
    config.train.optimizer_options = ConfigDict({"start": 1 / _UNROLLED**2})
    config.train.clip_norm = 10.0 / _UNROLLED
    config.train.steps = 3_000_000  # official: 10 epochs of 800 million words
    config.train.evaluate_every = 30_000
    return apply_variant(config, variant, VARIANTS)


def _small(config):
    config.data.repetitions = False
    config.encoder.units = 128
    config.encoder.cells = 256
    config.encoder.filters = ((1, 16), (2, 32), (3, 64), (4, 96), (5, 96), (6, 80))
    config.task.negatives = 2048
    config.train.optimizer = "adam"
    config.train.optimizer_options = ConfigDict()
    config.train.clip_norm = 0.0
    config.train.learning_rate = 0.002
    config.train.steps = 5000  # 3.7 epochs
    config.train.evaluate_every = 1000


def _tiny(config):
    config.encoder.units = 8
    config.encoder.cells = 16
    config.encoder.filters = ((1, 4), (2, 4), (3, 8))
    config.encoder.character_dim = 4
    config.data.min_count = 1
    config.data.dev_share = 0.1
    config.data.test_share = 0.1
    config.task.negatives = 16
    config.train.batch_tokens = 256
    config.train.steps = 50
    config.train.evaluate_every = 10
    config.train.log_every = 10


VARIANTS = {"small": _small, "tiny": _tiny}
