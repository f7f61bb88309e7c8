"""A long short-term memory network."""

import tensorflow as tf

from disan_tf.layers.recurrent.base import Recurrent
from disan_tf.layers.serialization import serializable

FORGET_BIAS = 1.0  # added at run time, as in BasicLSTMCell: b itself is initialised to 0


@serializable
class BasicLSTM(Recurrent):
    """TensorFlow 1's BasicLSTMCell (Zaremba et al. 2014).

    [i; j; f; o] = W [x_t; h_(t-1)] + b
    c_t = sigmoid(f + 1) * c_(t-1) + sigmoid(i) * tanh(j)
    h_t = sigmoid(o) * tanh(c_t)

    Keras' LSTM orders the gates i, f, j, o, has W in two parts, initialises the part for h
    orthogonally, and adds the 1 to the initial value of b.

    300 units on 300-dimensional vectors: 721,200 parameters.

    Arguments, call arguments and result: see `Recurrent`; W is regularised.

    Example:
      >>> BasicLSTM(3)(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 5, 3])
    """

    cell = "lstm"
    states = 2  # c, h

    def build(self, input_shape):
        self.kernel = self.add_kernel("kernel", input_shape[-1], gates=4)
        self.bias = self.add_bias("bias", gates=4, initializer="zeros")
        super().build(input_shape)

    def step(self, states, product, kernel):
        c, h = states
        i, j, f, o = tf.split(product + tf.matmul(h, kernel), 4, axis=-1)
        c = tf.sigmoid(f + FORGET_BIAS) * c + tf.sigmoid(i) * tf.tanh(j)
        return c, tf.sigmoid(o) * tf.tanh(c)
