"""Values that are refused before anything is prepared, with the sentence that each gets."""

import pytest
from ml_collections import ConfigDict

from disan_tf.cli.loading import read_config
from tests.support.errors import user_error
from tests.support.runs.training import config_names, load_config, variants


def changed(name, variant, values):
    config = load_config(name, variant)
    config.update_from_flattened_dict(values)
    return config


def refusal(config):
    message = user_error(read_config, config)
    assert message[-1] in ".?"
    return message


@pytest.mark.parametrize("name", config_names())
def test_every_variant_is_a_possible_training(name):
    known = variants(name)
    assert name != "disan_sst" or "without_directions" in known
    tiny = [f"{variant},tiny" for variant in known if variant] if "tiny" in known else []
    for variant in [*known, *tiny]:
        read_config(load_config(name, variant))


@pytest.mark.parametrize(
    "name, value, sentence",
    [
        ("dtype", "float16", "must be float32, mixed_bfloat16 or mixed_float16; did you mean floa"),
        ("seed", -1, "must be at least 0."),
        ("encoder.name", "disna", "must be additive, .* or source2token; did you mean disan?"),
        ("encoder.name", "bilm", "must be additive, .* or source2token; did you mean bi_lstm?"),
        ("encoder.activation", "ReLu", "must be an activation of Keras; did you mean relu?"),
        ("encoder.units", 0, "must be at least 1."),
        ("embedding.name", "glove", "must be words or elmo."),
        ("task.name", "classify", "must be classification, nli, .*; did you mean classification?"),
        ("task.head", "dense", "must be plain, dsa or drcn."),
        ("train.batch_size", 0, "must be at least 1."),
        ("train.steps", 0, "must be at least 1."),
        ("train.dropout", 1.0, "must be at least 0 and below 1."),
        ("train.l2", -1e-4, "must be at least 0."),
        ("train.l2", float("nan"), "must be a finite number."),
        ("evaluate.batch_size", 0, "must be at least 1."),
        ("evaluate.splits", ("tset",), "must be of test; did you mean test?"),
        ("evaluate.splits", ("train",), "must not name train, which has a curve without that; --m"),
    ],
)
def test_an_impossible_value_is_refused(name, value, sentence):
    assert_refused(changed("disan_sst", "", {name: value}), name, value, sentence)


@pytest.mark.parametrize(
    "config, variant, name, value, sentence",
    [
        ("disan_sick", "", "task.loss", "squared", "must be kl or squared_error; did you mean squ"),
        ("disan_sick", "multi_head", "encoder.heads", -8, "must be at least 1."),
        (
            "disan_snli",
            "without_directions",
            "encoder.directions",
            ("forward", "back"),
            "--config.encoder.directions=back must be forward, backward or diagonal; did you mean",
        ),
        ("resan_sick", "", "encoder.unselected", "median", "must be mean, mean_of_others or drop;"),
        ("resan_sick", "", "encoder.sampling", "slow", "must be parallel or iterative."),
        ("resan_sick", "iterative", "encoder.unselected", "drop", "must be mean or mean_of_others"),
        ("resan_sick", "", "policy.reward", "gold", "must be product or probability."),
        ("resan_sick", "", "policy.period", 0, "must be at least 1."),
        ("resan_sick", "", "evaluate.selection", "best", "must be sample, greedy or mean."),
        ("resan_sick", "", "evaluate.samples", 0, "must be at least 1."),
        ("resan_sick", "", "evaluate.samples", 1001, "must be at most 1,000."),
        ("resan_sick", "", "policy.pretrain_steps", 10**7, "must be below --config.train.steps="),
        ("dsa_snli", "", "encoder.attention", "slow", "must be dynamic or static."),
        ("dsa_snli", "multiple", "encoder.attention", "static", "must be a single one, and atten"),
        ("dsa_snli", "", "encoder.negative_slope", 0.0, "must be above 0."),
        ("dsa_snli", "", "encoder.widths", (), "must have at least one number, and none under 1."),
        ("dsa_snli", "", "task.pair_features", "cosine", "must be difference, absolute or"),
        ("dsa_snli", "", "train.optimizer", "adm", "must be adadelta, .*; did you mean adam?"),
        ("dsa_snli", "", "train.plateau.patience", 0, "must be at least 1."),
        ("drcn_snli", "", "train.batch_norm_batches", -1, "must be at least 0."),
        ("disan_sst", "", "train.batch_norm_batches", 9, "is for batch normalisation"),
        ("drcn_snli", "", "encoder.functions", "B-B", "must be some of B, Ca, Cs, D, M, joined by"),
        ("drcn_snli", "B-Ca-Cs-M", "encoder.units", 25, "must be even: from layer 2 on, a BiLSTM"),
        ("drcn_snli", "", "train.plateau.monitor", "test", "must be train or dev."),
        ("drcn_snli", "", "data.word_features", False, "--config.embedding.name=characters reads"),
        ("elmo_disan_sst", "", "embedding.phrases", "whole", "must be own or cut."),
        ("elmo_disan_sst", "", "embedding.phrases", "cut", "--config.embedding.phrases=cut reads"),
        ("elmo_disan_sst", "cut_phrases", "embedding.cached", False, "--config.embedding.phrases="),
        ("elmo_disan_sst", "", "embedding.trainable_bilm", True, "changes the layers of the biLM,"),
        ("elmo_disan_sst", "", "data.bilm", "", "--config.embedding.bilm= must name the files of"),
        ("bilm", "", "encoder.cells", 1, "must be at least units, 512."),
        ("bilm", "", "encoder.filters", ((60, 8),), "must be at most as wide as a word, 50."),
        ("bilm", "", "embedding.word_length", 2, "must be at least 3."),
    ],
)
def test_a_value_that_a_component_does_not_take_is_refused(config, variant, name, value, sentence):
    assert_refused(changed(config, variant, {name: value}), name, value, sentence)


