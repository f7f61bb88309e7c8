"""Configs of layers, collected from the arguments of their constructors."""

import tensorflow as tf

from disan_tf.layers import ClassificationHead, Convolution
from disan_tf.layers.base import BaseLayer


class Base(BaseLayer):
    def __init__(self, units: int, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.activation = tf.keras.activations.get(activation)


class Derived(Base):
    def __init__(self, *args, widths=(1, 2), dtype=None, rate=0.5, **kwargs):
        super().__init__(*args, dtype=dtype, **kwargs)
        self.widths = tuple(widths)
        self.halved = rate / 2


def test_a_config_holds_the_arguments_of_all_constructors_in_types_of_json():
    layer = Derived(3, "relu", widths=(4, 5), name="it", dropout=0.25, l2=0.5, seed=7)
    dtype = tf.keras.layers.Flatten(dtype="float32").get_config()["dtype"]  # as this Keras has it
    keras = {"name": "it", "trainable": True, "dtype": dtype}
    ours = {"units": 3, "activation": "relu", "widths": [4, 5], "dropout": 0.25, "l2": 0.5}
    assert layer.get_config() == {**keras, **ours, "seed": 7}


def test_a_config_keeps_the_policy_as_keras_writes_it():
    ours, keras = (make(3, dtype="mixed_bfloat16").get_config() for make in (Derived, Base))
    assert ours["dtype"] == keras["dtype"] != "float32"


def test_a_config_says_how_weights_are_initialised():
    config = Convolution(2, 1, kernel_initializer="he_uniform").get_config()
    assert config["kernel_initializer"]["class_name"] == "HeUniform"


def test_an_argument_keeps_its_value_when_a_sublayer_takes_its_attribute():
    head = ClassificationHead(classes=2, hidden_units=3, highway=True)
    config = head.get_config()
    head(tf.ones([1, 4]))
    assert config["highway"] is True
    assert head.get_config() == config
