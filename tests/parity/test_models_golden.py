"""Whole models against the authors' code: outputs, attention, decay, gradients, steps, dropout."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.models.relatedness import expected_score, sparse_distribution
from tests.support.golden import official
from tests.support.golden.models import BASES, NETWORKS, golden_in_world, golden_model

TWICE = ("snli_disan.npz", "snli_exp_bi_lstm_mul_attn.npz", "bib_sick_disa_kl.npz")


@pytest.fixture(params=[*NETWORKS, *(f"portable {name}" for name in TWICE)])
def golden(request):
    """Each file natively, where that is possible, and one of each kind portably."""
    yield from golden_in_world(request.param)


def test_outputs_attention_and_weight_decay_equal_the_authors(golden, request):
    model, arrays, meta = golden.model, golden.arrays, golden.meta
    logits = model(*golden.ids)
    decay = tf.add_n(model.losses)
    official.assert_close(logits, arrays["out/logits"], "logits")
    official.assert_close(golden.loss(), arrays["out/loss"], "loss")
    task = arrays["out/kl_mean" if "out/kl_mean" in arrays else "out/xent_mean"]
    official.assert_close(model.batch_loss(logits, golden.labels), task, "task")
    np.testing.assert_allclose(decay, arrays["out/loss"] - task, atol=1e-6)
    for number, ids in enumerate(golden.ids, start=1):
        if f"t/s{number}_rep" in arrays:
            vectors = model.encode(ids)
            official.assert_close(vectors, arrays[f"t/s{number}_rep"], f"sentence {number}")
    if "out/predicted_score" in arrays:
        official.assert_close(model.predictions(logits), arrays["out/predicted_score"], "scores")
        ours = sparse_distribution(golden.labels, 5)
        official.assert_close(ours, arrays["in/target_distribution"], "distributions")
        return
    l2 = sum(tf.nn.l2_loss(arrays[f"var/{matrix}"]) for matrix in meta["reg_vars"])
    assert len(model.losses) == len(meta["reg_vars"])
    official.assert_close(decay, meta["wd"] * l2, "weight decay")
    if "t/emb" in arrays:
        official.assert_close(model.embedding(golden.ids[0]), arrays["t/emb"], "embedding")
    golden.check_attention(NETWORKS[request.node.callspec.params["golden"].split()[-1]].attention)


def test_gradients_of_the_loss_and_of_the_logits_equal_the_authors(golden):
    arrays, variables = golden.arrays, golden.variables
    with tf.GradientTape(persistent=True) as tape:
        logits = golden.model(*golden.ids)
        loss = golden.model.batch_loss(logits, golden.labels) + tf.add_n(golden.model.losses)
        total = tf.reduce_sum(logits * arrays["R/logits"])
    official.check_taped(tape, loss, variables, arrays, "gloss_var")
    official.check_taped(tape, total, variables, arrays, "gvar")


@pytest.mark.parametrize("name", [name for name in NETWORKS if not name.startswith("bib_")])
def test_three_training_steps_and_dropout_sites_equal_the_authors(name):
    golden = golden_model(name)
    rate = golden.meta["learning_rate"]
    official.check_three_steps(golden.variables, golden.arrays, golden.loss, rate)
    # TensorFlow's DropoutWrapper, around two LSTMs for two sentences, is not in the file's list.
    golden.check_dropout_sites(more=4 if "bi_lstm" in name else 0)


def test_target_distributions_of_scores_equal_the_authors():
    data = official.golden_json("sick_data")
    ours = sparse_distribution(tf.constant(data["scores"], tf.float32), 5)
    official.assert_close(ours, data["distributions"], "distributions")
    means = expected_score(tf.math.log(ours))  # softmax(log p) = p
    official.assert_close(means, data["scores"], "means")


def test_each_golden_file_of_models_has_its_row():
    patterns = ("snli_disan*.npz", "snli_exp_*.npz", "sst_*.npz", "bib_sick_*.npz")
    assert {name for pattern in patterns for name in official.names(pattern)} == {*NETWORKS}
    assert {*official.names("*_base_*.npz")} == {*BASES}
