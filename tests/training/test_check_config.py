"""Variants, and values that are refused before anything is written."""

import pytest
from ml_collections import ConfigDict

from configs.common import apply_variant
from disan_tf.errors import UserError
from disan_tf.training.check_config import check_config
from tests.support.training_runs import load_config, tiny_config


@pytest.mark.parametrize(
    "name, variants",
    [("disan_sst", ["", "official", "binary", "sentence", "tiny"]), ("demo", [""])]
    + [("disan_snli", ["", "official", "tiny"])],
)
def test_every_variant_is_a_possible_training(name, variants):
    for variant in variants:
        check_config(load_config(name, variant))


def test_an_option_of_another_optimizer_is_refused():
    config = load_config("bilm", "tiny")
    check_config(config)
    config.train.optimizer = "adam"
    with pytest.raises(UserError, match="optimizer_options.clip_norm=10.0 is nothing to adam"):
        check_config(config)


def test_a_config_is_locked():
    config = apply_variant(ConfigDict({"name": "x"}), "", {})
    with pytest.raises(AttributeError):
        config.other = 1


def test_the_default_has_the_papers_values():
    config = load_config("disan_sst")
    train = config.train
    assert (train.batch_size, train.learning_rate, train.l2) == (64, 0.5, 1e-4)
    assert train.dropout == pytest.approx(1 - 0.8)
    assert (config.encoder.units, config.encoder.activation) == (300, "elu")
    assert (config.data.oov, config.data.rebalance) == ("uniform", False)


def test_the_default_of_snli_has_the_papers_values():
    config = load_config("disan_snli")
    train = config.train
    assert (train.batch_size, train.learning_rate, train.l2) == (64, 0.5, 5e-5)
    assert train.dropout == pytest.approx(1 - 0.75)
    assert (config.encoder.units, config.task.hidden_units) == (300, 300)
    assert (config.encoder.activation, config.task.activation) == ("elu", "elu")
    assert (config.data.oov, config.data.length_percentile) == ("uniform", 0.97)
    assert not config.data.empty_tokens


def test_the_official_variant_of_snli_keeps_empty_tokens_and_all_vectors():
    config = load_config("disan_snli", "official")
    assert (config.data.empty_tokens, config.data.fixed_words) == (True, "all")


def test_the_official_variant_has_the_authors_values():
    config = load_config("disan_sst", "official")
    assert config.train.dropout == pytest.approx(1 - 0.7)
    assert (config.encoder.activation, config.task.activation) == ("relu", "relu")
    assert (config.data.oov, config.data.rebalance) == ("normal", True)
    assert not config.task.logit_bias


@pytest.mark.parametrize(
    "path, value, words",
    [
        ("dtype", "float16", "mixed_bfloat16"),
        ("encoder.name", "lstm", "disan"),
        ("encoder.activation", "curvy", "elu"),
        ("train.batch_size", 0, "at least 1"),
        ("train.evaluate_every", 0, "at least 1"),
        ("train.batch_tokens", -1, "at least 0"),
        ("train.examples", -1, "at least 0"),
        ("task.name", "parsing", "classification or nli"),
        ("train.patience", -1, "at least 0"),
        ("train.dropout", 1.0, r"\[0, 1\)"),
        ("train.learning_rate", float("nan"), "at least 0"),
    ],
)
def test_an_impossible_value_is_refused(path, value, words):
    config = tiny_config()
    *parents, last = path.split(".")
    part = config
    for parent in parents:
        part = part[parent]
    part[last] = value
    with pytest.raises(UserError, match=rf"--config\.{path}={value} .*{words}"):
        check_config(config)


def test_an_unknown_loss_of_relatedness_is_refused():
    config = tiny_config(name="disan_sick")
    config.task.loss = "cosine"
    with pytest.raises(UserError, match="--config.task.loss=cosine must be kl or squared_error"):
        check_config(config)


@pytest.mark.parametrize(
    "variant, name, value", [("additive", "units", 0), ("multi_head", "heads", -8)]
)
def test_sizes_of_an_encoder_are_at_least_1(variant, name, value):
    config = load_config("disan_sick", variant)
    config.encoder[name] = value
    with pytest.raises(UserError, match=f"--config.encoder.{name}={value} must be at least 1"):
        check_config(config)


def test_a_model_of_characters_needs_them():
    config = load_config("drcn_snli")
    config.data.word_features = False
    with pytest.raises(UserError, match="reads characters .* set --config.data.word_features=True"):
        check_config(config)


def test_an_encoder_without_units_is_a_possible_training():
    check_config(load_config("disan_sick", "source2token"))


def test_directions_are_two_of_the_known_ones():
    config = load_config("disan_snli", "without_directions")
    for directions in (("forward",), ("forward", "sideways")):
        config.encoder.directions = directions
        with pytest.raises(UserError, match="directions=.* must be two of forward, backward"):
            check_config(config)


@pytest.mark.parametrize("config, variant, name, value, sentence", [
    ("resan_sick", "", "encoder.unselected", "median", "; choose mean, mean_of_others or drop"),
    ("resan_sick", "", "encoder.sampling", "slow", "; choose parallel or iterative"),
    ("resan_sick", "iterative", "encoder.unselected", "drop", "; with iterative sampling"),
    ("dsa_snli", "", "encoder.attention", "slow", "; choose dynamic or static"),
    ("dsa_snli", "multiple", "encoder.attention", "static", "; it is one attention, not 8"),
    ("dsa_snli", "", "encoder.init_scale", "dropped", "; choose keep or rate"),
    ("dsa_snli", "", "encoder.negative_slope", 0.0, "must be above 0"),
    ("dsa_snli", "", "task.init_scale", "dropped", "; choose keep or rate"),
    ("dsa_snli", "", "encoder.iterations", 0, "must be at least 1"),
    ("dsa_snli", "", "encoder.word_dropout", 1.0, r"must lie in \[0, 1\)"),
    ("dsa_snli", "", "task.head", "deep", "must be plain or dsa"),
    ("dsa_snli", "", "task.hidden_layers", 0, "must be at least 1"),
    ("dsa_snli", "", "task.pair_features", "cosine", "must be difference or absolute"),
    ("dsa_snli", "", "train.optimizer", "newton", "must be adadelta or adagrad or adam"),
    ("dsa_snli", "", "train.plateau.patience", 0, "must be at least 1"),
    ("dsa_snli", "", "train.plateau.factor", 0.0, "must be above 0"),
    ("dsa_snli", "", "train.plateau.threshold", 1.0, r"must lie in \[0, 1\)"),
    ("dsa_sst", "bi_lstm", "encoder.pooling", "first", "; choose last or self_attention"),
    ("drcn_snli", "", "encoder.name", "bilm", "must be additive or .*"),
    ("drcn_snli", "", "encoder.recurrence", "gru", "; choose rnn or lstm"),
    ("drcn_snli", "", "encoder.functions", "B-B", "; join some of B, Ca, Cs, D, M"),
    ("drcn_snli", "", "encoder.aggregation", "layers", "; choose words or functions"),
    ("drcn_snli", "", "train.plateau.monitor", "test", "must be train or dev"),
    ("drcn_snli", "", "embedding.character_width", 0, "must be at least 1"),
    ("dsa_sst", "", "encoder.name", "drcn", "must be additive or .*"),
])  # fmt: skip
def test_a_value_that_does_not_exist_is_refused(config, variant, name, value, sentence):
    config = load_config(config, variant)
    with config.unlocked():
        config.update_from_flattened_dict({name: value})
    with pytest.raises(UserError, match=f"--config.{name}='?{value}'? ?{sentence}"):
        check_config(config)
