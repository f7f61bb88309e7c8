"""The classifier of the DSA paper: hidden layers whose inputs are normalised over the batch."""

import tensorflow as tf

from disan_tf.layers.dropout import site_seed
from disan_tf.layers.heads.batch_norm import BatchNormHead
from disan_tf.layers.initializers import check_init_scale, he_normal, variance_factor
from disan_tf.layers.linear import Linear
from disan_tf.ops.elementwise import LeakyReLU


class DSAHead(BatchNormHead):
    """Features -> logits: hidden layers with batch normalisation (DSA Appendix A and B).

    With x_0 the features, in the hidden layers l = 1, ..., L and then in the output layer

        x_l = LeakyReLU(dropout(BN_l(x_(l-1))) W_l + b_l)
        logits = x_L W + b

    For BN see `BatchNormHead`. Each matrix starts by `he_normal`, times the square root of
    `variance_factor` for the dropout of its input; W has none. Biases start at 0.

    Parameters: 816,903 of 2400 features, 300 units and 3 classes; 5,200,131 of 9600 features and
    512 units; 183,005 of 600 features, one hidden layer of 300 units and 5 classes.

    Args:
      classes: number of classes.
      hidden_units: size of each hidden layer.
      hidden_layers: L; 2 for language inference, 1 for sentiment.
      negative_slope: of LeakyReLU; 0.01 is PyTorch's default.
      init_scale: see `variance_factor`.
      momentum, epsilon: see `BatchNormHead`.
      dropout, l2, seed: see `BaseLayer`; all matrices decay, the inputs of W_l are dropped.

    Call arguments:
      x: <float>[batch, dim].
      training: whether dropout acts, and the statistics are those of the batch.

    Returns:
      Logits, <float32>[batch, classes].

    Raises:
      ValueError: a dropout rate outside [0, 1), no hidden layer, or an unknown `init_scale`.

    Example:
      >>> NormalizedHead(classes=3, hidden_units=4)(tf.ones([2, 8])).shape
      TensorShape([2, 3])
    """

    def __init__(
        self, classes: int, hidden_units: int, hidden_layers: int = 2,
        negative_slope: float = 0.01, init_scale: str = "keep", momentum: float = 0.9,
        epsilon: float = 1e-5, **kwargs,
    ):  # fmt: skip
        super().__init__(classes, hidden_units, hidden_layers, momentum, epsilon, **kwargs)
        self.negative_slope = negative_slope
        self.init_scale = check_init_scale(init_scale)

    def build(self, input_shape):
        dims = [input_shape[-1]] + [self.hidden_units] * (self.hidden_layers - 1)
        self.norms = [self.add_norm(f"norm_{n}", dim) for n, dim in enumerate(dims, 1)]
        self.hidden = [
            self._add_map(f"hidden_{n}", dim, self.hidden_units, self.dropout)
            for n, dim in enumerate(dims, 1)
        ]
        self.logits = self._add_map("logits", self.hidden_units, self.classes, dropout=0.0)
        super().build(input_shape)

    def _add_map(self, name, input_dim, units, dropout) -> Linear:
        seed = site_seed(self.seed, f"{name}/kernel")
        start = he_normal(seed, variance_factor(self.init_scale, dropout))
        return self.add_linear(name, input_dim, units, dropout=dropout, kernel_initializer=start)

    def call(self, x, training=None):
        for norm, hidden in zip(self.norms, self.hidden):
            product = hidden.product(norm(x, training=training), training)
            x = hidden.activate(product, LeakyReLU(self.negative_slope))
        return tf.cast(self.logits(x), tf.float32)

    def get_config(self):
        config = {
            "negative_slope": self.negative_slope,
            "init_scale": self.init_scale,
        }
        return {**super().get_config(), **config}
