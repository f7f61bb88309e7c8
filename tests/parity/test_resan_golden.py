"""Whole ReSAN models against the authors' code: selections, rewards, both losses, their steps."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import Dropout
from disan_tf.models.relatedness import sparse_distribution
from disan_tf.training.methods.policy_steps import (
    POLICY,
    SOFT,
    Baseline,
    make_policy_step,
    product_reward,
    split_weights,
)
from disan_tf.training.optimizers import adadelta
from disan_tf.training.steps import added_losses
from tests.support.golden import official
from tests.support.golden.models import BASES, DISAN, SELECTING, golden_in_world, golden_model

FILES = {**BASES, **SELECTING}
SAMPLED = [name for name in SELECTING if "_gs10" in name]
TWICE = ("snli_hw_resan_gs10.npz", "snli_hw_resan_exp_gs0.npz", "sick_resan_base_mse_gs10.npz")


@pytest.fixture(params=[*FILES, *(f"portable {name}" for name in TWICE)])
def golden(request):
    """Each file natively, where that is possible, and some portably."""
    yield from golden_in_world(request.param)


@pytest.mark.parametrize("name", SELECTING)
def test_the_same_uniforms_select_what_the_authors_select(name):
    golden = golden_model(name)
    fractions = []
    for number, chosen in enumerate(golden.selected()["selections"], start=1):
        theirs = {
            key: golden.arrays[f"out/s{number}_{key}"]
            for key in ("act", "act_head", "act_dep", "percentage", "logpa")
        }
        assert (chosen.heads[0].numpy() == theirs["act_head"]).all()
        assert (chosen.dependents[0].numpy() == theirs["act_dep"]).all()
        pairs = chosen.heads[1][:, :, None] & chosen.dependents[1][:, None]
        assert (pairs.numpy() == theirs["act"]).all()
        fractions.append(chosen.head_fraction * chosen.dependent_fraction)
        official.assert_close(fractions[-1], theirs["percentage"], "fraction")
        if name in SAMPLED:
            official.assert_close(chosen.log_probability, theirs["logpa"].sum(axis=1), "log p")
        else:  # a selection of all tokens was no choice, though the authors write ones
            assert not chosen.log_probability.numpy().any() and (theirs["logpa"] == 1.0).all()
    official.assert_close(tf.reduce_mean(fractions), golden.arrays["out/choose_percentage"], "mean")


def test_vectors_logits_losses_and_answers_equal_the_authors(golden):
    model, arrays = golden.model, golden.arrays
    outputs, losses, selections = golden.forward()
    for number, ids in enumerate(golden.ids, start=1):
        chosen = {"selections": selections[number - 1]} if selections else {}
        vectors, x, real = model.encode(ids, **chosen), model.embedding(ids), ids.numpy() != 0
        official.assert_close(vectors, arrays[f"out/s{number}_rep"], f"sentence {number}")
        official.assert_close(x[real], arrays[f"t/s{number}_emb"][real], "embedding")
        if selections:
            u, mask = model.encoder.attention(x, tf.constant(real), **chosen)
            weights = model.encoder.source2token.attention_weights(u, mask)
            official.assert_close(u[real], arrays[f"out/s{number}_seq_rep"][real], "tokens")
            official.assert_close(weights[real], arrays[f"t/s{number}_attn"][real], "source2token")
    official.assert_close(outputs, arrays["out/logits"], "logits")
    official.assert_close(losses, arrays["out/cost_batch"], "losses")
    answers = model.predictions(outputs)
    if "out/predicted_score" in arrays:
        official.assert_close(answers, arrays["out/predicted_score"], "scores")
        halved = 0.5 if golden.meta.get("mse_logits") else 1.0  # there their `mse` is the loss
        squares = halved * tf.square(answers - arrays["in/gold_label"])
        official.assert_close(squares, arrays["out/mse"], "squared errors")
        ours = sparse_distribution(golden.labels, 5)
        official.assert_close(ours, arrays["in/target_distribution"], "distributions")
    else:
        assert ((answers.numpy() == arrays["in/gold_label"]) == arrays["out/accuracy"]).all()
    if selections:
        rewards = golden.rewards(losses, selections)
        for number, found in enumerate(rewards, start=1):
            official.assert_close(found, arrays[f"out/s{number}_reward"], f"sentence {number}")
        official.assert_close(tf.reduce_mean(rewards), arrays["out/reward_mean"], "mean")
    else:
        golden.check_attention(DISAN)
        shown = model.batch_loss(outputs, golden.labels)
        official.assert_close(shown, arrays["out/cost_sl"], "task")


def test_the_authors_regularise_and_train_the_weights_that_we_do(golden):
    decays = added_losses(golden.model)
    golden.forward()
    assert len(golden.model.losses) == len(golden.meta["reg_vars"])
    for kind, decay in zip(("sl", "rl"), decays):
        theirs = golden.arrays[f"out/weight_decay_{kind}"]
        np.testing.assert_allclose(decay, theirs, rtol=1e-5, atol=1e-9)
    if golden.selected():
        for kind, weights in zip(("sl", "rl"), split_weights(golden.model)):
            theirs = golden.variables_of(kind).values()
            assert {id(weight) for weight in weights} == {id(variable) for variable in theirs}


def test_both_losses_and_gradients_equal_the_authors(golden):
    arrays = golden.arrays
    with tf.GradientTape(persistent=True) as tape:
        outputs, *others = golden.forward()
        objectives = golden.objectives_of(*others)
        total = tf.reduce_sum(outputs * arrays["R/logits"])
    for kind, loss in objectives.items():
        official.assert_close(loss, arrays[f"out/loss_{kind}"], f"loss_{kind}")
        official.check_taped(tape, loss, golden.variables_of(kind), arrays, f"gloss_{kind}_var")
    gradients = tape.gradient(total, golden.variables)
    without = {name for name, gradient in gradients.items() if gradient is None}
    assert without == set(golden.meta["gvar_none"])
    for name in gradients.keys() - without:
        gradient = tf.convert_to_tensor(gradients[name])
        official.assert_close(gradient, arrays[f"gvar/{name}"], f"gradient of {name}")


STEPS = [*((name, "sl") for name in FILES), *((name, "rl") for name in SAMPLED)]


@pytest.mark.parametrize(
    "name, kind",
    [
        pytest.param(*case, marks=[pytest.mark.slow] * (place % 6 > 0))
        for place, case in enumerate(STEPS)
    ],
)
def test_three_training_steps_on_one_loss_equal_the_authors(name, kind):
    golden = golden_model(name)
    recorded = []

    def loss():
        objectives = golden.objectives()
        recorded.append(list(objectives.values()))
        return objectives[kind]

    variables, rate = golden.variables_of(kind), golden.meta["learning_rate"]
    official.check_steps(variables, official.half(golden.arrays, kind), loss, rate)
    if golden.selected():
        official.assert_close(recorded, golden.arrays[f"out/ada_{kind}_losses_sl_rl"], "losses")


@pytest.mark.parametrize("name", [name for name in SELECTING if "_exp_" not in name])
def test_as_many_masks_are_drawn_as_at_the_authors_dropout_sites(name):
    """Of `exp` not: it drops the token vectors of heads and of dependents apart."""
    golden_model(name).check_dropout_sites()


@pytest.fixture
def eagerly(monkeypatch):
    """The file's uniforms are found by their shape, and its dropout is off."""
    monkeypatch.setattr(Dropout, "call", lambda self, x, training=None: x)
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize(
    "name", ["snli_hw_resan_gs10.npz", "snli_hw_resan_exp_gs10.npz", "sick_resan_kl_gs10.npz"]
)
def test_both_optimizers_move_their_weights_as_the_authors_do(name):
    golden = golden_model(name)
    rate = golden.meta["learning_rate"]
    optimizers = {SOFT: adadelta(rate), POLICY: adadelta(rate)}
    reward = functools.partial(product_reward, penalty=golden.meta["rl_sparsity"])
    step = make_policy_step(golden.model, optimizers, "sample", reward, Baseline(0.0))
    measured = step(*golden.ids, golden.labels)
    for kind, loss in (("sl", "loss"), ("rl", "policy_loss")):
        official.assert_close(measured[loss], golden.arrays[f"out/loss_{kind}"], loss)
        expected = official.half(golden.arrays, kind)
        for variable, value in golden.variables_of(kind).items():
            official.assert_close(value, expected[f"ada_step1_var/{variable}"], variable)
    official.assert_close(measured["reward"], golden.arrays["out/reward_mean"], "reward")


def test_each_golden_file_of_models_has_its_row():
    assert set(official.names("snli_hw_resan*.npz") + official.names("sick_resan*.npz")) == {*FILES}