def assert_refused(config, name, value, sentence):
    start, *parts = sentence.split(".*")
    message = refusal(config)
    expected = start if start.startswith("--config") else f"--config.{name}={value} {start}"
    assert message.startswith(expected)
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    "name, value, sentence",
    [
        ("train.batchsize", 3, "is not an option of a training; did you mean batch_size?"),
        ("train.plateau", {"factr": 0.5}, "--config.train.plateau.factr=0.5 is not an option of"),
        ("encoder.heads", 8, "is not an option of disan, which takes activation, directions, dro"),
        ("embedding.dims", 8, "is not an option of the embedding words; did you mean dim?"),
        ("task.pair_features", "absolute", "is not an option of the task classification with the"),
        ("evaluate.samples", 8, "is not an option of an evaluation, which takes batch_size, split"),
        ("evalute", {}, "--config.evalute={...} is not an option of a config; did you mean evalua"),
        ("train.l2", "small", "--config.train.l2='small' must be a finite number."),
        ("train.optimizer_options", {"rate": 1}, "--config.train.optimizer_options.rate=1 is not"),
        ("train.optimizer_options", 3, "must be a section of options or None."),
        ("data.embedding_dim", 32, "must be 300, as config.embedding.dim is."),
        ("encoder", 3, "--config.encoder=3 must be a section of options."),
    ],
)
def test_a_file_with_a_wrong_option_is_refused(name, value, sentence):
    config = replaced(load_config("disan_sst"), name, value)
    assert_refused(config, name, value, sentence)


@pytest.mark.parametrize(
    "name, sentence",
    [
        ("train.window", "--config.train.window is missing; a training needs it."),
        ("encoder.name", "--config.encoder.name is missing; name additive, bi_gru"),
        ("evaluate", "--config.evaluate is missing; a config needs it."),
    ],
)
def test_a_file_without_a_needed_option_is_refused(name, sentence):
    config = load_config("disan_sst")
    *sections, last = name.split(".")
    section = config
    for each in sections:
        section = section[each]
    del section[last]
    assert refusal(config).startswith(sentence)


def replaced(config, name, value):
    """A config with an option that a file may have, of any type."""
    values = config.to_dict()
    section = values
    *sections, last = name.split(".")
    for each in sections:
        section = section[each]
    section[last] = value
    return ConfigDict(values)


def test_an_option_of_another_optimizer_is_refused():
    config = changed("dsa_sst", "tiny", {"train.optimizer": "adam"})
    sentence = "epsilon=1e-06 is not an option of adam, which takes none."
    assert refusal(config) == f"--config.train.optimizer_options.{sentence}"


def test_other_splits_are_those_of_the_corpus():
    config = changed("disan_multinli", "", {"evaluate.splits": ("mismatched",)})
    read_config(config)
    config = changed("disan_snli", "", {"evaluate.splits": ("mismatched",)})
    assert "must be of test" in refusal(config)


def test_a_task_reads_the_sentences_of_its_corpus():
    config = load_config("disan_snli")
    read_config(config)
    config.data = load_config("disan_sick").data
    assert refusal(config).startswith(
        "--config.task.name=nli reads premise and hypothesis, but the corpus sick has sentence_a "
    )


def test_hard_attention_needs_a_policy_and_nothing_else_takes_one():
    config = load_config("resan_snli")
    policy = config.policy
    del config.policy
    assert refusal(config).startswith("--config.policy is missing: resan chooses tokens, which")
    config = load_config("disan_snli")
    config.policy = policy
    assert refusal(config) == (
        "--config.policy is not for disan, which chooses no tokens; omit it."
    )


def test_pretraining_is_compared_with_the_steps_when_epochs_give_them():
    config = load_config("resan_snli")
    config.train.epochs, config.train.steps = 2, 0
    found, steps = read_config(config), config.policy.pretrain_steps
    assert found.resolved(steps).train.schedule.steps == 2 * steps
    assert "must be below --config.train.steps=" in user_error(found.resolved, steps // 2)


def test_batch_norm_batches_is_refused_with_hard_attention():
    config = load_config("resan_snli")
    config.task, config.train.batch_norm_batches = load_config("dsa_snli").task, 9
    sentence = "--config.train.batch_norm_batches=9 is not supported with hard attention: "
    assert refusal(config).startswith(sentence)
    config.train.batch_norm_batches = 0
    read_config(config)


def test_a_policy_takes_no_plateau():
    config = load_config("resan_sick")
    config.train.plateau = load_config("dsa_sst").train.plateau
    assert "--config.train.plateau={...} is not an option of a training" in refusal(config)
