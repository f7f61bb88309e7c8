"""ReSAN and its ablations: their sizes, and what selections do to a sentence's vector."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.encoders import ENCODERS, ReSAN
from disan_tf.layers.hard_attention.samplers import merge_selections
from disan_tf.layers.keras_layer import sublayers
from disan_tf.layers.tokens import pack
from tests.support.layers.samplers import DIM, MASK, PATTERNS, X, as_selection, randomised

SELECTED = PATTERNS[0, : len(MASK), : MASK.shape[1]] & MASK
NOTHING = np.zeros_like(MASK)
KINDS = {
    "resan, dropped": ("resan", {"units": 4, "unselected": "drop"}),
    "resan, iterative": ("resan", {"units": 4, "sampling": "iterative"}),
    "selected_source2token": ("selected_source2token", {"units": 4}),
}
each_kind = pytest.mark.parametrize("name, options", KINDS.values(), ids=KINDS)


def _encoder(name, options, **others):
    return randomised(ENCODERS[name](**options, **others), seed=11)


def _same(selected):
    chosen = [as_selection(selected)] * 2
    return merge_selections(chosen, chosen, MASK)


@pytest.mark.parametrize(
    "name, options",
    [("resan", {"units": 4, "shared": True, "unselected": "drop"}), ("selected_source2token", {})],
)
def test_words_that_are_dropped_might_as_well_not_stand_in_the_sentence(name, options):
    encoder = _encoder(name, options)
    actual = encoder(X, mask=MASK, selections=_same(SELECTED))
    shorter, mask = pack(X, SELECTED)
    selections = encoder.select(shorter, mask, "all")
    expected = encoder(shorter, mask=mask, selections=selections)
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "name, options", [("resan", {"unselected": "drop"}), ("selected_source2token", {})]
)
def test_where_every_word_is_dropped_the_vector_is_zero(name, options):
    encoder = _encoder(name, options)
    selected = NOTHING.copy()
    selected[0, 1:3] = True
    vectors = encoder(X, mask=MASK, selections=_same(selected)).numpy()
    assert vectors[0].all() and not vectors[1:].any()
    assert not np.any(encoder(X, mask=MASK, selections=_same(NOTHING)))


@pytest.mark.parametrize("unselected", ["mean", "mean_of_others"])
def test_where_no_word_is_selected_resan_still_reads_the_sentence(unselected):
    encoder = _encoder("resan", {"unselected": unselected})
    vectors = encoder(X, mask=MASK, selections=_same(NOTHING)).numpy()
    assert vectors[:3].all() and not vectors[3].any()  # the last sentence is empty


@each_kind
def test_the_samplers_of_an_encoder_are_found(name, options):
    encoder = _encoder(name, options)
    uniforms = [layer for layer in sublayers(encoder) if type(layer).__name__ == "Uniforms"]
    assert {id(each) for each in uniforms} == {id(each.uniforms) for each in encoder.samplers}
    assert len({each.seed for each in uniforms}) == len(uniforms)


@each_kind
def test_without_selections_an_encoder_is_greedy(name, options):
    encoder = _encoder(name, options)
    selections = encoder.select(X, MASK, "greedy")
    assert 0 < np.sum(selections.heads[0]) < MASK.sum()
    actual, expected = encoder(X, mask=MASK), encoder(X, mask=MASK, selections=selections)
    np.testing.assert_array_equal(actual, expected)


@each_kind
def test_the_loss_and_the_policy_move_weights_of_their_own(name, options):
    encoder = _encoder(name, options)
    with tf.GradientTape(persistent=True) as tape:
        selections = encoder.select(X, MASK, "sample")
        total = tf.reduce_sum(encoder(X, mask=MASK, selections=selections))
        log_probability = tf.reduce_sum(selections.log_probability)
    samplers = {id(it) for sampler in encoder.samplers for it in sampler.trainable_weights}
    weights = encoder.trainable_weights
    of_loss, of_policy = (tape.gradient(it, weights) for it in (total, log_probability))
    for weight, from_loss, from_policy in zip(weights, of_loss, of_policy):
        of_sampler = id(weight) in samplers
        assert (from_loss is None) == of_sampler, weight.name
        assert (from_policy is None) != of_sampler, weight.name


def test_selected_words_are_heads_and_dependents_alike():
    selections = _encoder("selected_source2token", {}).select(X, MASK, "sample")
    assert len(selections.heads) == len(selections.dependents) == 1
    np.testing.assert_array_equal(selections.heads[0], selections.dependents[0])


def test_what_resan_cannot_do_is_refused_when_it_is_built():
    with pytest.raises(
        ValueError, match="unselected=drop must be mean or mean_of_others with iterative sampling"
    ):
        ReSAN(sampling="iterative", unselected="drop").build([None, None, DIM])
