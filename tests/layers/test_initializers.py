"""He's rule, and what it counts."""

import json

import numpy as np
import pytest

from disan_tf.layers import Convolution, Linear
from disan_tf.layers.initializers import he_normal, variance_factor


def _linear(initializer):
    layer = Linear(400, kernel_initializer=initializer)
    layer.build([None, None, 300])
    return layer, layer.dense.kernel, 300


def _convolution(initializer):
    layer = Convolution(100, width=5, kernel_initializer=initializer)
    layer.build([None, None, 300])
    return layer, layer.kernel, 5 * 300


each_map = pytest.mark.parametrize("make", [_linear, _convolution])


@each_map
@pytest.mark.parametrize("keep", [1.0, 0.8, 0.2])
def test_weights_are_normal_with_the_deviation_of_he_times_the_root_of_the_factor(make, keep):
    _, kernel, inputs = make(he_normal(3, keep))
    deviation = (2.0 * keep / inputs) ** 0.5
    assert np.std(kernel) == pytest.approx(deviation, rel=0.01)
    assert np.mean(kernel) == pytest.approx(0.0, abs=0.01 * deviation)
    assert np.mean(np.abs(kernel) > 2 * deviation) == pytest.approx(0.0455, rel=0.05)  # not cut off


@each_map
def test_a_seed_gives_the_same_weights_and_another_gives_others(make):
    first, again, other = (make(he_normal(seed))[1].numpy() for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.mean(first == other) < 0.01


@each_map
def test_it_survives_the_configuration_of_its_layer(make):
    layer, kernel, _ = make(he_normal(4, 0.8))
    config = json.loads(json.dumps(layer.get_config()))
    copy = type(layer).from_config(config)
    assert copy.get_config() == config
    np.testing.assert_array_equal(copy.kernel_initializer(kernel.shape), kernel)


@pytest.mark.parametrize(
    "init_scale, rate, factor",
    [("keep", 0.2, 0.8), ("keep", 0.0, 1.0), ("rate", 0.2, 0.2), ("rate", 0.0, 1.0)],
)
def test_dropout_scales_the_variance(init_scale, rate, factor):
    assert variance_factor(init_scale, rate) == factor


def test_an_unknown_scale_is_refused_by_name():
    with pytest.raises(ValueError, match="init_scale=drop must be keep or rate"):
        variance_factor("drop", 0.2)
