"""The native linear attention: arguments, rows that are not read, batches, float64."""

from unittest import mock

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.ops import DIRECTIONS
from disan_tf.ops.interpolation import RANKS, widest
from disan_tf.ops.native import attention, runtime
from tests.support.ops.attention_problems import (
    assert_close,
    assert_gradients_are_slopes,
    assert_nan_spreads_as_in_the_plain_form,
    attend,
    make_inputs,
    make_mask,
    noise,
    reference,
    unread_rows,
)
from tests.support.ops.backends import needs_native

pytestmark = needs_native
INVALID = tf.errors.InvalidArgumentError


@pytest.fixture(autouse=True)
def _interpolate_short_ones_too():
    with mock.patch.object(attention, "PAIRS_PER_NODE", 0):
        yield


def _call(ranks=7, pairs_per_node=0, **wrong):
    arguments = {
        **dict.fromkeys(["head", "dependent", "value"], tf.ones([2, 4, 3])),
        **dict.fromkeys(["mask", "head_mask"], tf.ones([2, 4], tf.bool)),
    }
    names = ("upstream", "exact", "denominator", "slope")
    is_gradient = set(wrong) & set(names)
    if is_gradient:
        arguments.update(dict.fromkeys(names, tf.ones([2, 4, 3])))
    name = "disan_linear_attention" + ("_gradient" if is_gradient else "")
    options = {} if is_gradient else {"Real": tf.float32}
    return getattr(runtime.operations(), name)(
        **{**arguments, **wrong},
        **options,
        direction="forward",
        scale=5.0,
        widest=[1.0] * ranks,
        pairs_per_node=pairs_per_node,
    )


@pytest.mark.parametrize(
    "name", ["dependent", "value", "mask", "head_mask", "upstream", "exact", "denominator", "slope"]
)
def test_a_wrong_shape_is_refused(name):
    wrong = tf.ones([2, 5], tf.bool) if "mask" in name else tf.ones([2, 5, 3])
    with pytest.raises(INVALID, match=f"{name} has shape"):
        _call(**{name: wrong})


def test_more_ranks_than_there_are_is_refused():
    with pytest.raises(INVALID, match="widest has 8 numbers, expected 7 or fewer"):
        _call(ranks=8)


def test_nodes_that_cost_any_number_of_pairs_leave_exact_pairs():
    names = ("head", "dependent", "value")
    inputs = dict(zip(names, tf.constant(make_inputs(2, 4, 3, size=0.1), tf.float32)))
    costs = (0, 1 << 40, 1 << 62)  # the last times four tokens is 0 in 64 bits
    free, dear, dearest = (_call(pairs_per_node=cost, **inputs).context for cost in costs)
    assert np.any(free != dear)
    np.testing.assert_array_equal(dear, dearest)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_float64_differs_by_the_interpolation_alone(direction):
    """With the most nodes and heads close together, values and slopes are those of the formula."""
    inputs, mask = make_inputs(2, 7, 19, size=0.4), make_mask(2, 7)
    head_mask = make_mask(2, 7, seed=1)
    options = {"direction": direction, "head_mask": head_mask}
    only_the_last = (0.0,) * (len(RANKS) - 1) + widest(5.0)[-1:]
    with mock.patch.object(attention, "widest", lambda _: only_the_last):
        context, *_ = attend("linear", inputs, mask, "float64", **options)
        assert_close(context, reference(*inputs, mask, **options), 1e-12)
        assert_gradients_are_slopes(
            lambda *inputs: attend("linear", inputs, mask, "float64", **options),
            lambda *inputs: reference(*inputs, mask, **options),
            inputs,
        )


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_unselected_rows_are_never_read_and_get_exactly_0(dtype):
    for tensor, rows in zip(*unread_rows("linear", dtype)):
        assert not tensor.numpy()[~rows].any()


def test_a_sentence_does_not_depend_on_its_batch_nor_on_its_padding():
    """Though the others' heads need more nodes, or none suffice."""
    inputs, mask = make_inputs(3, 30, 40), make_mask(3, 30)
    inputs[0] *= np.array([0.2, 2.0, 20.0])[:, None, None]
    mask[0, 25:] = False
    together = attend("linear", inputs, mask, direction="forward", head_mask=mask)
    alone = [tf.constant(tensor[:1, :25], tf.float32) for tensor in inputs]
    mask = tf.constant(mask[:1, :25])
    with tf.GradientTape() as tape:
        tape.watch(alone)
        context = attention.native_linear_attention(
            *alone, mask, direction="forward", head_mask=mask
        )
        total = tf.reduce_sum(context * noise([3, 30, 40])[:1, :25])
    for ours, expected in zip([context, *tape.gradient(total, alone)], together):
        np.testing.assert_array_equal(ours[0], expected[0, :25])


@pytest.mark.parametrize("argument", [0, 1])
def test_nan_is_where_the_plain_form_has_it(argument):
    assert_nan_spreads_as_in_the_plain_form("linear", argument)
