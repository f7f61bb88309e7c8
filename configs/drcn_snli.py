"""DRCN with multiway co-attention on the Stanford Natural Language Inference corpus, Table 1.

    python run.py --config=configs/drcn_snli.py:B-Ca-Cs-M --data_dir=data --workdir=runs/drcn_snli

The paper (Au, Haran and Sandler), 300-dimensional GloVe 840B, 6 epochs, test accuracy:

  B-Ca-Cs-D-M  81.26 %     B bilinear, Ca concatenation, Cs cosine, D dot, M minus
  B-Ca-Cs-D    81.38 %
  B-Ca-Cs-M    82.86 %
  B-Ca-D-M     80.64 %
  B-Cs-D-M     80.01 %
  Ca-Cs-D-M    74.56 %
  Cs           77.46 %     the default, the baseline of Kim et al. (2018), who report 88.9 %

Ours, on a draw of 20,000 of 94,108 training pairs, one seed, 3 epochs (an early point):

    --config.dtype=mixed_bfloat16 --config.data.vectors=glove/glove.840B.300d.subset.txt
    --config.train.examples=20000 --config.train.steps=939 --config.train.evaluate_every=313

               dev    test
  B-Ca-Cs-D-M  68.31  68.46
  B-Ca-Cs-D    67.34  67.44
  B-Ca-Cs-M    64.91  65.12
  B-Ca-D-M     68.58  68.83
  B-Cs-D-M     60.30  60.69
  Ca-Cs-D-M    67.73  67.63
  Cs           67.66  67.79

So short, it matters most whether the dev loss rose in the second epoch, after which the learning
rate is 0.15 of what it was.

On all 94,108, until the dev loss stops falling, which it does after the second epoch:

    --config.dtype=mixed_bfloat16 --config.data.vectors=glove/glove.840B.300d.subset.txt
    --config.train.steps=8826 --config.train.evaluate_every=1471 --config.train.patience=2

                   dev    test   epoch
  Cs               74.51  74.73  5 of 6, at 0.02 of the first learning rate
  B-Ca-Cs-M        75.14  74.99  2 of 4
  hypothesis_only  64.03  63.26  6 of 6

Memory: two training steps of B-Ca-Cs-M in batches of 350 take at most 2.1 GiB at lengths 15/8 and
4.7 GiB at 40/40, all tokens real (the authors could not fit such batches). An epoch of all of SNLI
takes 38 minutes (Cs) and 73 (B-Ca-Cs-M) in batches of 64, 28 and 62 in batches of 350, in bfloat16
on two threads; `checkpoints/benchmarks/` has float32 too.

Left open by the paper, and our choice:
  Tokens: its tokenizer is spaCy's; here the rules of the Penn treebank, capitals kept.
  Stems and lemmas: its are NLTK's Porter stemmer and WordNet; see `data_prep.stems_and_lemmas`.
  Characters: printable ASCII; convolution over 5 of them, the first 16 of a word.
  Hidden dimension 100: of each direction of the first layer, and of the plain recurrent layers,
    which read forward.
  Size of the fully connected layers: 1,000, as in Kim et al. The output layer is a third one.
  Bottleneck: none; it is optional (`:bottleneck`).
  L2: half of 1e-6 times the squares of all matrices. PyTorch's weight decay, which the paper
    presumably used, also shrinks biases and word vectors: under RMSProp it moves the vectors of
    words that are not in the batch by about the learning rate in each step.
  When the learning rate falls: after each epoch whose dev loss is not below the best.
  Length of training: 6 epochs; dev accuracy chooses one of them.

Variants (`--config=configs/drcn_snli.py:B-Ca-Cs-M`), besides the seven models:
  own_parameters   B-Ca-Cs-M, no layer shares its co-attention's parameters (Sec. 6)
  over_functions   B-Ca-Cs-M, the Bi-LSTM of Eq. 6 reads a word's functions, not the words
  bi_lstm          Bi-LSTMs in all layers (Kim et al.)
  bottleneck       an autoencoder of 200 units after each layer but the last (Kim et al.)
  hypothesis_only  what the hypotheses give away; the paper quotes 67 %
  tiny             seconds on a CPU, for tests
"""

from ml_collections import ConfigDict

from configs.common import apply_variant
from configs.papers.drcn import DRCN_VARIANTS, drcn


def get_config(variant: str = "") -> ConfigDict:
    """The config of a variant; "" is the paper's baseline."""
    config = drcn("drcn_snli", corpus="snli")
    config.data.tokens = "text"
    config.data.split_words = False
    config.data.empty_tokens = False
    config.data.length_percentile = 1.0  # no pair is left out
    config.train.batch_size = 64  # Sec. 4.1
    config.train.steps = 51_504  # Sec. 4.1: 6 epochs
    config.train.evaluate_every = 8584  # an epoch
    return apply_variant(config, variant, DRCN_VARIANTS)
