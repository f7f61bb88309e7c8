"""A gated recurrent unit."""

import tensorflow as tf

from disan_tf.layers.recurrent.base import Recurrent
from disan_tf.layers.serialization import serializable


@serializable
class BasicGRU(Recurrent):
    """TensorFlow 1's GRUCell (Cho et al. 2014; Chung et al. 2014).

    [r; u] = sigmoid(W_g [x_t; h_(t-1)] + b_g)
    c = tanh(W_c [x_t; r * h_(t-1)] + b_c)
    h_t = u * h_(t-1) + (1 - u) * c

    As in that cell, the reset gate r acts before the product with h, b_g is initialised to 1 (so
    that a new layer tends to keep its state) and b_c to 0. Keras' GRU with `reset_after=False`
    computes the same with u before r in its matrices.

    300 units on 300-dimensional vectors: 540,900 parameters.

    Arguments, call arguments and result: see `Recurrent`; W_g and W_c are regularised.

    Example:
      >>> BasicGRU(3)(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 5, 3])
    """

    states = 1  # h

    def build(self, input_shape):
        dim = input_shape[-1]
        self.gate_kernel = self.add_kernel("gate_kernel", dim, gates=2)
        self.gate_bias = self.add_bias("gate_bias", gates=2, initializer="ones")
        self.candidate_kernel = self.add_kernel("candidate_kernel", dim, gates=1)
        self.candidate_bias = self.add_bias("candidate_bias", gates=1, initializer="zeros")
        super().build(input_shape)

    def split_weights(self, input_dim):
        sizes = [input_dim, self.units]
        of_x, of_h = zip(
            *(tf.split(kernel, sizes) for kernel in (self.gate_kernel, self.candidate_kernel))
        )
        bias = tf.concat([self.gate_bias, self.candidate_bias], axis=0)
        return tf.concat(of_x, axis=1), bias, *of_h

    def step(self, states, product, gate_kernel, candidate_kernel):
        (h,) = states
        to_gates, to_candidate = tf.split(product, [2 * self.units, self.units], axis=-1)
        r, u = tf.split(tf.sigmoid(to_gates + tf.matmul(h, gate_kernel)), 2, axis=-1)
        c = tf.tanh(to_candidate + tf.matmul(r * h, candidate_kernel))
        return (u * h + (1.0 - u) * c,)
