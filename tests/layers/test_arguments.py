"""Arguments of the constructors: every public layer and encoder refuses wrong ones by name."""

import inspect
import re
import typing
from collections.abc import Sequence
from typing import Literal, Union

import numpy as np
import pytest
import tensorflow as tf

from disan_tf import encoders, layers
from disan_tf.common.options import options_of
from disan_tf.layers.keras_layer import Activation, Initializer

CLASSES = {
    name: kind
    for module in (layers, encoders)
    for name, kind in inspect.getmembers(module, inspect.isclass)
    if issubclass(kind, tf.keras.layers.Layer)
}
WRONG = {  # annotation -> values of other types
    int: (True, 2.0, "2", [2], float("nan"), tf.constant(2)),
    float: (True, "0.5", [0.5], float("nan"), float("inf"), np.float32("nan")),
    bool: (1, 0.0, "True"),
    str: (3, ["Cs"], b"Cs"),
    Activation: ("gelou", 3, ["relu"], tf.keras.layers.ReLU),
    Initializer: ("glorot", 3, [0.0]),
}
NEGATIVE = {int: -1, float: -0.5}
MAY_BE_NEGATIVE = {"seed"}


def wrong_values(annotation) -> list:
    """Values that do not match an annotation; KeyError for an annotation of a new kind."""
    if annotation in WRONG:
        return [*WRONG[annotation]]
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Union:
        assert parts[1:] == (type(None),)
        return wrong_values(parts[0])
    if origin is Literal:
        return [f"{parts[0]}s", 3, [parts[0]]]
    assert origin is Sequence
    return [3, *([wrong] for wrong in wrong_values(parts[0]))]


def negative_values(annotation) -> list:
    parts = [annotation, *typing.get_args(annotation)]
    is_list = typing.get_origin(annotation) is Sequence
    values = [NEGATIVE[part] for part in parts if part in NEGATIVE]
    return [[value] for value in values] if is_list else values


def make(kind, **arguments):
    required = {
        name: {int: 4, float: 0.5}[option.annotation]
        for name, option in options_of(kind).items()
        if option.default is option.empty
    }
    return kind(**{**required, **arguments})


@pytest.mark.parametrize("name", CLASSES)
def test_every_argument_is_refused_by_name_if_its_value_is_wrong(name):
    options = options_of(CLASSES[name])
    known = inspect.signature(CLASSES[name].__init__).parameters
    assert {*options} == {*known} - {"self", "name", "dtype", "trainable", "kwargs"}
    for argument, option in options.items():
        wrong = wrong_values(option.annotation)
        if argument not in MAY_BE_NEGATIVE:
            wrong += negative_values(option.annotation)
        if type(None) not in typing.get_args(option.annotation):
            wrong.append(None)
        for value in wrong:
            with pytest.raises(ValueError, match=f"^{argument}=.* must [^\n]*[.?]$") as caught:
                make(CLASSES[name], **{argument: value})
                pytest.fail(f"{name}({argument}={value!r}) passes")
            assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    "kind, arguments, sentence",
    [
        (encoders.DiSAN, {"units": "300"}, "units='300' must be a whole number or None."),
        (encoders.DiSAN, {"dropout": None}, "dropout=None must be a finite number."),
        (
            encoders.DiSAN,
            {"directions": None},
            "directions=None must be a tuple of forward, backward or diagonal.",
        ),
        (
            encoders.DiSAN,
            {"directions": ["forward", "back"]},
            "directions=back must be forward, backward or diagonal; did you mean backward?",
        ),
        (
            layers.DirectionalSelfAttention,
            {"direction": "foward"},
            "direction=foward must be forward, backward or diagonal; did you mean forward?",
        ),
        (
            layers.Token2Token,
            {"direction": "up"},
            "direction=up must be forward, backward, diagonal or None.",
        ),
        (
            layers.Source2Token,
            {"activation": "gelou"},
            "activation=gelou must be an activation of Keras; did you mean gelu?",
        ),
        (
            layers.Linear,
            {"units": 3, "kernel_initializer": "glorot_unifrom"},
            "kernel_initializer=glorot_unifrom must be an initializer of Keras; did you mean",
        ),
        (
            layers.MultiwayCoAttention,
            {"functions": ["B"]},
            "functions=['B'] must be a string.",
        ),
        (
            encoders.MultiWindowCNNEncoder,
            {"windows": (3, 3)},
            "windows=(3, 3) must be different sizes.",
        ),
    ],
)
def test_the_sentence_says_what_the_value_may_be(kind, arguments, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        kind(**arguments)


def test_numbers_of_numpy_and_whole_numbers_for_floats_are_right():
    layer = encoders.DiSAN(np.int64(4), dropout=np.float32(0.25), l2=0, seed=np.int32(-3))
    assert (layer.units, layer.dropout, layer.l2, layer.seed) == (4, 0.25, 0, -3)
    assert layers.Linear(2, use_bias=np.bool_(False)).use_bias == False  # noqa: E712
    assert encoders.MultiWindowCNNEncoder(windows=range(2, 4)).windows == (2, 3)


def test_activations_are_names_functions_configs_and_layers():
    config = tf.keras.activations.serialize(tf.keras.activations.gelu)
    for activation in ("gelu", tf.keras.activations.gelu, config, tf.keras.layers.ReLU()):
        assert callable(layers.Highway(activation).activation)


class Own(encoders.SentenceEncoder):
    """An encoder of a user, with annotations that Python cannot read."""

    def __init__(self, size: int = None, kind: "checkers_only.Kind" = 3, **kwargs):  # noqa: F821
        super().__init__(**kwargs)
        self.size, self.kind = size, kind


def test_a_users_class_is_checked_by_its_annotations():
    assert Own(kind=[2]).kind == [2]
    assert Own.from_config(Own(seed=1).get_config()).size is None  # a default is always right
    for arguments in ({"size": "3"}, {"dropout": None}):
        with pytest.raises(ValueError, match=" must be a "):
            Own(**arguments)
