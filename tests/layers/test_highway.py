"""The highway layer, and the classification head that has one."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import Highway
from disan_tf.layers.heads.classification import ClassificationHead
from tests.support.layers.contract import BAD_DROPOUT, SequenceContract, VectorContract
from tests.support.layers.samplers import X, randomised
from tests.support.layers.weights import mapped


class TestHighway(SequenceContract):
    kind = Highway
    bad_arguments = BAD_DROPOUT


class TestClassificationHeadWithHighway(VectorContract):
    kind = ClassificationHead
    arguments = {"classes": 3, "hidden_units": 6, "highway": True}
    units = 3
    output_dtype = "float32"
    bad_arguments = BAD_DROPOUT


@pytest.mark.parametrize("activation, function", [("elu", np.expm1), ("relu", np.zeros_like)])
def test_it_mixes_a_new_part_with_its_input(activation, function):
    layer = randomised(Highway(activation))
    x = X.numpy().astype(np.float64)
    new = mapped(layer.transform, x)
    new = np.where(new > 0, new, function(np.minimum(new, 0.0)))
    gate = 1 / (1 + np.exp(-mapped(layer.gate, x)))
    np.testing.assert_allclose(layer(X), gate * new + (1 - gate) * x, rtol=1e-5, atol=1e-6)


def test_both_matrices_decay():
    layer = randomised(Highway(l2=2.0))
    kernels = [linear.dense.kernel for linear in (layer.transform, layer.gate)]
    np.testing.assert_allclose(layer.losses, [np.sum(np.square(k)) for k in kernels], rtol=1e-6)


def test_dropout_leaves_what_is_passed_on_alone():
    layer = randomised(Highway(dropout=0.5))
    for linear in (layer.transform, layer.gate):
        linear.dropout.keep = lambda entries: tf.zeros([entries], tf.bool)
    gate, new = (linear(tf.zeros_like(X)) for linear in (layer.gate, layer.transform))
    expected = gate * new + (1.0 - gate) * X
    np.testing.assert_allclose(layer(X, training=True), expected, rtol=1e-6)


def test_both_maps_draw_masks_of_their_own():
    layer = randomised(Highway(dropout=0.5, seed=3))
    assert layer.transform.dropout.seed != layer.gate.dropout.seed


def _head(**options):
    head = ClassificationHead(3, 4, highway=True, **options)
    return randomised(head)


def test_a_heads_highway_stands_between_hidden_layer_and_logits():
    head = _head(activation="relu")
    hidden = head.hidden(X[:, 0])
    assert head.highway.activation is tf.keras.activations.relu
    np.testing.assert_array_equal(head(X[:, 0]), head.logits(head.highway(hidden)))


def test_a_heads_highway_shares_its_dropout_and_weight_decay():
    highway = _head(dropout=0.5, l2=0.25, seed=3).highway
    assert (highway.dropout, highway.l2) == (0.5, 0.25)
    assert highway.seed != _head(seed=4).highway.seed


def test_a_head_has_no_highway_by_default():
    head = randomised(ClassificationHead(3, 4))
    assert not head.get_config()["highway"]
    np.testing.assert_array_equal(head(X[:, 0]), head.logits(head.hidden(X[:, 0])))


def test_a_heads_highway_drops_in_training():
    head = _head(dropout=0.5)
    head(X[:, 0], training=True)
    head(X[:, 0], training=False)
    assert int(head.highway.transform.dropout.calls) == 1
