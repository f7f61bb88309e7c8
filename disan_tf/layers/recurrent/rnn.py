"""The recurrent layer of Elman."""

import tensorflow as tf

from disan_tf.layers.recurrent.base import Recurrent
from disan_tf.layers.serialization import serializable


@serializable
class BasicRNN(Recurrent):
    """TensorFlow 1's BasicRNNCell (Elman 1990), multiway DRCN Eq. 1.

    h_t = tanh(W [x_t; h_(t-1)] + b)

    Keras' SimpleRNN computes the same with W in two parts, PyTorch's RNN with two biases, whose sum
    is b.

    100 units on 300-dimensional vectors: 40,100 parameters.

    Arguments, call arguments and result: see `Recurrent`; W is regularised.

    Example:
      >>> BasicRNN(3)(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 5, 3])
    """

    cell = "rnn"
    states = 1  # h

    def build(self, input_shape):
        self.kernel = self.add_kernel("kernel", input_shape[-1], gates=1)
        self.bias = self.add_bias("bias", gates=1, initializer="zeros")
        super().build(input_shape)

    def step(self, states, product, kernel):
        (h,) = states
        return (tf.tanh(product + tf.matmul(h, kernel)),)
