"""Reinforced sequence sampling: its probabilities, and what all samplers do with them."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import IterativeSequenceSampling, ReinforcedSequenceSampling
from disan_tf.layers.hard_attention.samplers import (
    Uniforms,
    log_probability,
    sampling_features,
)
from tests.support.layers.contract import BAD_DROPOUT, MaskContract
from tests.support.layers.samplers import MASK, X, randomised

SAMPLERS = (ReinforcedSequenceSampling, IterativeSequenceSampling)
DRAWS = 4000
each_sampler = pytest.mark.parametrize("sampler_class", SAMPLERS)


class TestReinforcedSequenceSampling(MaskContract):
    kind = ReinforcedSequenceSampling
    arguments = {"units": 6}
    units = 1
    output_dtype = "float32"
    bad_arguments = BAD_DROPOUT

    def call(self, layer, x, mask, training=None):
        return super().call(layer, x, mask, training)[:, :, None]


@pytest.mark.parametrize("dtype,bound", [("float32", 1e-6), ("mixed_bfloat16", 2e-2)])
def test_one_product_of_the_mean_equals_the_product_of_all_features(dtype, bound):
    sampler = randomised(ReinforcedSequenceSampling(4, "tanh", dtype=dtype))
    results = []
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(X)
        x = tf.cast(X, sampler.compute_dtype)
        hidden = sampler.hidden(sampling_features(x, tf.constant(MASK)))
        score = tf.cast(sampler.score(hidden)[:, :, 0], tf.float32)
        expected = tf.where(MASK, tf.sigmoid(score), 0.0)
        found = sampler(X, mask=tf.constant(MASK))
    for probabilities in (found, expected):
        sources = [X, *sampler.trainable_weights]
        results.append([probabilities, *tape.gradient(probabilities, sources)])
    for ours, exact in zip(*results):
        np.testing.assert_allclose(ours, exact, rtol=bound, atol=bound)


@each_sampler
@pytest.mark.parametrize("how", ["sample", "greedy"])
def test_padding_is_never_selected(sampler_class, how):
    sampler = randomised(sampler_class(4))
    sampler.thresholds = lambda shape, how: tf.zeros(shape)  # every probability reaches 0
    selected, logarithm = sampler.select(X, MASK, how)
    np.testing.assert_array_equal(selected, MASK)
    assert selected.dtype == tf.bool and logarithm.dtype == tf.float32
    assert logarithm.shape == [len(MASK)] and logarithm[-1] == 0  # of an empty sentence


@each_sampler
def test_greedy_selects_what_is_at_least_as_probable_as_not(sampler_class):
    sampler = randomised(sampler_class(4), seed=4)
    selected = sampler.select(X, MASK, "greedy").selected.numpy()
    np.testing.assert_array_equal(selected, sampler(X, mask=MASK).numpy() >= 0.5)
    assert selected.any() and (MASK & ~selected).any()


def _many(x, mask):
    """The first sentence, DRAWS times."""
    return tf.repeat(x[:1], DRAWS, axis=0), np.repeat(mask[:1], DRAWS, axis=0)


@each_sampler
def test_choices_are_as_frequent_as_their_log_probability_says(sampler_class):
    sampler = randomised(sampler_class(4), size=0.5)
    selected, logarithm = sampler.select(*_many(X, MASK), "sample")
    codes = selected.numpy() @ (1 << np.arange(5))
    _, first, found = np.unique(codes, return_index=True, return_counts=True)
    expected = DRAWS * np.exp(logarithm.numpy()[first])
    assert len(found) == 32 and abs(expected.sum() - DRAWS) < 0.1
    chi_squared = np.sum((found - expected) ** 2 / expected)  # mean 31, variance 62
    assert chi_squared < 31 + 3 * 62**0.5


def _samples(sampler, calls):
    return np.stack([sampler.select(X, MASK, "sample").selected for _ in range(calls)])


def _sampler(sampler_class, seed=3):
    return randomised(sampler_class(4, seed=seed), size=0.3)


@each_sampler
def test_samples_are_a_function_of_seed_and_call(sampler_class):
    tf.random.set_seed(1)
    expected = _samples(_sampler(sampler_class), 3)
    tf.random.set_seed(2)
    np.testing.assert_array_equal(_samples(_sampler(sampler_class), 3), expected)
    assert np.any(_samples(_sampler(sampler_class, seed=4), 3) != expected)
    assert np.any(expected[0] != expected[1])


@each_sampler
def test_a_restored_sampler_goes_on_as_the_saved_one_would(sampler_class, tmp_path):
    sampler, resumed = _sampler(sampler_class), _sampler(sampler_class)
    _samples(sampler, 2)
    path = tf.train.Checkpoint(layer=sampler).write(str(tmp_path / "sampler"))
    tf.train.Checkpoint(layer=resumed).read(path).assert_consumed()
    np.testing.assert_array_equal(_samples(resumed, 3), _samples(sampler, 3))


@pytest.mark.parametrize("jit_compile", [None, True])
def test_uniforms_are_tensorflows_also_under_xla(jit_compile):
    uniforms = Uniforms(seed=3)
    uniforms(tf.constant([1]))  # creates the count of calls
    numbers = tf.function(lambda: uniforms(tf.constant([5, 37])), jit_compile=jit_compile)()
    expected = tf.random.stateless_uniform([5, 37], [3, 2], alg="philox")
    np.testing.assert_array_equal(numbers, expected)


@pytest.mark.parametrize("p, selected", [(0.0, True), (1.0, False)])
def test_what_cannot_be_chosen_counts_as_the_least_probability(p, selected):
    arguments = tf.constant([[p, 0.5]]), np.array([[selected, True]]), np.ones([1, 2], bool)
    np.testing.assert_allclose(log_probability(*arguments), [np.log(1e-10) + np.log(0.5)])


def test_a_clipped_probability_has_a_finite_gradient():
    p = tf.Variable([[0.0, 1.0, 0.25]])
    with tf.GradientTape() as tape:
        total = log_probability(p, np.array([[True, False, True]]), np.ones([1, 3], bool))
    np.testing.assert_array_equal(tape.gradient(total, p), [[0, 0, 4]])


@each_sampler
def test_a_log_probability_has_gradients_for_every_weight(sampler_class):
    sampler = _sampler(sampler_class)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(sampler.select(X, MASK, "sample").log_probability)
    for gradient in tape.gradient(total, sampler.trainable_weights):
        assert np.isfinite(gradient).all() and np.any(gradient)


@each_sampler
def test_dropout_makes_probabilities_noisy_in_training_alone(sampler_class):
    sampler = randomised(sampler_class(4, dropout=0.5))
    still, noisy = (
        np.stack([sampler.select(X, MASK, "greedy", training).log_probability for _ in range(3)])
        for training in (None, True)
    )
    assert not np.ptp(still, axis=0).any() and np.ptp(noisy, axis=0)[:3].all()


def test_an_unknown_way_to_choose_is_refused():
    sampler, how = randomised(ReinforcedSequenceSampling(4)), "some"
    with pytest.raises(ValueError, match=f"how={how} must be all, sample or greedy"):
        sampler.select(X, MASK, how)
