"""The test of a layer that Keras 3 has, `run_layer_test`, on ours."""

import pytest

from disan_tf.common.keras_version import CHOICE, is_keras_3
from tests.layers.test_keras import OF_TOKENS
from tests.layers.test_output_shape import OF_PAIRS, OF_VECTORS, QUERY, SEVERAL, X

pytestmark = pytest.mark.skipif(
    not is_keras_3(), reason=f"needs TensorFlow 2.16 or later, and {CHOICE}=3 (make test-keras3)"
)
MADE = {**OF_TOKENS, **OF_VECTORS, **{name: make for name, (make, _) in SEVERAL.items()}}
QUICK = {"Linear", "FusionGate", "VanillaAttention", "MultiwayCoAttention", "BasicGRU", "DSAHead"}
EACH = [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in sorted(MADE)]
each = pytest.mark.parametrize("name", EACH)
without_warnings = pytest.mark.filterwarnings(
    "ignore:`shuffle=True`",
    "ignore:Gradients do not exist",
    "ignore:The model does not have any trainable weights",
)


def _arguments(layer):
    config = layer.get_config()
    return {key: config[key] for key in config if key not in ("name", "trainable", "dtype")}


def _inputs(name):
    """Arguments of `run_layer_test`; Keras draws the values of several inputs."""
    if name not in SEVERAL:
        return {"input_data": QUERY if name in OF_VECTORS else X}
    _, inputs = SEVERAL[name]
    return {
        "input_shape": {f"{key}_shape": x.shape for key, x in inputs.items()},
        "input_dtype": {f"{key}_shape": x.dtype.name for key, x in inputs.items()},
        "call_kwargs": OF_PAIRS if "second" in inputs else {},
    }


@each
@without_warnings
def test_a_layer_passes_the_test_of_keras(name):
    from keras.src.testing import TestCase

    if name == "ReinforcedSelfAttention":
        pytest.skip("its second output is a mask, which the test wants to train")
    layer = MADE[name]()
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
