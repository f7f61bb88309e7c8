"""dtype="float64": every layer computes in float64, so that its gradients can be checked."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf import elmo, encoders, layers
from disan_tf.ops import (
    DIRECTIONS,
    attention_weights,
    available_forms,
    directional_attention,
    masked_softmax,
)
from tests.layers.test_keras import OF_TOKENS
from tests.support.layers.weights import draw_weights

MASK = tf.sequence_mask([5, 3, 1], 5)
STEP = 1e-5  # its square is the relative error of a central difference, and float32's is 1e-2
RANDOM = np.random.default_rng(7)
X, OTHER, DIRECTION = (tf.constant(RANDOM.normal(size=[3, 5, 6])) for _ in range(3))
ONE = [
    name
    for name in OF_TOKENS
    if name not in ("ReinforcedSelfAttention", "ReSAN", "SelectedSource2TokenEncoder")
]


def _all_selected(layer, x):
    return layer.select(x, MASK, "all") if layer.built else None


SEVERAL = {
    "ProjectedLSTM": (
        lambda **dtype: elmo.ProjectedLSTM(3, 4, cell_clip=3.0, **dtype),
        lambda layer, x: layer(x, MASK)[0],
    ),
    "ScalarMix": (
        lambda **dtype: elmo.ScalarMix(2, normalize=True, **dtype),
        lambda layer, x: layer(tf.stack([x, OTHER], axis=2), MASK),
    ),
    "FusionGate": (layers.FusionGate, lambda layer, x: layer(x, OTHER, mask=MASK)),
    "MultiDimAttention": (layers.MultiDimAttention, lambda layer, x: layer(x, OTHER[:, 0])),
    "VanillaAttention": (
        lambda **dtype: layers.VanillaAttention("multiplicative", **dtype),
        lambda layer, x: layer(x, OTHER[:, 0], mask=MASK),
    ),
    "MultiwayCoAttention": (
        lambda **dtype: layers.MultiwayCoAttention("B-Ca-Cs-D-M", **dtype),
        lambda layer, x: layer(x, OTHER, MASK, MASK)[0],
    ),
    "DRCN": (
        lambda **dtype: encoders.DRCN(3, 2, **dtype),
        lambda layer, x: layer(x, OTHER, MASK, MASK)[1],
    ),
    "SelectiveSelfAttention": (
        layers.SelectiveSelfAttention,
        lambda layer, x: layer(x, MASK, MASK, MASK),
    ),
    "ReSAN": (
        lambda **dtype: encoders.ReSAN(4, **dtype),
        lambda layer, x: layer(x, MASK, selections=_all_selected(layer, x)),
    ),
    "ClassificationHead": (
        lambda **dtype: layers.ClassificationHead(2, 3, **dtype),
        lambda layer, x: layer(x[:, 0]),
    ),
    "DRCNHead": (
        lambda **dtype: layers.DRCNHead(2, 9, **dtype),
        lambda layer, x: layer(x[:, 0]),
    ),
    "WordSoftmax": (
        lambda **dtype: layers.WordSoftmax(7, **dtype),
        lambda layer, x: layer(x[:, 0], tf.constant([1, 0, 6])),
    ),
}


def _total(y):
    weights = tf.cos(tf.range(tf.size(y, tf.int64), dtype=tf.float64))
    return tf.reduce_sum(tf.reshape(tf.square(y), [-1]) * weights)


def check_gradient(function, x, direction):
    """The derivative in a direction is the central difference, to the digits of float64."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
        assert y.dtype == tf.float64
        total = _total(y)
    actual = tf.reduce_sum(tape.gradient(total, x) * direction)
    ends = [_total(function(x + sign * STEP * direction)) for sign in (1, -1)]
    expected = (ends[0] - ends[1]) / (2 * STEP)
    assert abs(expected) > 1e-4
    np.testing.assert_allclose(actual, expected, rtol=1e-7)


@pytest.mark.parametrize("name", sorted([*ONE, *SEVERAL]))
def test_gradients_are_those_of_central_differences(name):
    if name in SEVERAL:
        make, call = SEVERAL[name]
        layer = make(dtype="float64")
    else:
        layer = OF_TOKENS[name]()
        layer = type(layer).from_config({**layer.get_config(), "dtype": "float64"})
        takes_mask = name not in ("Linear", "Highway", "Dropout")

        def call(layer, x):
            return layer(x, mask=MASK) if takes_mask else layer(x)

    call(layer, X)
    draw_weights(layer.trainable_weights, seed=4, size=0.4)
    check_gradient(lambda x: call(layer, x), X, DIRECTION)


@pytest.mark.parametrize("name", ["ReinforcedSequenceSampling", "IterativeSequenceSampling"])
def test_samplers_draw_in_float64_too(name):
    sampler = getattr(layers, name)(4, dtype="float64")
    sampler(X)
    selected, log_probability = sampler.select(X, MASK, "sample")
    assert selected.dtype == tf.bool and log_probability.dtype == tf.float64


@pytest.mark.parametrize("form", ["auto", "saved", *available_forms()])
def test_every_form_of_directional_attention_computes_in_float64(form):
    for direction in DIRECTIONS:
        options = {"direction": direction, "scale": 4.5}

        def attend(x, options=options):
            return directional_attention(x, OTHER, x, MASK, form=form, **options)

        weights = attention_weights(X, OTHER, MASK, direction=direction, scale=4.5)
        expected = tf.einsum("bjif,bif->bjf", weights, X)
        np.testing.assert_allclose(attend(X), expected, rtol=1e-13, atol=1e-14)
        check_gradient(attend, X, DIRECTION)


def test_a_scale_that_no_float32_holds_is_exact():
    options = {"direction": "forward", "scale": 4.9}
    plain = directional_attention(X, OTHER, X, MASK, form="plain", **options)
    np.testing.assert_allclose(directional_attention(X, OTHER, X, MASK, **options), plain, 1e-13)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float64"])
def test_a_softmax_has_at_least_float32(dtype):
    weights = masked_softmax(tf.cast(X, dtype), MASK[:, :, None], axis=1)
    assert weights.dtype == ("float64" if dtype == "float64" else "float32")


def test_attention_tensors_of_a_float64_layer_sum_to_one_in_float64():
    layer = encoders.DiSAN(4, dtype="float64")
    layer(X)
    tensors = layer.attend(X, MASK)
    assert {tensor.dtype for tensor in tensors.values()} == {tf.float64}
    sums = tf.reduce_sum(tensors["source2token"], axis=1)
    np.testing.assert_allclose(sums, np.ones(sums.shape), rtol=1e-14)
