"""The ELMo-DiSAN paper (Essam, Eldawlatly and Abbas): settings in which our runs differ."""

from disan_tf.reporting.deviations.deviation import Deviation, of_trainings

_SST = ("elmo_disan_sst",)

ELMO = (
    Deviation(
        "biLM",
        _SST,
        "a pretrained model of two layers, vectors of 1,024 dimensions (Sec. III)",
        "The official weights were not at hand. Our small biLM has 256 dimensions, read 3.5 "
        "million words where the official one read 800 million, and has a perplexity of 78.6. Our "
        "figures say nothing about ELMo's.",
        option="data.bilm",
        absent="none, word vectors",
    ),
    Deviation(
        "units of DiSAN",
        _SST,
        "900 with ELMo, 300 with GloVe (Sec. III-B and DiSAN)",
        "A narrower biLM feeds a narrower model.",
        option="encoder.units",
    ),
    Deviation(
        "word vectors",
        _SST,
        "GloVe 6B of 300 dimensions, as DiSAN",
        "The whole file was not at hand. GloVe 6B of 100 dimensions covers 98.2 % of the tokens.",
        option="data.vectors",
    ),
    Deviation(
        "ELMo learns",
        _SST,
        "the word vectors are fine-tuned (Sec. III-B)",
        "Read as: the scalar mix learns. The biLM itself stays as it is (`:trainable_bilm`).",
        option="embedding.trainable_bilm",
    ),
    Deviation(
        "dropout",
        _SST,
        '"the dropout rate is 0.7" (Sec. III-B)',
        "Read as a keep probability of 0.7, as in the SST code of DiSAN's authors. `:dropout_rate` "
        "has the printed rate; it was not run.",
        option="train.dropout",
    ),
    Deviation(
        "phrases of SST",
        _SST,
        "the phrases train the model (Sec. IV); repetitions are not stated",
        "The training trees have 318,582 nodes, 4,978 batches of 64; our runs read 159,274 "
        "distinct phrases, 2,489 batches.",
        option="data.repetitions",
    ),
    Deviation(
        "steps",
        _SST,
        "best at epoch 6, lower after epoch 8 (Sec. IV): 29,900 and 39,800 batches of 64, if the "
        "paper reads every node once and has DiSAN's batch size",
        "60,000 steps are 24 epochs of the distinct phrases: the updates of twelve epochs of all "
        "phrases. With GloVe dev was best after 57,000 to 59,000, so that more steps may help. "
        "With the small biLM beside GloVe it was best after 54,000, 26,000 and 24,000, and "
        "patience stopped the last two.",
        option="train.steps",
    ),
    Deviation(
        "neutral test sentences that are right, with ELMo",
        _SST,
        "18.6 % in the text (Sec. IV), but Table III has 95 of 389, which is 24.4 %",
        "An error of the paper: the text divides by 510, the sum of the next row. The test "
        "accuracy, 54.25 %, agrees with Table III.",
        default="24.4 % in [our copy of the table](tables/elmo_disan_tables_2_3.md)",
        as_run="of each run in the same place",
    ),
    Deviation(
        "training of the biLM, steps",
        ("bilm",),
        "a pretrained model, whose training the paper does not describe",
        "The default has the official length. The run is the variant `:small`.",
        option="train.steps",
    ),
    of_trainings(_SST, "not stated", "The paper's figures are presumably of one run."),
)
