"""The ReSAN paper (Shen et al. 2018b): settings in which our runs differ."""

from disan_tf.reporting.deviations.deviation import Deviation, of_examples, of_trainings

_SNLI, _SICK = ("resan_snli",), ("resan_sick",)
_BOTH = (*_SNLI, *_SICK)

RESAN = (
    Deviation(
        "numbers",
        _BOTH,
        "not stated; TensorFlow on a GTX 1080 Ti (Sec. 4), so presumably float32",
        "bfloat16 products are faster on these processors. No recorded pair of runs compares "
        "the two.",
        option="dtype",
    ),
    Deviation(
        "averaged weights in evaluation (decay)",
        _BOTH,
        "none (Sec. 4)",
        "On SICK an average makes dev scores steadier.",
        option="train.moving_average",
    ),
    Deviation(
        "activation",
        _BOTH,
        "ReLU (Sec. 4)",
        "The authors' code has ELU on SNLI and ReLU on SICK. DiSAN does better with ELU on SICK: "
        ".862 against .848 on dev, one seed each.",
        option="encoder.activation",
    ),
    Deviation(
        "word vectors",
        _BOTH,
        "GloVe 6B of 300 dimensions (Sec. 4)",
        "The whole files were not at hand, as for DiSAN.",
        option="data.vectors",
    ),
    Deviation(
        "tokens of SNLI",
        _SNLI,
        "not stated; the authors' code reads the leaves of the binary parses",
        "The pairs at hand have no parses. Raw text is split by the rules of the Penn treebank.",
        option="data.tokens",
    ),
    Deviation(
        "share of sentences that the longest training pair covers",
        _SNLI,
        "not stated; 0.97 in the authors' code",
        "Longer training pairs are left out: 4,939 of the 94,108 at hand.",
        option="data.length_percentile",
    ),
    Deviation(
        "batches that are sorted by length together",
        _BOTH,
        "not stated; the authors' code draws batches from sentences of all lengths",
        "Batches of similar length have less padding, and are less random. Not compared.",
        option="train.window",
    ),
    Deviation(
        "input of the attention",
        _BOTH,
        "one block reads the words x themselves (Eq. 11 to 15)",
        "As in the authors' code: a forward and a backward block, each with DiSAN's masks, read "
        "h, a projection of x by weights of their own.",
        default="two directional blocks on h",
        as_run="two directional blocks on h",
    ),
    of_examples(
        "resan_snli",
        "549,367 pairs with a label (Sec. 5.1)",
        "The other pairs were not at hand. How much they cost was not measured.",
    ),
    Deviation(
        "batch size",
        _BOTH,
        "not stated; 128 in the authors' code",
        "As for DiSAN: twice as many updates in an epoch, and a noisier policy gradient. No "
        "recorded pair of runs compares the two.",
        option="train.batch_size",
    ),
    Deviation(
        "dropout",
        _BOTH,
        "the best of keep probabilities 0.65, 0.7, 0.75 and 0.8 (Sec. 4)",
        "It was not tuned. The value as run, keep probability 0.75, is one of the paper's four.",
        option="train.dropout",
    ),
    Deviation(
        "weight decay",
        _BOTH,
        "5e-5 in all experiments (Sec. 4)",
        "On SICK our value is that of the authors' code, twice the paper's.",
        option="train.l2",
    ),
    Deviation(
        "parameters with weight decay",
        _BOTH,
        "gamma times the squares of all parameters but the samplers', word vectors included "
        "(Eq. 16)",
        "As in the authors' code: gamma / 2 times the squares. W1 and W2 of the attention, word "
        "vectors and biases have none; the samplers' matrices have it.",
        default="all other matrices",
        as_run="all other matrices",
    ),
    Deviation(
        "learning rate",
        _BOTH,
        "not stated; 0.5 in the authors' code",
        "As in the authors' code, for the samplers too (`policy.learning_rate`).",
        option="train.learning_rate",
    ),
    Deviation(
        "reward",
        _BOTH,
        "Eq. 17: probability plus lambda times the share of selected tokens",
        "Its signs as printed reward selecting. The default follows the authors' code: minus the "
        "cross entropy, minus lambda times the product of the shares of heads and dependents. "
        "`:paper_reward` is the intended form of Eq. 17; it was not run.",
        option="policy.reward",
    ),
    Deviation(
        "penalty lambda",
        _BOTH,
        "fine-tuned in 0.005, 0.01 and 0.02 (Sec. 4)",
        "Not tuned. 0.006 on SICK is the value of the authors' code, not one of the paper's.",
        option="policy.penalty",
    ),
    Deviation(
        "baseline of the rewards (decay)",
        _BOTH,
        "none (Eq. 20)",
        "A moving average of the rewards makes the gradient less noisy. On SNLI, ReSAN reaches "
        "74.1 % with and without it (three seeds each).",
        option="policy.baseline",
    ),
    Deviation(
        "steps with all tokens selected",
        _BOTH,
        "several epochs, until the dev loss does not decrease significantly (Sec. 4)",
        "A fixed number; on SNLI patience may end it earlier.",
        option="policy.pretrain_steps",
    ),
    Deviation(
        "steps that train the samplers alone",
        _BOTH,
        "none: after the pretraining, both sets of parameters are optimized together (Sec. 4)",
        "The authors' code has this phase.",
        option="policy.policy_steps",
    ),
    Deviation(
        "most steps, all phases",
        _BOTH,
        "not stated; 200,000 and 25,000 in the authors' code, after a pretraining on SNLI",
        "Time. On SNLI dev accuracy still rose at the end of all runs.",
        option="train.steps",
    ),
    Deviation(
        "selection in evaluation",
        _BOTH,
        "not stated; sampled in the authors' code",
        "Scores in the tables are of sampled selections, so a repeated evaluation differs a "
        "little: two draws of the recorded models differ by at most 0.11 points on SNLI. "
        "`--mode=evaluate` prints greedy selections and all tokens too.",
        option="evaluate.selection",
    ),
    Deviation(
        "highway layer in the classifier",
        _BOTH,
        "not mentioned; the parameter count 3.1m of SNLI includes it",
        "As in the authors' code for SNLI. Our baselines have none; the paper does not describe "
        "their classifiers.",
        option="task.highway",
    ),
    of_trainings(_SICK, "five runs (Table 3)", "Time. Fewer runs make the mean less certain."),
)
