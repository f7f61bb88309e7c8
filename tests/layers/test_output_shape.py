"""Shapes and specifications of outputs, computed without a call and without side effects."""

import random

import numpy as np
import pytest
import tensorflow as tf

from disan_tf import encoders, layers
from disan_tf.common.keras_version import is_keras_3
from tests.layers.test_keras import DIM, OF_TOKENS

X = np.random.default_rng(1).normal(size=[2, 3, DIM]).astype(np.float32)
QUERY = X[:, 0]
SEVERAL = {  # a new layer of several inputs, and the inputs by name
    "DRCN": (lambda **o: encoders.DRCN(3, 2, **o), {"first": X, "second": X[:, :2]}),
    "DRCN with bottlenecks": (
        lambda **o: encoders.DRCN(3, 3, "lstm", bottleneck_units=5, **o),
        {"first": X, "second": X[:, :2]},
    ),
    "FusionGate": (layers.FusionGate, {"h": X, "s": X}),
    "MultiDimAttention": (layers.MultiDimAttention, {"x": X, "query": QUERY}),
    "MultiwayCoAttention": (
        lambda **o: layers.MultiwayCoAttention("B-Ca-Cs-D-M", **o),
        {"first": X, "second": X[:, :2]},
    ),
    "VanillaAttention": (layers.VanillaAttention, {"x": X, "query": QUERY}),
    "WordSoftmax": (
        lambda **o: layers.WordSoftmax(5, 2, **o),
        {"h": X[0], "words": np.arange(3, dtype=np.int32)},
    ),
}
OF_PAIRS = {"first_mask": np.ones([2, 3], bool), "second_mask": np.ones([2, 2], bool)}
OF_VECTORS = {
    "ClassificationHead": lambda **o: layers.ClassificationHead(4, 3, **o),
    "DRCNHead": lambda **o: layers.DRCNHead(4, 3, **o),
    "DSAHead": lambda **o: layers.DSAHead(4, 3, **o),
}
NAMES = [*OF_TOKENS, *OF_VECTORS, *SEVERAL]
needs_keras_3 = pytest.mark.skipif(not is_keras_3(), reason="needs Keras 3")


def new_layer(name, dtype="float32"):
    """A new layer and its inputs by name, but for masks."""
    if name in SEVERAL:
        make, inputs = SEVERAL[name]
        return make(dtype=dtype), inputs
    if name in OF_VECTORS:
        return OF_VECTORS[name](dtype=dtype), {"x": QUERY}
    config = OF_TOKENS[name]().get_config()
    return type(OF_TOKENS[name]()).from_config({**config, "dtype": dtype}), {"x": X}


def _call(layer, inputs):
    masks = OF_PAIRS if "second" in inputs else {}
    return layer(*inputs.values(), **masks)


def _shapes(outputs):
    return [tuple(output.shape) for output in tf.nest.flatten(outputs)]


@pytest.mark.parametrize("name", NAMES)
def test_the_shape_is_that_of_a_call_and_leaves_the_layer_unbuilt(name):
    layer, inputs = new_layer(name)
    state = random.getstate()
    found = layer.compute_output_shape(*(x.shape for x in inputs.values()))
    assert random.getstate() == state
    assert not layer.built and not layer.weights
    output = _call(layer, inputs)
    found = list(found) if isinstance(output, (list, tuple)) else [found]
    assert [tuple(shape) for shape in found] == _shapes(output)


@needs_keras_3
@pytest.mark.parametrize("policy", ["float32", "mixed_float16"])
@pytest.mark.parametrize("name", NAMES)
def test_the_spec_is_that_of_a_call_before_and_after_building(name, policy):
    layer, inputs = new_layer(name, policy)
    specs = [tf.keras.KerasTensor(x.shape, x.dtype.name) for x in inputs.values()]
    masks = {}
    if "second" in inputs:
        masks = {key: tf.keras.KerasTensor(x.shape, "bool") for key, x in OF_PAIRS.items()}
    state = random.getstate()
    before = layer.compute_output_spec(*specs, **masks)
    assert random.getstate() == state and not layer.built and not layer.weights
    output = _call(layer, inputs)
    after = layer.compute_output_spec(*specs, **masks)
    expected = [(shape, x.dtype.name) for shape, x in zip(_shapes(output), tf.nest.flatten(output))]
    for found in (before, after):
        found = tf.nest.flatten(found)
        assert [x.dtype for x in found] == [dtype for _, dtype in expected]
        for x, (shape, _) in zip(found, expected):
            assert all(size in (None, real) for size, real in zip(x.shape, shape))
            assert len(x.shape) == len(shape)


class _Own(encoders.SentenceEncoder):
    """An encoder of another package, without an `output_size`."""

    def call(self, x, mask=None, training=None):
        return x[:, 0, :4]


def test_the_shape_of_a_layer_of_another_package_is_traced_on_a_copy():
    layer = _Own()
    assert tuple(layer.compute_output_shape([None, 3, DIM])) == (None, 4)
    assert not layer.built
