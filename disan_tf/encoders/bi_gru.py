"""Bi-GRU, then source2token self-attention: a baseline."""

from disan_tf.encoders.bi_recurrent import BiRecurrentEncoder
from disan_tf.layers.recurrent.gru import BasicGRU
from disan_tf.layers.serialization import serializable


@serializable
class BiGRUEncoder(BiRecurrentEncoder):
    """A `BasicGRU` in each direction, then `Source2Token`, a baseline of ReSAN's Table 1.

    300 units in each direction on 300-dimensional vectors: 1,803,000 parameters, or 2,524,203 with
    the head for language inference (ReSAN: 2.5m).

    Arguments, call arguments and result: see `BiRecurrentEncoder`.

    Example:
      >>> BiGRUEncoder(3)(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 6])
    """

    def build(self, input_shape):
        self.forward_gru, self.backward_gru = self.add_directions(BasicGRU, input_shape)
        super().build(input_shape)

    def directions(self):
        return self.forward_gru, self.backward_gru
