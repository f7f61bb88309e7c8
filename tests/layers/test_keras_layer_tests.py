"""Keras' tests of a layer, `layer_test` (Keras 2) and `run_layer_test` (Keras 3), on ours.

`layer_test` calls layers with one input. Neither test calls layers that need a mask.
"""

from importlib import import_module

import numpy as np
import pytest
import tensorflow as tf

from disan_tf import elmo, layers
from disan_tf.common.keras_version import is_keras_3
from tests.layers.test_keras import OF_TOKENS
from tests.layers.test_output_shape import OF_PAIRS, OF_VECTORS, QUERY, SEVERAL, X

IDS = np.array([[2, 3, 6], [5, 1, 0]], np.int32)
CHARACTERS = np.arange(54, dtype=np.int32).reshape(2, 3, 9)
OF_NUMBERS = {  # a new layer, and its input
    "TokenEncoder": (lambda: elmo.TokenEncoder(4, [[1, 3], [2, 3]]), CHARACTERS),
    "WordEmbedding": (lambda: layers.WordEmbedding(5, 2, 4), IDS),
}
MADE = {
    **OF_TOKENS,
    **OF_VECTORS,
    **{name: made[0] for name, made in {**OF_NUMBERS, **SEVERAL}.items()},
}
QUICK = {"Linear", "FusionGate", "VanillaAttention", "MultiwayCoAttention", "BasicGRU", "DSAHead"}
QUICK |= {"WordEmbedding"}
EACH = [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in sorted(MADE)]
pytestmark = pytest.mark.filterwarnings(
    "ignore:`shuffle=True`",
    "ignore:Gradients do not exist",
    "ignore:The model does not have any trainable weights",
)


def _arguments(layer):
    config = layer.get_config()
    return {key: config[key] for key in config if key not in ("name", "trainable", "dtype")}


def _input(name):
    """The input of a layer that has one beside its masks."""
    if name in OF_NUMBERS:
        return OF_NUMBERS[name][1]
    return QUERY if name in OF_VECTORS else X


def _inputs(name):
    """Arguments of `run_layer_test`; Keras draws the values of several inputs."""
    if name not in SEVERAL:
        return {"input_data": _input(name)}
    _, inputs = SEVERAL[name]
    return {
        "input_shape": {f"{key}_shape": x.shape for key, x in inputs.items()},
        "input_dtype": {f"{key}_shape": x.dtype.name for key, x in inputs.items()},
        "call_kwargs": OF_PAIRS if "second" in inputs else {},
    }


@pytest.mark.parametrize("name", EACH)
def test_a_layer_passes_the_test_of_keras(name):
    layer = MADE[name]()
    if name == "ReinforcedSelfAttention":
        pytest.skip("its second output is a mask, which the test wants to train")
    if is_keras_3():
        from keras.src.testing import TestCase

        TestCase().run_layer_test(
            type(layer),
            init_kwargs=_arguments(layer),
            **_inputs(name),
            # The frequencies of words are float64, since float32 would not distinguish rare words.
            run_mixed_precision_check=name != "WordSoftmax",
            run_training_check=name not in SEVERAL,  # which would give a dictionary to `call`
            supports_masking=layer.supports_masking,
            assert_built_after_instantiation=False,
        )
        return
    if name in {*SEVERAL, "TokenEncoder"}:
        pytest.skip("the test of Keras 2 gives one input, at times as floats")
    keras = tf.keras.Model.__module__.partition(".")[0]  # "keras" or "tf_keras"
    import_module(f"{keras}.src.testing_infra.test_utils").layer_test(
        type(layer),
        _arguments(layer),
        input_data=_input(name),
        expected_output_dtype="float32",
        supports_masking=layer.supports_masking,
    )
