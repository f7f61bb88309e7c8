"""The multiway DRCN paper (Au, Haran and Sandler): settings in which our runs differ."""

from disan_tf.reporting.deviations.deviation import Deviation, of_examples, of_trainings

_SNLI = ("drcn_snli",)

DRCN = (
    Deviation(
        "numbers",
        _SNLI,
        "not stated; a K80 (Sec. 4.2), so presumably float32",
        "bfloat16 products are faster on these processors. No recorded pair of runs compares "
        "the two.",
        option="dtype",
    ),
    Deviation(
        "word vectors",
        _SNLI,
        "GloVe of 300 dimensions, Common Crawl (Sec. 4.1)",
        "The whole files were not at hand. GloVe 6B of 100 dimensions covers 99.7 % of the tokens.",
        option="data.vectors",
    ),
    of_examples(
        "drcn_snli",
        "all pairs with a label (Sec. 4.1)",
        "The other pairs were not at hand. Draws of 40,000 pairs compare all seven models, also "
        "by three seeds.",
    ),
    Deviation(
        "steps",
        _SNLI,
        "6 epochs (Sec. 4.1)",
        "6 epochs too, of fewer pairs: 8,826 steps of 94,108 pairs, 3,750 of 40,000. The trial "
        "`drcn_snli_glove_100d_Cs_uniform` has 3 epochs. Batches have the paper's 64 pairs.",
        option="train.steps",
    ),
    Deviation(
        "batch normalisation in evaluation",
        _SNLI,
        "not stated; presumably PyTorch's moving averages",
        "Averages of 100 training batches without dropout are recomputed before each evaluation. "
        "Moving averages see words with dropout and cost one Cs 2.6 points on dev.",
        option="train.batch_norm_batches",
        absent="moving averages",
    ),
    Deviation(
        "weight decay",
        _SNLI,
        "1e-6 on all parameters, explicitly (Sec. 4.1)",
        "Biases, batch normalisation and word vectors have none: under RMSProp it would move the "
        "vectors of words outside the batch by about the learning rate in each step.",
        default="0.000001, half the squares of all matrices",
        as_run="0.000001, half the squares of all matrices",
    ),
    Deviation(
        "units of a fully connected layer",
        _SNLI,
        "not stated",
        "As in Kim et al. (2018).",
        option="task.hidden_units",
    ),
    Deviation(
        "characters of a convolution",
        _SNLI,
        "not stated",
        "Not tuned.",
        option="embedding.character_width",
    ),
    Deviation(
        "characters of a word",
        _SNLI,
        "not stated",
        "Longer words are truncated.",
        option="data.word_length",
    ),
    Deviation(
        "evaluations without a lower dev loss before the learning rate falls",
        _SNLI,
        'falls when the dev loss "stops increasing" (Sec. 4.1); no patience is stated',
        "Read as: stops falling. An evaluation follows each epoch. With a patience of 2 the rate "
        "fell at the end of a run or not at all.",
        option="train.plateau.patience",
    ),
    Deviation(
        "tokens, stems and lemmas",
        _SNLI,
        "spaCy's tokenizer, NLTK and WordNet (Sec. 4.1)",
        "Tokens follow the rules of the Penn treebank. Stems are Porter's (`snowballstemmer`), "
        "lemmas come from the dictionary of `simplemma`; both set the exact-match flag alone.",
        option="data.tokenizer",
    ),
    Deviation(
        "words without a vector",
        _SNLI,
        "standard normal, seed 1 (Sec. 4.1)",
        "One trial has small uniform values, for 0.3 % of the tokens.",
        option="data.oov",
    ),
    Deviation(
        "epoch that is scored",
        _SNLI,
        "the best test accuracy of six epochs (Table 1): chosen on test",
        "Ours is chosen on dev. The column of the best of a run's own curve is made as the "
        "paper's figure.",
        default="the best on dev",
        as_run="the best on dev",
    ),
    of_trainings(
        _SNLI, "not stated", "Rows of three seeds have standard deviations of 0.3 and 0.6 points."
    ),
)
