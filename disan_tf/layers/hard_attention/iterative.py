"""Hard attention that chooses one token after another."""

import tensorflow as tf

from disan_tf.layers.hard_attention.sampling import Sampler
from disan_tf.layers.linear import decay, project


class IterativeSequenceSampling(Sampler):
    """Sampling by a recurrent network (Lei et al. 2016), ReSAN Eq. 21 to 25.

    p_i = sigmoid(w . activation(W [h_(i-1); x_i] + b) + b')             (22)
    z_i ~ p_i, x'_i = [x_i; z_i]                                         (23, 24)
    h_i = tanh(W_rnn [h_(i-1); x'_i] + b_rnn)                            (25)

    So a token's probability depends on what was chosen before it (21), and the tokens of a sentence
    must wait for one another. The state stays as it was on padding. Dropout acts on x, W and W_rnn
    decay. The recurrence is float32. 300 units on 300-dimensional vectors: 361,201 parameters.

    Args:
      units: of h, and of W's layer; None = the size of x.
      activation: of W's layer.
      backward: whether the last token is read first.
      dropout, l2, seed: see `BaseLayer`.

    Call arguments:
      x: <float>[batch, length, dim].
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      p_i given that each token before i was chosen greedily, <float32>[batch, length]; 0 on
      padding.
    """

    def __init__(self, *args, backward: bool = False, **kwargs):
        super().__init__(*args, **kwargs)
        self.backward = backward

    def build(self, input_shape):
        dim = input_shape[-1]
        units = self.units or dim
        shapes = {
            "hidden_kernel": [dim + units, units], "score_kernel": [units, 1],
            "state_kernel": [dim + units + 1, units],
        }  # fmt: skip
        for name, shape in shapes.items():
            kernel = self.add_weight(name, shape, None, "glorot_uniform", decay(self.l2),
                                     experimental_autocast=False)  # fmt: skip
            setattr(self, name, kernel)
        for name, size in {"hidden_bias": units, "score_bias": 1, "state_bias": units}.items():
            bias = self.add_weight(name, [size], None, "zeros", experimental_autocast=False)
            setattr(self, name, bias)
        self.input_dropout = self.add_dropout("input_dropout")
        super().build(input_shape)

    def call(self, x, mask, training=None):
        return self.choose(x, mask, "greedy", training)[1]

    def choose(self, x, mask, how, training=None):
        units, dim = self.state_kernel.shape[1], x.shape[-1]
        x = self.input_dropout(x, training=training)
        # What x adds to both maps, for all tokens at once.
        kernels = tf.concat([self.hidden_kernel[:dim], self.state_kernel[:dim]], axis=1)
        products = tf.cast(project(x, tf.cast(kernels, x.dtype)), tf.float32)
        products += tf.concat([self.hidden_bias, self.state_bias], axis=0)
        thresholds = self.thresholds(tf.shape(mask), how)
        steps = [tf.transpose(products, [1, 0, 2])]
        steps += [tf.transpose(each)[:, :, None] for each in (thresholds, mask)]
        batch = tf.shape(x)[0]
        start = tf.zeros([batch, units]), tf.zeros([batch, 1]), tf.zeros([batch, 1], tf.bool)
        _, probabilities, selected = tf.scan(
            lambda last, step: self._step(last[0], *step), tuple(steps), start,
            reverse=self.backward,
        )  # fmt: skip
        return tf.transpose(selected[:, :, 0]), tf.transpose(probabilities[:, :, 0])

    def _step(self, state, products, threshold, real):
        """State <float32>[batch, units], p and z <...>[batch, 1] after one token."""
        dim = self.hidden_kernel.shape[0] - self.hidden_kernel.shape[1]
        from_x, to_state = tf.split(products, 2, axis=-1)
        hidden = self.activation(from_x + tf.matmul(state, self.hidden_kernel[dim:]))
        probability = tf.sigmoid(tf.matmul(hidden, self.score_kernel) + self.score_bias)
        selected = (threshold <= probability) & real
        to_state += tf.matmul(state, self.state_kernel[dim:-1])
        new = tf.tanh(to_state + tf.cast(selected, tf.float32) * self.state_kernel[-1:])
        return tf.where(real, new, state), tf.where(real, probability, 0.0), selected

    def get_config(self):
        return {**super().get_config(), "backward": self.backward}
