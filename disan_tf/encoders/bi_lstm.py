"""Bi-LSTM with source2token self-attention, a baseline."""

from disan_tf.encoders.bi_recurrent import BiRecurrentEncoder
from disan_tf.layers.recurrent.lstm import BasicLSTM


class BiLSTMEncoder(BiRecurrentEncoder):
    """An LSTM in each direction, then source2token, fourth baseline of DiSAN's Table 1.

    300 units each way on 300-dimensional vectors: 2,163,600 parameters.

    Args, call arguments and result: see `BiRecurrentEncoder`.
    """

    def build(self, input_shape):
        self.forward_lstm, self.backward_lstm = self.add_directions(BasicLSTM, input_shape)
        super().build(input_shape)

    def directions(self):
        return self.forward_lstm, self.backward_lstm
