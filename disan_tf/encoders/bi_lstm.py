"""Bi-LSTM, then source2token self-attention: a baseline."""

from disan_tf.encoders.bi_recurrent import BiRecurrentEncoder
from disan_tf.layers.recurrent.lstm import BasicLSTM
from disan_tf.layers.serialization import serializable


@serializable
class BiLSTMEncoder(BiRecurrentEncoder):
    """A `BasicLSTM` in each direction, then `Source2Token`, fourth baseline of DiSAN's Table 1.

    300 units in each direction on 300-dimensional vectors: 2,163,600 parameters.

    Arguments, call arguments and result: see `BiRecurrentEncoder`.

    Example:
      >>> BiLSTMEncoder(3)(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 6])
    """

    def build(self, input_shape):
        self.forward_lstm, self.backward_lstm = self.add_directions(BasicLSTM, input_shape)
        super().build(input_shape)

    def directions(self):
        return self.forward_lstm, self.backward_lstm
