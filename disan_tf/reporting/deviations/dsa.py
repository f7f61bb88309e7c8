"""The DSA paper (Yoon, Lee and Lee 2018): settings in which our runs differ."""

from disan_tf.reporting.deviations.deviation import Deviation, of_examples, of_trainings

_SNLI, _SST = ("dsa_snli",), ("dsa_sst",)
_BOTH = (*_SNLI, *_SST)

DSA = (
    Deviation(
        "numbers",
        _BOTH,
        "not stated; PyTorch on a GTX 1080 Ti (Table 1), so presumably float32",
        "bfloat16 products are faster on these processors. No recorded pair of runs compares "
        "the two.",
        option="dtype",
    ),
    Deviation(
        "averaged weights in evaluation (decay)",
        _BOTH,
        "none (appendix)",
        "On SST, dev accuracy jumps between evaluations; an average makes it steadier.",
        option="train.moving_average",
    ),
    Deviation(
        "word vectors",
        _BOTH,
        "GloVe 840B of 300 dimensions (Sec. 4)",
        "The whole files were not at hand. GloVe 6B of 100 dimensions covers 98 to 99.7 % of the "
        "tokens, but has a smaller training text and no capitals.",
        option="data.vectors",
    ),
    Deviation(
        "word vectors learn",
        _BOTH,
        "no (Sec. 4)",
        "`dsa_sst_binary` trains them, because a third of its tokens had no vector. Kim's CNN "
        "trains them by definition.",
        option="embedding.trainable",
    ),
    of_examples(
        "dsa_snli",
        "all of SNLI's 570k pairs (Sec. 4.1)",
        "The other pairs were not at hand. How much they cost was not measured.",
    ),
    Deviation(
        "text of SST",
        _SST,
        "prepared as by Kim (2014, footnote 2), whose code has `clean_str_sst`: a space in place "
        "of every character outside `A-Za-z0-9(),!?'` and the backquote, then lower case",
        "`whitespace` keeps the tokens of the trees, in lower case: periods, hyphens, quotes and "
        "accents too. Kim's function, `kim`, changes 7.9 % of the test tokens, most of them "
        "sentence ends, and 97 % of the test sentences.",
        option="data.tokenizer",
    ),
    Deviation(
        "phrases of SST",
        _SST,
        "as Kim (2014), whose training examples include phrases; repetitions are not stated",
        "Each distinct phrase counts once, which halves an epoch.",
        option="data.repetitions",
    ),
    Deviation(
        "weight decay",
        _BOTH,
        "1e-5 (appendix); the paper does not say of which parameters",
        "Ours leaves out biases and batch normalisation, which PyTorch's weight decay includes.",
        default="0.00001, half the squares of all matrices",
        as_run="0.00001, half the squares of all matrices",
    ),
    Deviation(
        "scale of initial weights",
        _BOTH,
        "He's rule times the root of the dropout rate (appendix)",
        "The printed form is 0 for a layer without dropout. Ours is the root of the keep "
        "probability, as in Gehring et al. (2017).",
        option="task.init_scale",
    ),
    Deviation(
        "slope of the leaky ReLU",
        _BOTH,
        "not stated",
        "PyTorch's default.",
        option="task.negative_slope",
    ),
    Deviation(
        "classifier of the baselines",
        _SST,
        "not stated (Sec. 4.2)",
        "The baselines differ from DSA in the encoder alone.",
        default="DSA's",
        as_run="DSA's",
    ),
    Deviation(
        "width of the first convolution",
        _BOTH,
        "1 (Sec. 3.1), but the printed parameter counts fit the tower's own width",
        "The text decides. `:paper_count` has the counts (0 = the tower's own width); on SNLI it "
        "was lower by 0.8 points, one seed.",
        option="encoder.first_width",
    ),
    Deviation(
        "most steps on SNLI",
        _SNLI,
        "not stated",
        "16 epochs of the pairs at hand. Dev accuracy still rose: by half a point an epoch on "
        "94,108 pairs, by .2 to .3 on 159,549.",
        option="train.steps",
    ),
    Deviation(
        "most steps on SST",
        _SST,
        "not stated",
        "8 to 16 epochs of the distinct phrases, 5 in `dsa_sst_binary`. Dev was flat or fell at "
        "the end, but rose for two seeds of `dsa_sst_average_kim`.",
        option="train.steps",
    ),
    of_trainings(
        _BOTH,
        "not stated",
        "Rows of one seed have no standard deviation; the others have 0.1 to 0.7 points.",
    ),
)
