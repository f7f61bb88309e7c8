"""The head of DRCN: hidden layers, normalised over the batch before their activation."""

import tensorflow as tf

from disan_tf.layers.heads.batch_norm import BatchNormHead
from disan_tf.layers.serialization import serializable


@serializable
class DRCNHead(BatchNormHead):
    """A head of fully connected layers with batch normalisation (DRCN Sec. 3.1.3, 4.1).

    x_0 = dropout(features)
    x_l = ReLU(BN_l(x_(l-1) W_l + b_l))   for l = 1, ..., L
    logits = x_L W + b

    `BatchNormHead` defines BN; in training BN cancels b_l. All matrices are initialised by
    Glorot's rule, since the papers do not say how; biases to 0.

    500 features, 1000 units, two hidden layers and 3 classes: 1,509,003 parameters.

    Args:
      classes: number of classes.
      hidden_units: size of a hidden layer; 1000 in Kim et al. (2018), Sec. 4.
      hidden_layers: L.
      momentum, epsilon: see `BatchNormHead`.
      dropout: rate on the features alone (multiway DRCN Sec. 4.1).
      l2, seed: see `BaseLayer`; all matrices are regularised.

    Call arguments:
      x: features, <float>[batch, dim].
      training: whether dropout acts, and BN uses the batch's mean and variance.

    Returns:
      Logits, <float32>[batch, classes].

    Raises:
      ValueError: see `BatchNormHead`.

    Example:
      >>> DRCNHead(classes=3, hidden_units=4)(tf.ones([2, 8])).shape
      TensorShape([2, 3])
    """

    def __init__(self, classes: int, hidden_units: int = 1000, dropout: float = 0.2, **kwargs):
        super().__init__(classes, hidden_units, dropout=dropout, **kwargs)

    def build(self, input_shape):
        dims = self.hidden_input_dims(input_shape[-1])
        rates = [self.dropout] + [0.0] * (self.hidden_layers - 1)
        self.hidden = [
            self.add_linear(f"hidden_{n}", dim, self.hidden_units, dropout=rate)
            for n, (dim, rate) in enumerate(zip(dims, rates), 1)
        ]
        self.norms = [self.add_norm(f"norm_{n}", self.hidden_units) for n, _ in enumerate(dims, 1)]
        self.logits = self.add_linear("logits", self.hidden_units, self.classes, dropout=0.0)
        super().build(input_shape)

    def call(self, x, training=None):
        for hidden, norm in zip(self.hidden, self.norms):
            x = tf.nn.relu(norm(hidden(x, training=training), training=training))
        return tf.cast(self.logits(x), tf.float32)
