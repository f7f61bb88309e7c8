"""The classifier of DRCN: hidden layers that are normalised over the batch before they act."""

import tensorflow as tf

from disan_tf.layers.heads.batch_norm import BatchNormHead


class DRCNHead(BatchNormHead):
    """Features -> logits: fully connected layers with batch normalisation (DRCN Sec. 3.1.3, 4.1).

    With x_0 = dropout(features), in the hidden layers l = 1, ..., L and then in the output layer

        x_l = ReLU(BN_l(x_(l-1) W_l + b_l))
        logits = x_L W + b

    For BN see `BatchNormHead`; in training b_l cancels in it. Each matrix starts by Glorot's rule,
    for the papers are silent; biases start at 0.

    Parameters: 1,509,003 of 500 features, 1000 units, two hidden layers and 3 classes.

    Args:
      classes: number of classes.
      hidden_units: size of each hidden layer; 1000 in Kim et al. (2018), Sec. 4.
      hidden_layers: L.
      momentum, epsilon: see `BatchNormHead`.
      dropout: rate at the features alone (multiway DRCN Sec. 4.1).
      l2, seed: see `BaseLayer`; all matrices decay.

    Call arguments:
      x: <float>[batch, dim].
      training: whether dropout acts, and the statistics are those of the batch.

    Returns:
      Logits, <float32>[batch, classes].

    Raises:
      ValueError: a dropout rate outside [0, 1), or no hidden layer.

    Example:
      >>> MatchingHead(classes=3, hidden_units=4)(tf.ones([2, 8])).shape
      TensorShape([2, 3])
    """

    def __init__(self, classes: int, hidden_units: int = 1000, dropout: float = 0.2, **kwargs):
        super().__init__(classes, hidden_units, dropout=dropout, **kwargs)

    def build(self, input_shape):
        dims = [input_shape[-1]] + [self.hidden_units] * (self.hidden_layers - 1)
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
