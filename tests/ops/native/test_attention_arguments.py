"""Arguments of the native attention: wrong ones are refused by name, shapes are inferred."""

import pytest
import tensorflow as tf

from disan_tf.ops import directional_attention
from disan_tf.ops.directional_attention import native_attention
from disan_tf.ops.native import runtime
from tests.support.ops.backends import needs_native

pytestmark = needs_native
INVALID = tf.errors.InvalidArgumentError
NAMES = ("head", "dependent", "value", "mask", "head_mask")
OPTIONS = {"direction": "forward", "scale": 5.0}


def _arguments(dtype=tf.float32):
    numbers = dict.fromkeys(NAMES[:3], tf.ones([2, 4, 3], dtype))
    return {**numbers, **dict.fromkeys(NAMES[3:], tf.ones([2, 4], tf.bool))}


def _call(arguments):
    return runtime.operations().disan_directional_attention(**arguments, **OPTIONS, Real=tf.float32)


def _call_gradient(**wrong):
    saved = dict.fromkeys(["upstream", "exact", "denominator"], tf.ones([2, 4, 3]))
    return runtime.operations().disan_directional_attention_gradient(
        **{**_arguments(), **saved, **wrong}, **OPTIONS
    )


WRONG_SHAPES = {
    **dict.fromkeys(NAMES[:3], ([1, 4, 3], [2, 4])),
    **dict.fromkeys(NAMES[3:], ([2, 5], [2, 0])),
}


def _wrong(name, shape):
    arguments = _arguments()
    return {**arguments, name: tf.ones(shape, arguments[name].dtype)}


def _name_in_message(name, shape):
    """The head gives the expected shape of the others, so one of them is named in its place."""
    return "dependent" if name == "head" and len(shape) == 3 else rf"\b{name}"


@pytest.mark.parametrize(
    "name,shape", [(name, shape) for name, shapes in WRONG_SHAPES.items() for shape in shapes]
)
def test_a_wrong_shape_is_refused(name, shape):
    with pytest.raises(INVALID, match=f"{_name_in_message(name, shape)} has shape"):
        _call(_wrong(name, shape))


@pytest.mark.parametrize("name", ["head", "mask"])
def test_a_wrong_shape_is_refused_when_a_graph_runs(name):
    shape = [3, 4, 3] if name in NAMES[:3] else [3, 4]
    compiled = tf.function(directional_attention).get_concrete_function(
        **{key: tf.TensorSpec(None, tensor.dtype) for key, tensor in _arguments().items()},
        direction="forward",
        form="native",
    )
    assert compiled(**_arguments()).shape == [2, 4, 3]
    with pytest.raises(INVALID, match=f"{_name_in_message(name, shape)} has shape"):
        compiled(**_wrong(name, shape))


@pytest.mark.parametrize("name", NAMES[:3])
def test_a_wrong_dtype_is_refused(name):
    arguments = _arguments()
    arguments[name] = tf.zeros(arguments[name].shape, tf.int32)
    with pytest.raises(INVALID, match=f"{name} has dtype int32, expected"):
        directional_attention(**arguments, direction="forward", form="native")


@pytest.mark.parametrize("name", NAMES[3:])
def test_a_mask_of_strings_is_refused(name):
    arguments = _arguments()
    arguments[name] = tf.zeros(arguments[name].shape, tf.string)
    with pytest.raises(ValueError, match=f"^{name} has the dtype string; it must hold booleans"):
        directional_attention(**arguments, direction="forward", form="native")


@pytest.mark.parametrize("name", NAMES[:2])
def test_one_input_of_another_dtype_is_refused(name):
    dtype, other = tf.float32, tf.float64
    arguments = {**_arguments(dtype), name: tf.ones([2, 4, 3], other)}
    with pytest.raises(INVALID, match=f"{name} has dtype {other.name}, expected {dtype.name}"):
        directional_attention(**arguments, direction="forward", form="native")


@pytest.mark.parametrize("scale", [0.0, 40.1, float("nan")])
def test_a_scale_outside_the_safe_range_is_refused(scale):
    with pytest.raises(INVALID, match="scale="):
        native_attention(**_arguments(), direction="forward", scale=scale)


@pytest.mark.parametrize("name", ["upstream", "exact", "denominator"])
def test_the_gradient_refuses_a_wrong_shape_of_a_saved_tensor(name):
    with pytest.raises(INVALID, match=f"{name} has shape"):
        _call_gradient(**{name: tf.ones([2, 5, 3])})


def test_the_gradient_checks_its_inputs_as_the_forward_pass_does():
    with pytest.raises(INVALID, match="value has shape"):
        _call_gradient(value=tf.ones([2, 5, 3]))


def test_shapes_are_inferred():
    arguments = {
        name: tf.TensorSpec(tensor.shape, tensor.dtype) for name, tensor in _arguments().items()
    }
    compiled = tf.function(directional_attention).get_concrete_function(
        **arguments, direction="forward", form="native"
    )
    assert compiled.structured_outputs.shape == [2, 4, 3]
