"""Models of relatedness against the authors' code: vectors, logits, losses, gradients, steps."""

import functools
import json

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.encoders import DiSAN
from disan_tf.models import RelatednessModel
from disan_tf.models.relatedness import expected_score, sparse_distribution
from tests.support.golden import official
from tests.support.golden.pairs import pair_ids, pair_loss, pair_model

pytestmark = pytest.mark.usefixtures("each_backend")
SQUARED_ERROR, KL = official.names("sick_resan_base_mse*.npz") + official.names("bib_sick_*_kl.npz")
LOSSES = {SQUARED_ERROR: "squared_error", KL: "kl"}


def _load(name):
    arrays, meta = official.load(name)
    arrays = official.half(arrays, "sl") if name == SQUARED_ERROR else _join_hidden_maps(arrays)
    return arrays, meta


def _join_hidden_maps(arrays):
    """W_x (a * b) + W_+ |a - b| of Tai et al. is one matrix and [a * b; |a - b|]."""
    joined = dict(arrays)
    for key in arrays:
        if key.endswith("/output/linear_h1/W"):
            second = joined.pop(key.replace("linear_h1", "linear_h2"))
            ours = key.replace("linear_h1/W", "pre_output/W")
            joined[ours] = np.concatenate([joined.pop(key), second])
        elif key.endswith("/output/linear_h2/bias"):
            joined[key.replace("linear_h2", "pre_output")] = joined.pop(key)
    return joined


def _model(name):
    arrays, meta = _load(name)
    make_encoder = functools.partial(DiSAN, activation="relu")
    make = functools.partial(RelatednessModel, loss=LOSSES[name])
    model, variables = pair_model(arrays, meta, make_encoder, "relu", make)
    return model, arrays, meta, variables


def _task_loss(model, arrays):
    return model.batch_loss(model(*pair_ids(arrays)), tf.constant(arrays["in/gold_label"]))


@pytest.mark.parametrize("name", LOSSES)
def test_logits_and_scores_equal_the_authors(name):
    model, arrays, _, _ = _model(name)
    logits = model(*pair_ids(arrays))
    official.assert_close(logits, arrays["out/logits"], "logits")
    official.assert_close(model.predictions(logits), arrays["out/predicted_score"], "scores")


def test_sentence_vectors_equal_the_authors():
    model, arrays, _, _ = _model(SQUARED_ERROR)
    for number, ids in enumerate(pair_ids(arrays), start=1):
        official.assert_close(model.encode(ids), arrays[f"out/s{number}_rep"], f"sentence {number}")


@pytest.mark.parametrize(
    "name, task, whole", [(SQUARED_ERROR, "cost_sl", "loss_sl"), (KL, "kl_mean", "loss")]
)
def test_the_loss_equals_the_authors_with_and_without_weight_decay(name, task, whole):
    model, arrays, _, _ = _model(name)
    official.assert_close(_task_loss(model, arrays), arrays[f"out/{task}"], "task")
    official.assert_close(pair_loss(model, arrays), arrays[f"out/{whole}"], "loss")


def test_the_squared_error_of_a_batch_equals_the_authors():
    model, arrays, _, _ = _model(SQUARED_ERROR)
    shown = model.batch_score(model(*pair_ids(arrays)), tf.constant(arrays["in/gold_label"]))
    official.assert_close(shown, arrays["out/mse"].mean(), "mse")


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_of_the_logits_equal_the_authors(name):
    model, arrays, _, variables = _model(name)

    def total():
        return tf.reduce_sum(model(*pair_ids(arrays)) * arrays["R/logits"])

    official.check_gradients(variables, arrays, total, prefix="gvar")


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_of_the_loss_equal_the_authors(name):
    model, arrays, _, variables = _model(name)
    official.check_gradients(variables, arrays, lambda: pair_loss(model, arrays))


def test_three_training_steps_equal_the_authors():
    model, arrays, meta, variables = _model(SQUARED_ERROR)
    rate = meta["learning_rate"]
    official.check_steps(variables, arrays, lambda: pair_loss(model, arrays), rate)


@pytest.mark.parametrize("name", LOSSES)
def test_target_distributions_of_a_batch_equal_the_authors(name):
    arrays, _ = _load(name)
    ours = sparse_distribution(tf.constant(arrays["in/gold_label"]), 5)
    official.assert_close(ours, arrays["in/target_distribution"], "distributions")


def test_target_distributions_of_scores_equal_the_authors():
    data = json.loads((official.GOLDEN / "sick_data.json").read_text(encoding="utf-8"))
    scores = tf.constant(data["scores"], tf.float32)
    ours = sparse_distribution(scores, 5)
    official.assert_close(ours, data["distributions"], "distributions")
    means = expected_score(tf.math.log(ours))  # softmax(log p) = p
    official.assert_close(means, data["scores"], "means")
