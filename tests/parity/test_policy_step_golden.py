"""The training step of hard attention makes the authors' two first steps, both at once."""

import functools

import pytest
import tensorflow as tf

from disan_tf.layers import Dropout
from disan_tf.training.methods.policy_steps import (
    POLICY,
    SOFT,
    Baseline,
    make_policy_step,
    product_reward,
)
from disan_tf.training.optimizers import adadelta
from tests.support.golden import official
from tests.support.golden.pairs import pair_ids
from tests.support.golden.resan import golden_model

FILES = ["snli_hw_resan_gs10.npz", "snli_hw_resan_exp_gs10.npz", "sick_resan_kl_gs10.npz"]


@pytest.fixture(autouse=True)
def _eagerly(each_backend):
    """The file's uniforms are found by their shape."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@pytest.mark.parametrize("name", FILES)
def test_both_optimizers_move_their_weights_as_the_authors_do(name, monkeypatch):
    monkeypatch.setattr(Dropout, "call", lambda self, x, training=None: x)  # off in the files
    golden = golden_model(name)
    rate = golden.meta["learning_rate"]
    optimizers = {SOFT: adadelta(rate), POLICY: adadelta(rate)}
    reward = functools.partial(product_reward, penalty=golden.meta["rl_sparsity"])
    step = make_policy_step(golden.model, optimizers, "sample", reward, Baseline(0.0))
    measured = step(*pair_ids(golden.arrays), tf.constant(golden.arrays["in/gold_label"]))
    for kind, loss in (("sl", "loss"), ("rl", "policy_loss")):
        official.assert_close(measured[loss], golden.arrays[f"out/loss_{kind}"], loss)
        expected = official.half(golden.arrays, kind)
        for variable, value in golden.variables_of(kind).items():
            official.assert_close(value, expected[f"ada_step1_var/{variable}"], variable)
    official.assert_close(measured["reward"], golden.arrays["out/reward_mean"], "reward")
