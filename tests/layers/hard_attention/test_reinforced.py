"""Reinforced self-attention: two samplers, two blocks, and what becomes of their choices."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import ReinforcedSelfAttention
from disan_tf.layers.hard_attention.samplers import merge_selections
from disan_tf.layers.tokens import pack
from tests.support.layers.contract import MaskContract
from tests.support.layers.samplers import (
    MASK,
    PATTERNS,
    X,
    as_selection,
    choose_only,
    fixed,
    randomised,
)

OPTIONS = {
    "two samplers": {},
    "one sampler, dropped": {"shared": True, "unselected": "drop"},
    "iterative": {"sampling": "iterative"},
}
each_kind = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


class TestReinforcedSelfAttention(MaskContract):
    kind = ReinforcedSelfAttention
    arguments = {"units": 6}
    units = 12
    bad_arguments = ({"dropout": 1.0}, {"unselected": "median"}, {"sampling": "slow"})

    def call(self, layer, x, mask, training=None):
        return layer(x, mask, fixed(mask), training=training)[0]

    def idle(self, layer):
        """Selections are what they are."""
        return [weight for it in layer.samplers.values() for weight in it.trainable_weights]


def _layer(**options):
    return randomised(ReinforcedSelfAttention(4, **options), seed=26)


def test_each_direction_has_its_own_selections():
    layer = _layer(sampling="iterative")
    heads, dependents = (
        [as_selection(pattern[rows : rows + len(MASK), :5] & MASK) for rows in (0, 4)]
        for pattern in PATTERNS
    )
    u, _ = layer(X, MASK, merge_selections(heads, dependents, MASK))
    blocks = (layer.forward_block, layer.backward_block)
    parts = [
        block(X, MASK, head.selected, dependent.selected)
        for block, head, dependent in zip(blocks, heads, dependents)
    ]
    np.testing.assert_array_equal(u, tf.concat(parts, axis=-1))


@each_kind
def test_a_call_without_selections_is_greedy(options):
    layer = _layer(**options)
    actual, expected = layer(X, MASK), layer(X, MASK, layer.select(X, MASK, "greedy"))
    for mine, theirs in zip(actual, expected):
        np.testing.assert_array_equal(mine, theirs)
    assert all(sampler.uniforms.calls == 0 for sampler in layer.samplers.values())


@each_kind
def test_the_log_probability_is_the_sum_over_the_samplers(options):
    layer = _layer(seed=1, **options)
    copy = _layer(seed=1, **options)
    selections = layer.select(X, MASK, "sample")
    parts = [it.select(X, MASK, "sample") for it in copy.samplers.values()]
    expected = sum(part.log_probability for part in parts)
    np.testing.assert_allclose(selections.log_probability, expected, rtol=1e-5)


@pytest.mark.parametrize(
    "options, samplers",
    [
        ({}, ["head", "dependent"]),
        ({"shared": True}, ["head"]),
        (
            {"sampling": "iterative"},
            ["forward_head", "forward_dependent", "backward_head", "backward_dependent"],
        ),
        ({"sampling": "iterative", "shared": True}, ["forward_head", "backward_head"]),
    ],
)
def test_the_samplers_are_as_the_options_say(options, samplers):
    layer = _layer(**options)
    assert list(layer.samplers) == samplers
    assert len({it.seed for it in layer.samplers.values()}) == len(samplers)
    backward = [name.startswith("backward") for name in samplers]
    assert [getattr(it, "backward", False) for it in layer.samplers.values()] == backward


@pytest.mark.parametrize("sampling, shared", [("parallel", True), ("iterative", False)])
def test_each_choice_arrives_where_it_belongs(sampling, shared):
    layer = _layer(sampling=sampling, shared=shared)
    chosen = {}
    for number, (name, sampler) in enumerate(layer.samplers.items()):
        chosen[name] = MASK & (np.arange(5) != number)
        choose_only(sampler, chosen[name])
    selections = layer.select(X, MASK, "sample")
    for number, side in enumerate(("forward", "backward")):
        head, dependent = (
            chosen.get(kind, chosen.get(f"{side}_{kind}")) for kind in ("head", "dependent")
        )
        np.testing.assert_array_equal(selections.heads[number], head)
        np.testing.assert_array_equal(selections.dependents[number], head if shared else dependent)


def _with_logarithm(value):
    return as_selection(MASK)._replace(log_probability=tf.fill([len(MASK)], value))


@pytest.mark.parametrize(
    "heads, dependents, expected",
    [("aa", "aa", 1.0), ("aa", "bb", 11.0), ("ab", "cd", 1111.0), ("ab", "ab", 11.0)],
)
def test_a_choice_that_serves_twice_counts_once(heads, dependents, expected):
    known = {name: _with_logarithm(10.0**power) for power, name in enumerate("abcd")}
    selections = merge_selections(
        [known[it] for it in heads], [known[it] for it in dependents], MASK
    )
    np.testing.assert_array_equal(selections.log_probability, np.full(len(MASK), expected))


@each_kind
def test_attend_shows_what_the_greedy_layer_computes(options):
    layer = _layer(**options)
    attended = layer.attend(X, MASK)
    selections, (u, mask) = layer.select(X, MASK, "greedy"), layer(X, MASK)
    assert MASK[:3].sum() > np.sum(selections.heads[0]) > 0
    for name in ("heads", "dependents"):
        shown, chosen = attended[f"selected_{name}"], getattr(selections, name)
        directions = 2 if "sampling" in options else 1
        expected = np.stack(chosen[:directions], axis=-1).astype(np.float32)
        np.testing.assert_array_equal(shown, expected)
    output = attended["output"]
    if options.get("unselected") == "drop":
        np.testing.assert_array_equal(attended["mask"], selections.heads[0])
        output, attended["mask"] = pack(output, attended["mask"])
    np.testing.assert_array_equal(attended["mask"], mask)
    np.testing.assert_allclose(output, u, rtol=1e-4, atol=1e-5)
