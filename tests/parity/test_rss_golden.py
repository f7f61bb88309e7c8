"""Reinforced sequence sampling against the authors' code."""

import pytest
import tensorflow as tf

from disan_tf.layers import ReinforcedSequenceSampling
from disan_tf.layers.hard_attention.samplers import (
    log_probability,
    merge_selections,
    sampling_features,
)
from tests.support.golden import official

pytestmark = pytest.mark.usefixtures("each_backend")
REAL = official.names("rss_real_*.npz")
FAKE = "rss_fake.npz"  # everything is selected


def _sampler(name):
    """The golden file's arrays, x, mask, our sampler with its weights, and the variables."""
    arrays, meta = official.load(name)
    x, mask = tf.constant(arrays["in/x"]), tf.constant(arrays["in/mask"])
    units = len(official.by_our_path(arrays)["hidden.dense.bias"])
    sampler = ReinforcedSequenceSampling(units, meta.get("activation", "elu"))
    sampler(x, mask=mask)
    sampler.uniforms = lambda shape: tf.constant(arrays["in/u"])
    return arrays, x, mask, sampler, official.assign(sampler, arrays)


def _fraction(selection, mask):
    return merge_selections([selection], [selection], mask).head_fraction


@pytest.mark.parametrize("name", REAL)
def test_features_and_hidden_units_equal_the_authors(name):
    arrays, x, mask, sampler, _ = _sampler(name)
    found = sampling_features(x, mask)
    official.assert_close(found, arrays["t/feature"], "features")
    official.assert_close(sampler.hidden(found), arrays["t/h1"], "hidden units")


@pytest.mark.parametrize("name", REAL)
def test_probabilities_equal_the_authors_on_real_tokens(name):
    arrays, x, mask, sampler, _ = _sampler(name)
    found, real = sampler(x, mask=mask), arrays["in/mask"]
    official.assert_close(found[mask], arrays["t/prob"][real], "probabilities")


@pytest.mark.parametrize("name", REAL)
def test_the_same_uniforms_select_what_the_authors_select(name):
    arrays, x, mask, sampler, _ = _sampler(name)
    selection = sampler.select(x, mask, "sample")
    assert (selection.selected.numpy() == arrays["t/actions"]).all()
    log_probabilities = arrays["out/logpa"].sum(axis=1)
    official.assert_close(selection.log_probability, log_probabilities, "log-probability")
    official.assert_close(_fraction(selection, mask), arrays["out/percentage"], "fraction")


def _of_tokens(sampler, x, mask):
    """The log-probability of what is chosen for each token, <float32>[batch, length]."""
    selected, probabilities = sampler.choose(x, mask, "sample")
    each_token = [tf.reshape(tensor, [-1, 1]) for tensor in (probabilities, selected, mask)]
    return tf.reshape(log_probability(*each_token), tf.shape(mask))


@pytest.mark.parametrize("name", REAL)
def test_log_probabilities_of_tokens_and_their_gradients_equal_the_authors(name):
    arrays, x, mask, sampler, variables = _sampler(name)
    official.assert_close(_of_tokens(sampler, x, mask), arrays["out/logpa"], "log-probabilities")

    def total():
        return tf.reduce_sum(_of_tokens(sampler, x, mask) * arrays["R/logpa"])

    official.check_gradients(variables, arrays, total, prefix="gvar")
    official.check_gradients({"x": x}, arrays, total, prefix="gin")


def test_the_authors_fake_selection_is_ours_of_all_tokens():
    arrays, x, mask, sampler, _ = _sampler(FAKE)
    selection = sampler.select(x, mask, "all")
    assert (selection.selected.numpy() == arrays["t/actions"]).all()
    official.assert_close(_fraction(selection, mask), arrays["out/percentage"], "fraction")


def test_a_selection_of_all_tokens_teaches_the_sampler_nothing():
    """The authors' log-probabilities are 1 there and ours 0, both of which are constant."""
    arrays, x, mask, sampler, variables = _sampler(FAKE)
    assert (arrays["out/logpa"] == 1.0).all()

    def total():
        return tf.reduce_sum(sampler.select(x, mask, "all").log_probability)

    assert total() == 0.0
    official.check_gradients(variables, arrays, total, prefix="gvar")
    official.check_gradients({"x": x}, arrays, total, prefix="gin")


def test_each_golden_file_of_samplers_is_tested():
    assert set(official.names("rss_*.npz")) == {*REAL, FAKE}
