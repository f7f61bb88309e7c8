"""Sublayers of every kind in a layer: `BaseLayer.add_child`."""

import pytest
import tensorflow as tf

from disan_tf.layers import Dropout, Source2Token
from disan_tf.layers.base import BaseLayer

X = tf.ones([2, 3, 4])


class Own(BaseLayer):
    """A layer with a sublayer of this package, one of Keras, and one with fewer arguments."""

    def build(self, input_shape):
        self.pool = self.add_child(Source2Token, "pool", input_shape, "relu")
        self.dense = self.add_child(tf.keras.layers.Dense, "dense", [None, 4], 5, use_bias=False)
        self.drop = self.add_child(Dropout, "drop", [None, 5], 0.5)
        super().build(input_shape)

    def call(self, x, mask=None, training=None):
        return self.drop(self.dense(self.pool(x, mask=mask)), training=training)


def test_sublayers_of_keras_have_the_name_and_the_dtype():
    layer = Own(dropout=0.25, l2=0.1, seed=3, dtype="mixed_bfloat16")
    assert layer(X).shape == [2, 5] and layer(X).dtype == tf.bfloat16
    assert layer.dense.name == "dense" and layer.dense.compute_dtype == "bfloat16"
    assert (layer.pool.dropout, layer.pool.l2, layer.drop.rate) == (0.25, 0.1, 0.5)
    assert layer.pool.seed == Own(seed=3).child_options("pool")["seed"]
    assert layer.drop.seed == Own(seed=3).child_options("drop")["seed"]
    assert len(layer.trainable_weights) == 5


@pytest.mark.parametrize("kind", [tf.keras.layers.Flatten(), "Dense", int])
def test_another_kind_is_refused(kind):
    with pytest.raises(ValueError, match="^kind=.* must be a layer class"):
        Own().add_child(kind, "it", [None, 4])
