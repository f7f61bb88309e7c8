"""The head of DSA: hidden layers whose inputs are normalised over the batch."""

import tensorflow as tf

from disan_tf.common.options import check_above_zero
from disan_tf.layers.dropout import site_seed
from disan_tf.layers.heads.batch_norm import BatchNormHead
from disan_tf.layers.initializers import check_init_scale, he_normal, variance_factor
from disan_tf.layers.linear import Linear
from disan_tf.layers.serialization import serializable
from disan_tf.ops.elementwise import LeakyReLU


@serializable
class DSAHead(BatchNormHead):
    """A head of hidden layers with batch normalisation (DSA Appendix A and B).

    x_0 = features
    x_l = LeakyReLU(dropout(BN_l(x_(l-1))) W_l + b_l)   for l = 1, ..., L
    logits = x_L W + b

    `BatchNormHead` defines BN. All matrices are initialised by `he_normal`, with the
    `variance_factor` of the dropout on their inputs (none on W's input), biases to 0.

    Parameters: 816,903 with 2400 features, 300 units and 3 classes; 5,200,131 with 9600 features
    and 512 units; 183,005 with 600 features, one hidden layer of 300 units and 5 classes.

    Args:
      classes: number of classes.
      hidden_units: size of a hidden layer.
      hidden_layers: L; 2 for language inference, 1 for sentiment.
      negative_slope: slope of LeakyReLU; PyTorch's default is 0.01.
      init_scale: see `variance_factor`.
      momentum, epsilon: see `BatchNormHead`.
      dropout, l2, seed: see `BaseLayer`; dropout acts on the inputs of the W_l, and all matrices
        are regularised.

    Call arguments:
      x: features, <float>[batch, dim].
      training: whether dropout acts, and BN uses the batch's mean and variance.

    Returns:
      Logits, <float32>[batch, classes].

    Raises:
      ValueError: a slope that is not above 0, an unknown `init_scale`, or see `BatchNormHead`.

    Example:
      >>> DSAHead(classes=3, hidden_units=4)(tf.ones([2, 8])).shape
      TensorShape([2, 3])
    """

    def __init__(
        self,
        classes: int,
        hidden_units: int,
        negative_slope: float = 0.01,
        init_scale: str = "keep",
        **kwargs,
    ):
        super().__init__(classes, hidden_units, **kwargs)
        self.negative_slope = check_above_zero("negative_slope", negative_slope)
        self.init_scale = check_init_scale(init_scale)

    def build(self, input_shape):
        dims = self.hidden_input_dims(input_shape[-1])
        self.norms = [self.add_norm(f"norm_{n}", dim) for n, dim in enumerate(dims, 1)]
        self.hidden = [
            self._add_map(f"hidden_{n}", dim, self.hidden_units, self.dropout)
            for n, dim in enumerate(dims, 1)
        ]
        self.logits = self._add_map("logits", self.hidden_units, self.classes, dropout=0.0)
        super().build(input_shape)

    def _add_map(self, name, input_dim, units, dropout) -> Linear:
        seed = site_seed(self.seed, f"{name}/kernel")
        initializer = he_normal(seed, variance_factor(self.init_scale, dropout))
        return self.add_linear(
            name, input_dim, units, dropout=dropout, kernel_initializer=initializer
        )

    def call(self, x, training=None):
        for norm, hidden in zip(self.norms, self.hidden):
            product = hidden.product(norm(x, training=training), training)
            x = hidden.activate(product, LeakyReLU(self.negative_slope))
        return tf.cast(self.logits(x), tf.float32)
