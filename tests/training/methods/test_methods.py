"""Which method a model learns by, and how one with hard attention is evaluated."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.models.factory import build_model
from disan_tf.training.compilation import make_compiler
from disan_tf.training.config import from_dict
from disan_tf.training.methods.back_propagation import BackPropagation
from disan_tf.training.methods.policy_gradient import PolicyGradient, evaluation_steps
from tests.support.runs.training import method_of, tiny_config, with_few_operations

IDS = [tf.constant([[2, 3, 4, 5, 6], [7, 2, 0, 0, 0]]), tf.constant([[3, 4, 8], [5, 6, 0]])]
LABELS = tf.constant([0, 2])
# Tolerance for logits below 1: compiled steps may run other kernels than eager models. The measured
# difference is 0 (EPYC).
ROUNDING = 1e-6


def _model(**evaluate):
    """A new model, the same each time, whose samplers choose about half of the tokens."""
    tf.keras.utils.set_random_seed(1)
    config = with_few_operations(tiny_config(name="resan_snli"))
    config.evaluate.update(evaluate)
    model = build_model(config, (10, 0), 3)
    model.embedding.set_vectors(np.random.default_rng(2).normal(size=[10, 16]))
    return config, model


def _evaluation_step(selection, **evaluate):
    """A model, and the step that scores it with these selections."""
    config, model = _model(**evaluate)
    options = from_dict(config)
    compiler = make_compiler(options.train, model)
    return model, evaluation_steps(model, options.evaluate.samples, compiler)[selection]


@pytest.mark.parametrize(
    "name, method", [("resan_snli", PolicyGradient), ("disan_snli", BackPropagation)]
)
def test_hard_attention_learns_by_policy_gradient(name, method):
    config = tiny_config(name=name)
    assert type(method_of(config, build_model(config, (10, 0), 3))) is method


def test_greedy_is_what_the_model_does_by_itself():
    model, step = _evaluation_step("greedy")
    outputs, _ = step(*IDS, LABELS)
    np.testing.assert_allclose(outputs, model(*IDS), rtol=0, atol=ROUNDING)


@pytest.mark.slow
def test_mean_is_the_logarithm_of_the_mean_probability_of_so_many_samples():
    _, step = _evaluation_step("mean", samples=3)
    found, loss = step(*IDS, LABELS)
    model, step = _evaluation_step("sample")
    samples = [tf.nn.softmax(step(*IDS, LABELS)[0]) for _ in range(3)]
    np.testing.assert_allclose(tf.exp(found), tf.reduce_mean(samples, axis=0), rtol=1e-5)
    expected = model.batch_loss(found, LABELS) + tf.add_n(model.losses)
    np.testing.assert_allclose(loss, expected, rtol=1e-5)


def test_in_pretraining_dev_is_scored_with_all_tokens():
    config, model = _model()
    method = method_of(config, model)
    everything = model(*IDS, selections=model.select(*IDS, how="all"))
    outputs = method.evaluation_step(*IDS, LABELS)[0]
    np.testing.assert_allclose(outputs, everything, rtol=0, atol=ROUNDING)
    assert np.abs(everything - model(*IDS)).max() > 100 * ROUNDING
    assert not method.extra_evaluations


def test_then_dev_is_scored_as_the_config_says_and_sampled_and_greedily():
    config, model = _model(selection="mean", samples=2)
    method = method_of(config, model)
    method.pretrained.assign(20)
    steps = {"mean": method.evaluation_step, **method.extra_evaluations}
    assert steps.keys() == {"mean", "sample", "greedy"}
    outputs = {name: [step(*IDS, LABELS)[0] for _ in range(8)] for name, step in steps.items()}
    different = {name: len({each.numpy().tobytes() for each in outputs[name]}) for name in steps}
    assert all((different[name] == 1) == (name == "greedy") for name in steps)
    np.testing.assert_allclose(outputs["greedy"][0], model(*IDS), rtol=0, atol=ROUNDING)


def test_no_score_on_dev_is_computed_twice():
    method = method_of(*_model(selection="sample"))
    method.pretrained.assign(20)
    assert method.extra_evaluations.keys() == {"greedy"}
    assert method.evaluation_step not in method.extra_evaluations.values()
