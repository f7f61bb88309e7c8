"""Bi-GRU with source2token self-attention, a baseline."""

from disan_tf.encoders.bi_recurrent import BiRecurrentEncoder
from disan_tf.layers.recurrent.gru import BasicGRU


class BiGRUEncoder(BiRecurrentEncoder):
    """A GRU in each direction, then source2token, a baseline of ReSAN's Table 1.

    300 units each way on 300-dimensional vectors: 1,803,000 parameters, with the head for language
    inference 2,524,203 (ReSAN: 2.5m).

    Args, call arguments and result: see `BiRecurrentEncoder`.
    """

    def build(self, input_shape):
        self.forward_gru, self.backward_gru = self.add_directions(BasicGRU, input_shape)
        super().build(input_shape)

    def directions(self):
        return self.forward_gru, self.backward_gru
