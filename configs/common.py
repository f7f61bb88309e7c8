"""The settings that all experiments' configs share."""

from typing import Any, Callable

from ml_collections import ConfigDict

from disan_tf.common.checks import nearest

_GLOVE_100D = "glove/glove.6B.100d*.txt"


def base_config(name: str, corpus: str, task: str) -> ConfigDict:
    """Returns the common config; each experiment sets sizes, learning rate, dropout and steps.

    Args:
      name: the experiment's name.
      corpus: a key of `data_prep.corpora.READERS`.
      task: a key of `disan_tf.models.factory.TASKS`.
    """
    config = ConfigDict()
    config.name = name
    config.seed = 1
    config.dtype = "float32"  # or mixed_bfloat16; mixed_float16 takes 15 s a step on a CPU

    config.data = ConfigDict()
    config.data.corpus = corpus
    config.data.tokenizer = "whitespace"  # "treebank" for raw text; "kim" cleans SST
    config.data.lowercase = True
    config.data.vectors = ""  # all words start at random
    config.data.fixed_words = "corpus"  # fixed vectors for dev and test words only; or "all"
    config.data.oov = "uniform"
    config.data.seed = config.get_oneway_ref("seed")

    config.embedding = ConfigDict()
    config.embedding.name = "words"
    config.embedding.dim = 300
    config.embedding.trainable = True
    config.data.embedding_dim = config.embedding.get_ref("dim")

    config.encoder = ConfigDict()
    config.task = ConfigDict()
    config.task.name = task
    config.task.head = "plain"

    config.train = ConfigDict()
    config.train.optimizer = "adadelta"  # DiSAN and ReSAN; the other papers' configs set theirs
    config.train.batch_size = 64
    config.train.batch_tokens = 0  # padded tokens in a batch instead of batch_size; 0 = off
    config.train.examples = 0  # number of training examples, drawn at random; 0 = all
    config.train.window = 100  # batches sorted by length together
    config.train.moving_average = 0.0  # decay of averaged weights for evaluation; 0 = off
    config.train.batch_norm_batches = 0  # batches with new statistics; 0 = moving averages
    config.train.clip_norm = 0.0  # gradients with a larger global norm are scaled down; 0 = off
    config.train.steps = 0
    config.train.evaluate_every = 0
    config.train.patience = 0  # evaluations without a better dev score; 0 = never stop early
    config.train.checkpoint_every = config.train.get_oneway_ref("evaluate_every")
    config.train.log_every = 100
    config.train.jit_compile = "auto"  # whether XLA compiles the steps; auto: on GPUs, if it can
    config.train.distribution = "none"  # "mirrored" = all local devices, or "multi_worker"

    config.evaluate = ConfigDict()
    config.evaluate.batch_size = 100
    config.evaluate.splits = ()  # also scored for curves, such as test; never for selection
    return config


def settings(values: dict[str, Any]) -> Callable[[ConfigDict], None]:
    """Returns the variant that sets options, such as {"data.classes": 2}."""
    return lambda config: config.update_from_flattened_dict(values)


def tiny(config: ConfigDict) -> None:
    """Shrinks a config so that it trains in seconds on a CPU, for tests."""
    config.data.vectors = ""
    for option in {"vector_words", "vector_dim"} & set(config.data):
        del config.data[option]
    config.data.embedding_dim = 16
    if "units" in config.encoder:
        config.encoder.units = 16
    config.task.hidden_units = 16
    config.train.batch_size = 16
    config.train.steps = 50
    config.train.evaluate_every = 10
    config.train.log_every = 10


def glove_100d(config: ConfigDict) -> None:
    """Switches to GloVe 6B with 100 dimensions; the papers use 300. Encoder sizes do not change.

    The vector file is the archive's file, or a subset that replaces it.
    """
    config.data.vectors = _GLOVE_100D
    config.data.embedding_dim = 100


def recorded(values: dict[str, Any]) -> Callable[[ConfigDict], None]:
    """Returns the variant of our recorded results: bfloat16, GloVe of 100 dimensions, and `values`.

    `checkpoints/papers` names the result that a variant trains.
    """

    def apply(config):
        config.dtype = "mixed_bfloat16"
        if not config.data.get("vector_dim"):  # not for `glove_100d_padded`
            glove_100d(config)
        config.update_from_flattened_dict(values)

    return apply


def sick_vectors(config: ConfigDict) -> None:
    """Switches to the 4,180 words of GloVe 840B whose vectors our results on SICK use."""
    config.data.vectors = "glove/glove.840B.300d*.txt"
    config.data.vector_words = "glove_840B_4180"
    config.data.embedding_dim = 300


def glove_100d_padded(config: ConfigDict) -> None:
    """Switches to the vectors of `glove_100d`, padded to 300 dimensions with random numbers."""
    config.data.vectors = _GLOVE_100D
    config.data.vector_dim = 100
    config.data.embedding_dim = 300


def apply_variant(
    config: ConfigDict, variant: str, variants: dict[str, Callable[[ConfigDict], None]]
) -> ConfigDict:
    """Applies the variants' functions to `config` and locks it.

    Args:
      config: the default config.
      variant: "" for the default, else a key of `variants`, or several separated by commas, which
        are applied in this order ("bi_lstm,glove_100d").
      variants: name -> function that changes a config in place.

    Raises:
      ValueError: the variant is unknown; the message names the closest variant, or lists all.
    """
    for name in variant.split(",") if variant else ():
        if name not in variants:
            near, known = nearest(name, variants), ", ".join(sorted(variants)) or "none"
            rest = f"did you mean {near}?" if near else f"it has {known}"
            raise ValueError(f"config {config.name} has no variant {name!r}; {rest}")
        variants[name](config)
    return config.lock()
