"""Recurrent layers that read in one direction: the loop over tokens, padding, precision."""

from typing import Any, Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least
from disan_tf.layers.base import BaseLayer, LayerOptions
from disan_tf.layers.keras_layer import flip
from disan_tf.layers.linear import project
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import scatter_tokens, token_mask
from disan_tf.ops.elementwise import bias_activation
from disan_tf.ops.masked_softmax import at_least_float32
from disan_tf.ops.native import runtime
from disan_tf.ops.recurrence import looped_recurrence, lstm_cell, recurrence, rnn_cell, scan_tokens
from disan_tf.ops.tracing import ensure_shape, is_on_gpu


class Recurrent(BaseLayer):
    """Base of recurrent layers that read in one direction and return all states.

    They follow TensorFlow 1's cells, which the authors use, rather than Keras' layers: W is one
    matrix for [x_t; h_(t-1)], initialised by Glorot's rule as a whole, and h_0 is 0. Where the mask
    is False the state does not change and h is 0, so padding may stand anywhere. Dropout acts on x
    alone, with independent masks for all tokens. The recurrence is at least float32; the product
    with x, of all tokens at once, has the layer's precision.

    Keras' `Bidirectional` wraps these layers too. A layer with `go_backwards` reads the reversed
    sentence and returns its states, h of the last token first, which the wrapper reverses. Its
    dropout masks differ from those of the forward layer. Other modes of Keras' own recurrent
    layers (states as results or arguments, the last h alone) are refused.

    A subclass creates its weights in `build` before it calls `super().build`. It defines `step`,
    and `split_weights` unless it has exactly one `kernel` and one `bias`.

    Args:
      units: size of h.
      backward: whether the last token is read first.
      go_backwards: whether the tokens and the states are reversed, as in Keras.
      dropout, l2, seed: see `BaseLayer`; the joint matrices are regularised.

    Call arguments:
      x: <float>[batch, length, dim], or its `real_tokens`, <float>[tokens, dim].
      mask, training: see `BaseLayer`.
      initial_state: None, which Keras' `Bidirectional` passes; h_0 is 0.

    Returns:
      h, <float>[batch, length, units]; exactly 0 on padding.

    Raises:
      ValueError: fewer than one unit, a mode of Keras that the layer lacks, or an `initial_state`.
    """

    cell = ""  # the cell of `disan_tf.ops.recurrence` that computes `step`, if there is one
    states: int  # number of <float32>[batch, units] that a step passes on; h is the last

    # The modes of Keras' recurrent layers, which its wrappers read.
    return_sequences, return_state, stateful = True, False, False

    def __init__(
        self,
        units: int,
        backward: bool = False,
        go_backwards: bool = False,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        options: dict[str, Any] = {**kwargs}
        for mode in ("return_sequences", "return_state", "stateful"):
            only = getattr(Recurrent, mode)
            if options.pop(mode, only) != only:
                raise ValueError(
                    f"{mode}={not only} must be {only}: {type(self).__name__} returns h of every "
                    "token, and keeps no state between calls."
                )
        super().__init__(**options)
        self.units = check_at_least("units", units, 1)
        self.backward = backward
        self.go_backwards = go_backwards

    def build(self, input_shape: tf.TensorShape) -> None:
        name = "reversed_input_dropout" if self.go_backwards else "input_dropout"
        self.input_dropout = self.add_dropout(name)
        super().build(input_shape)

    def add_kernel(self, name: str, input_dim: int, gates: int) -> tf.Variable:
        """Adds a joint matrix W, <float32>[input_dim + units, gates * units]."""
        shape = [input_dim + self.units, gates * self.units]
        return self.add_uncast_weight(name, shape, "glorot_uniform", self.l2)

    def add_bias(self, name: str, gates: int, initializer: str = "zeros") -> tf.Variable:
        """Adds a bias b, <float32>[gates * units]."""
        return self.add_uncast_weight(name, [gates * self.units], initializer)

    def split_weights(self, input_dim: int) -> tuple:
        """Returns the matrix that multiplies x, the bias, and the matrices of h for `step`."""
        input_kernel, state_kernel = tf.split(self.kernel, [input_dim, self.units])
        return input_kernel, self.bias, state_kernel

    def step(self, states: tuple, product: tf.Tensor, *kernels: tf.Tensor) -> tuple:
        """Computes the states <float32>[batch, units] after a token from those before it.

        `product` is x_t times its matrix, plus the bias, <float32>[batch, gates * units]; for
        `kernels` see `split_weights`.
        """
        raise NotImplementedError

    def output_size(self, dim: int) -> int:
        return self.units

    def call(
        self,
        x: tf.Tensor,
        mask: Optional[tf.Tensor] = None,
        training: Optional[bool] = None,
        initial_state: None = None,
    ) -> tf.Tensor:
        if initial_state is not None:
            raise ValueError(
                f"initial_state must be None: {type(self).__name__} begins with states of 0."
            )
        mask = token_mask(x, mask)
        input_kernel, *others = self.split_weights(x.shape[-1])
        bias, *state_kernels = (at_least_float32(weight) for weight in others)
        x = self.input_dropout(x, training=training)
        product = project(x, tf.cast(input_kernel, x.dtype))  # of all tokens
        # The reversed sentence, read from its end, is the sentence from its beginning.
        backward = self.backward != self.go_backwards
        if self.cell and product.dtype != tf.float64 and runtime.is_used():
            options: dict[str, Any] = {"cell": self.cell, "backward": backward}
            h = recurrence(product, bias, mask, *state_kernels, **options)
        else:
            h = self._scan(product, bias, mask, backward, *state_kernels)
        if self.go_backwards:
            h = tf.reverse(h, [1])
        return ensure_shape(h, [*mask.shape, self.units])

    def compute_mask(
        self, inputs: tf.Tensor, mask: Optional[tf.Tensor] = None
    ) -> Optional[tf.Tensor]:
        """Returns the mask of the states, which are reversed with `go_backwards`."""
        mask = super().compute_mask(inputs, mask)
        return flip(mask, [1]) if self.go_backwards and mask is not None else mask

    def _scan(
        self, product: tf.Tensor, bias: tf.Tensor, mask: tf.Tensor, backward: bool, *kernels: Any
    ) -> tf.Tensor:
        """Computes h <float>[batch, length, units], one `step` after another."""
        dtype = product.dtype
        product = bias_activation(at_least_float32(product), bias, tf.keras.activations.linear)
        if product.shape.rank == 2:
            product = scatter_tokens(product, mask)
        steps = tf.transpose(product, [1, 0, 2]), tf.transpose(mask)[:, :, None]
        zeros = tf.zeros([tf.shape(product)[0], self.units], product.dtype)

        def advance(old: tuple, token: tuple) -> tuple:
            product, real = token
            new = self.step(old, product, *kernels)
            return tuple(tf.where(real, *pair) for pair in zip(new, old))

        if self.cell and is_on_gpu():
            options: dict[str, Any] = {"cell": self.cell, "backward": backward}
            h = looped_recurrence(*steps, *kernels, **options)
        else:
            *_, h = scan_tokens(advance, steps, (zeros,) * self.states, backward)
        h = tf.cast(tf.transpose(h, [1, 0, 2]), dtype)
        return tf.where(mask[:, :, None], h, tf.zeros([], dtype))


@serializable
class BasicRNN(Recurrent):
    """TensorFlow 1's BasicRNNCell (Elman 1990), multiway DRCN Eq. 1.

    h_t = tanh(W [x_t; h_(t-1)] + b)

    Keras' SimpleRNN computes the same with W in two parts, PyTorch's RNN with two biases, whose sum
    is b. 100 units on 300-dimensional vectors: 40,100 parameters.

    Arguments, call arguments and result: see `Recurrent`.
    """

    cell = "rnn"
    states = 1  # h

    def build(self, input_shape: tf.TensorShape) -> None:
        self.kernel = self.add_kernel("kernel", input_shape[-1], gates=1)
        self.bias = self.add_bias("bias", gates=1)
        super().build(input_shape)

    def step(self, states: tuple, product: tf.Tensor, kernel: tf.Tensor) -> tuple:
        return rnn_cell(states, product + tf.matmul(states[-1], kernel))


@serializable
class BasicLSTM(Recurrent):
    """TensorFlow 1's BasicLSTMCell (Zaremba et al. 2014).

    [i; j; f; o] = W [x_t; h_(t-1)] + b
    c_t = sigmoid(f + 1) * c_(t-1) + sigmoid(i) * tanh(j)
    h_t = sigmoid(o) * tanh(c_t)

    Keras' LSTM orders the gates i, f, j, o, has W in two parts, initialises the part for h
    orthogonally, and adds the 1 to the initial value of b. 300 units on 300-dimensional vectors:
    721,200 parameters.

    Arguments, call arguments and result: see `Recurrent`.
    """

    cell = "lstm"
    states = 2  # c, h

    def build(self, input_shape: tf.TensorShape) -> None:
        self.kernel = self.add_kernel("kernel", input_shape[-1], gates=4)
        self.bias = self.add_bias("bias", gates=4)
        super().build(input_shape)

    def step(self, states: tuple, product: tf.Tensor, kernel: tf.Tensor) -> tuple:
        return lstm_cell(states, product + tf.matmul(states[-1], kernel))


@serializable
class BasicGRU(Recurrent):
    """TensorFlow 1's GRUCell (Cho et al. 2014; Chung et al. 2014).

    [r; u] = sigmoid(W_g [x_t; h_(t-1)] + b_g)
    c = tanh(W_c [x_t; r * h_(t-1)] + b_c)
    h_t = u * h_(t-1) + (1 - u) * c

    As in that cell, the reset gate r acts before the product with h, b_g is initialised to 1 (so
    that a new layer tends to keep its state) and b_c to 0. Keras' GRU with `reset_after=False`
    computes the same with u before r in its matrices. 300 units on 300-dimensional vectors: 540,900
    parameters.

    Arguments, call arguments and result: see `Recurrent`.
    """

    states = 1  # h

    def build(self, input_shape: tf.TensorShape) -> None:
        dim = input_shape[-1]
        self.gate_kernel = self.add_kernel("gate_kernel", dim, gates=2)
        self.gate_bias = self.add_bias("gate_bias", gates=2, initializer="ones")
        self.candidate_kernel = self.add_kernel("candidate_kernel", dim, gates=1)
        self.candidate_bias = self.add_bias("candidate_bias", gates=1)
        super().build(input_shape)

    def split_weights(self, input_dim: int) -> tuple:
        sizes = [input_dim, self.units]
        of_x, of_h = zip(
            *(tf.split(kernel, sizes) for kernel in (self.gate_kernel, self.candidate_kernel))
        )
        bias = tf.concat([self.gate_bias, self.candidate_bias], axis=0)
        return tf.concat(of_x, axis=1), bias, *of_h

    def step(
        self,
        states: tuple,
        product: tf.Tensor,
        gate_kernel: tf.Tensor,
        candidate_kernel: tf.Tensor,
    ) -> tuple:
        (h,) = states
        to_gates, to_candidate = tf.split(product, [2 * self.units, self.units], axis=-1)
        r, u = tf.split(tf.sigmoid(to_gates + tf.matmul(h, gate_kernel)), 2, axis=-1)
        c = tf.tanh(to_candidate + tf.matmul(r * h, candidate_kernel))
        return (u * h + (1.0 - u) * c,)
