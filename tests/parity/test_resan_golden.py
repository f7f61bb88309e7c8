"""Whole ReSAN models against the authors' code: selections, rewards, both losses, their steps."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import Dropout
from disan_tf.training.methods.policy_steps import split_weights
from disan_tf.training.steps import added_losses
from tests.support.golden import official
from tests.support.golden.pairs import check_attention, pair_ids
from tests.support.golden.resan import BASES, FILES, MODELS, golden_model

pytestmark = pytest.mark.usefixtures("each_backend")
SAMPLED = [name for name in MODELS if "_gs10" in name]


@pytest.mark.parametrize("name", MODELS)
def test_the_same_uniforms_select_what_the_authors_select(name):
    golden = golden_model(name)
    fractions = []
    for number, chosen in enumerate(golden.select(), start=1):
        theirs = {
            key: golden.arrays[f"out/s{number}_{key}"]
            for key in ("act", "act_head", "act_dep", "percentage")
        }
        assert (chosen.heads[0].numpy() == theirs["act_head"]).all()
        assert (chosen.dependents[0].numpy() == theirs["act_dep"]).all()
        pairs = chosen.heads[1][:, :, None] & chosen.dependents[1][:, None]
        assert (pairs.numpy() == theirs["act"]).all()
        fractions.append(chosen.head_fraction * chosen.dependent_fraction)
        official.assert_close(fractions[-1], theirs["percentage"], "fraction")
    official.assert_close(tf.reduce_mean(fractions), golden.arrays["out/choose_percentage"], "mean")


@pytest.mark.parametrize("name", SAMPLED)
def test_log_probabilities_equal_the_authors(name):
    golden = golden_model(name)
    for number, chosen in enumerate(golden.select(), start=1):
        theirs = golden.arrays[f"out/s{number}_logpa"].sum(axis=1)
        official.assert_close(chosen.log_probability, theirs, "log-probability")


@pytest.mark.parametrize("name", sorted(MODELS.keys() - set(SAMPLED)))
def test_a_selection_of_all_tokens_was_no_choice_though_the_authors_write_ones(name):
    golden = golden_model(name)
    for number, chosen in enumerate(golden.select(), start=1):
        assert not chosen.log_probability.numpy().any()
        assert (golden.arrays[f"out/s{number}_logpa"] == 1.0).all()


@pytest.mark.parametrize("name", FILES)
def test_vectors_logits_losses_and_answers_equal_the_authors(name):
    golden = golden_model(name)
    model, arrays = golden.model, golden.arrays
    outputs, losses, selections = golden.forward()
    for number, (ids, chosen) in enumerate(zip(pair_ids(arrays), selections), start=1):
        vectors = model.encode(ids, selections=chosen)
        official.assert_close(vectors, arrays[f"out/s{number}_rep"], f"sentence {number}")
    official.assert_close(outputs, arrays["out/logits"], "logits")
    official.assert_close(losses, arrays["out/cost_batch"], "losses")
    answers = model.predictions(outputs)
    if "out/predicted_score" in arrays:
        official.assert_close(answers, arrays["out/predicted_score"], "scores")
        halved = 0.5 if "_mselogits_" in name else 1.0  # there their `mse` is the loss
        squares = halved * tf.square(answers - arrays["in/gold_label"])
        official.assert_close(squares, arrays["out/mse"], "squared errors")
    else:
        assert ((answers.numpy() == arrays["in/gold_label"]) == arrays["out/accuracy"]).all()


@pytest.mark.parametrize("name", MODELS)
def test_tokens_and_source2token_equal_the_authors(name):
    golden = golden_model(name)
    encoder, embedding = golden.model.encoder, golden.model.embedding
    for number, (ids, chosen) in enumerate(zip(pair_ids(golden.arrays), golden.select()), start=1):
        real = ids.numpy() != 0
        x = embedding(ids)
        u, mask = encoder.attention(x, tf.constant(real), selections=chosen)
        weights = encoder.source2token.attention_weights(u, mask)
        for ours, theirs in ((x, "t/s{}_emb"), (u, "out/s{}_seq_rep"), (weights, "t/s{}_attn")):
            theirs = golden.arrays[theirs.format(number)]
            official.assert_close(ours[real], theirs[real], "tokens")


@pytest.mark.parametrize("name", BASES)
def test_attention_of_base_models_equals_the_authors(name):
    golden = golden_model(name)
    theirs = {
        "forward_attention": "fw_attn",
        "forward_gate": "fw_attn_gate",
        "source2token": "attn",
        "backward_attention": "bw_attn",
        "backward_gate": "bw_attn_gate",
    }
    check_attention(golden.model, golden.arrays, theirs)


@pytest.mark.parametrize("name", MODELS)
def test_rewards_equal_the_authors(name):
    golden = golden_model(name)
    rewards = golden.rewards(*golden.forward()[1:])
    for number, found in enumerate(rewards, start=1):
        official.assert_close(found, golden.arrays[f"out/s{number}_reward"], f"sentence {number}")
    official.assert_close(tf.reduce_mean(rewards), golden.arrays["out/reward_mean"], "mean")


@pytest.mark.parametrize("name", FILES)
def test_the_authors_regularise_the_matrices_that_we_do(name):
    golden = golden_model(name)
    assert len(golden.model.losses) == len(golden.meta["reg_vars"])
    for kind, decay in zip(("sl", "rl"), added_losses(golden.model)):
        theirs = golden.arrays[f"out/weight_decay_{kind}"]
        np.testing.assert_allclose(decay, theirs, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_each_loss_trains_the_weights_that_the_authors_train(name):
    golden = golden_model(name)
    for kind, weights in zip(("sl", "rl"), split_weights(golden.model)):
        theirs = golden.variables_of(kind).values()
        assert {id(weight) for weight in weights} == {id(variable) for variable in theirs}


@pytest.mark.parametrize("name", FILES)
def test_both_losses_and_their_gradients_equal_the_authors(name):
    golden = golden_model(name)

    def checked(kind):
        loss = golden.objectives()[kind]
        official.assert_close(loss, golden.arrays[f"out/loss_{kind}"], f"loss_{kind}")
        return loss

    for kind in ("sl", "rl") if golden.model.encoder.samplers else ("sl",):
        official.check_gradients(
            golden.variables_of(kind),
            golden.arrays,
            functools.partial(checked, kind),
            prefix=f"gloss_{kind}_var",
        )


@pytest.mark.parametrize("name", FILES)
def test_gradients_of_the_logits_equal_the_authors_and_are_none_of_samplers(name):
    golden = golden_model(name)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(golden.forward()[0] * golden.arrays["R/logits"])
    gradients = tape.gradient(total, golden.variables)
    without = {name for name, gradient in gradients.items() if gradient is None}
    assert without == set(golden.meta["gvar_none"])
    for name in gradients.keys() - without:
        gradient = tf.convert_to_tensor(gradients[name])
        official.assert_close(gradient, golden.arrays[f"gvar/{name}"], f"gradient of {name}")


@pytest.mark.parametrize(
    "name, kind",
    [
        pytest.param(*case, marks=[pytest.mark.slow] * (place % 6 > 0))
        for place, case in enumerate(
            [*((name, "sl") for name in FILES), *((name, "rl") for name in SAMPLED)]
        )
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
    if golden.model.encoder.samplers:
        official.assert_close(recorded, golden.arrays[f"out/ada_{kind}_losses_sl_rl"], "losses")


@pytest.mark.parametrize("name", [name for name in MODELS if "_exp_" not in name])
def test_as_many_masks_are_drawn_as_at_the_authors_dropout_sites(name):
    """Of `exp` not: it drops the token vectors of heads and of dependents apart."""
    golden = golden_model(name)
    ids = pair_ids(golden.arrays)
    sites = [part for part in golden.model.submodules if isinstance(part, Dropout)]
    before = sum(int(site.calls) for site in sites)
    selections = golden.model.select(*ids, how="sample", training=True)
    golden.model(*ids, selections=selections, training=True)
    drawn = sum(int(site.calls) for site in sites) - before
    assert drawn == len(golden.meta["dropout_sites"])


def test_each_golden_file_of_models_has_its_row():
    assert set(official.names("snli_hw_resan*.npz") + official.names("sick_resan*.npz")) == {*FILES}
