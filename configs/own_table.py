"""DiSAN on a table of your own: CSV, TSV or JSON with named columns.

    python run.py --config=configs/own_table.py --config.data.train=reviews.csv --init_from=auto \\
      --workdir=runs/own

This reads the columns `text` and `label` of data/reviews.csv. A tenth of its rows, drawn from each
class, selects the model; another tenth tests it. data_prep/OWN_TABLE.md describes the further
steps to a SavedModel.

Word vectors come from a released model and remain fixed. `--init_from=auto` chooses the released
model, or random weights, with which the training begins. With Adam, averaged weights and early
stopping, a training on a few thousand rows takes minutes.

Variants (`--config=configs/own_table.py:pairs`):
  pairs       two texts and a class: columns `text`, `second_text` and `label`
  scores      two texts and a score: columns `text`, `second_text` and `score`, from 1 to 5
  additive, source2token, multi_head, bi_lstm, without_directions  other encoders
  glove_100d  starts with GloVe 6B vectors of 100 dimensions from a file
  tiny        for tests: trains in seconds on a CPU
"""

from ml_collections import ConfigDict

from configs.common import apply_variant, settings, tiny
from configs.papers.disan import DISAN_VARIANTS, disan


def get_config(variant: str = "") -> ConfigDict:
    """Returns a variant's config; "" is for one text and a class."""
    config = disan("own_table", corpus="table", task="classification")
    config.data.tokenizer = "treebank"  # raw text
    config.data.vectors = "preset:disan_snli"  # 56,640 words; "" = random vectors
    config.data.unescaped = True  # words with an escape get plain vectors: "-lrb-" that of "("
    config.data.train = "table.csv"  # table of the training part, below --data_dir
    config.data.dev = ""  # table of the dev part; "" = dev_share of the training part
    config.data.test = ""  # table of the test part; "" = test_share of the training part
    config.data.dev_share = 0.1
    config.data.test_share = 0.1
    config.data.split_seed = 1  # seed of the drawn rows; not changed by --seeds
    config.data.folds = 10  # equal parts of the training part, for --folds
    config.data.fold = -1  # index of the test part, replaces test_share; -1 = none
    config.data.text = "text"  # names of columns
    config.data.second_text = ""
    config.data.label = "label"
    config.data.score = ""
    config.data.example_id = ""  # "" = row numbers
    config.data.classes = ()  # () = the training part's, ordered as numbers or by name
    config.data.drop_labels = ""  # comma-separated labels of rows to drop: "-1,nan"
    config.data.on_bad_rows = "error"  # "drop" drops rows without text or label
    config.data.encoding = "utf-8"  # encoding of files without a byte order mark; e.g. cp1252
    config.data.lowest = 1  # lowest score
    config.data.highest = 5
    config.task.calibrate = False  # whether to calibrate probabilities by a temperature, on dev
    config.train.class_weights = ""  # "balanced", or numbers: "1,2.5" in the order of the classes
    config.train.criterion = ""  # "macro_f1" selects by macro F1; "" = accuracy or Pearson's r
    config.embedding.dim = 100  # dimension of the released models' vectors
    config.embedding.trainable = False  # our trials: less over-fitting with few rows
    config.train.l2 = 1e-4  # the papers' value for corpora of a few thousand sentences
    config.train.window = 35
    config.train.batch_size = 16  # 64 costs 16 points of accuracy on 500 questions
    config.train.optimizer = "adam"
    config.train.learning_rate = 0.001  # Kingma and Ba 2015
    config.train.moving_average = 0.99  # our trials
    config.train.moving_average_warm_up = True
    config.train.epochs = 30  # steps and evaluate_every, if above 0, count in steps instead
    config.train.evaluate_every = 0  # once an epoch
    config.train.patience = 4  # epochs without a better dev score
    return apply_variant(config, variant, VARIANTS)


def _scores(config):
    config.data.second_text = "second_text"
    config.data.label = ""
    config.data.score = "score"
    config.task.name = "relatedness"
    config.task.loss = "kl"  # Tai et al. 2015
    config.task.lowest = config.data.get_ref("lowest")


def _tiny(config):
    tiny(config)
    config.embedding.trainable = True  # there are no vectors


VARIANTS = {
    **DISAN_VARIANTS,
    "tiny": _tiny,
    "pairs": settings({"data.second_text": "second_text", "task.name": "nli"}),
    "scores": _scores,
}
