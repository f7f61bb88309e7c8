"""The values that the papers, or their authors' code, set for an experiment."""

import ast

import pytest

from tests.support.runs.training import load_config

# Below a config and its variant, options and their values.
PAPERS = """
disan_snli:
    train.batch_size=64 train.learning_rate=0.5 train.l2=5e-05 train.dropout=0.25 train.steps=400000
    encoder.units=300 encoder.activation=elu task.hidden_units=300 task.activation=elu
    embedding.dim=300 data.oov=uniform data.length_percentile=0.97 data.empty_tokens=False
disan_snli:official
    data.empty_tokens=True data.fixed_words=all
disan_sst:
    train.dropout=0.2 train.l2=0.0001 data.level=phrase data.classes=5 data.rebalance=False
disan_sst:official
    train.dropout=0.3 encoder.activation=relu task.activation=relu data.oov=normal
    data.rebalance=True task.logit_bias=False
disan_snli:multi_head
    encoder.heads=8 encoder.units=75
disan_cr:
    data.folds=10 train.dropout=0.25
resan_snli:
    encoder.activation=relu policy.penalty=0.02 policy.reward=product train.dropout=0.35
    task.highway=True policy.learning_rate=0.5
resan_sick:
    policy.penalty=0.006 train.batch_size=128 task.loss=kl
dsa_snli:
    train.batch_size=256 train.l2=1e-05 train.plateau.factor=0.5 train.plateau.patience=5
    encoder.iterations=2 encoder.units=600 embedding.trainable=False
dsa_snli:multiple
    encoder.units=300 encoder.attentions=8 task.dropout=0.4
dsa_sst:
    train.optimizer=adadelta train.batch_size=128 train.plateau.patience=2
drcn_snli:
    train.optimizer=rmsprop train.learning_rate=0.001 train.l2=1e-06 train.plateau.factor=0.15
    train.plateau.monitor=dev encoder.dropout=0.5 data.oov=normal encoder.layers=5
elmo_disan_sst:
    encoder.units=900 train.dropout=0.3 train.l2=0.0001
"""


def _cases():
    for line in PAPERS.strip().splitlines():
        if not line.startswith(" "):
            config = line
            continue
        for option in line.split():
            name, _, value = option.partition("=")
            yield pytest.param(*config.split(":"), name, value, id=f"{config}-{name}")


@pytest.mark.parametrize("name, variant, option, value", _cases())
def test_an_option_has_the_value_of_its_paper(name, variant, option, value):
    found = load_config(name, variant)
    for part in option.split("."):
        found = found[part]
    if not isinstance(found, str):
        value = ast.literal_eval(value)
    assert found == pytest.approx(value) if isinstance(value, float) else found == value
