"""A step's matrix products and convolutions alone: a lower bound on its time."""

import math
from typing import NamedTuple

import tensorflow as tf


class Product(NamedTuple):
    """A matrix product or, if its weights have three axes, a convolution.

    Attributes:
      x: shape of the input, [rows, inner] or [batch, length, inner].
      weights: their shape, [inner, columns] or [width, inner, columns].
      to_input: whether training needs the input's gradient; fixed word vectors need none.
    """

    x: tuple
    weights: tuple
    to_input: bool = True

    @property
    def result(self) -> tuple:
        """The shape of the result."""
        return (*self.x[:-1], self.weights[-1])

    @property
    def flops(self) -> int:
        return 2 * math.prod(self.x[:-1]) * math.prod(self.weights)

    def apply(self, x, weights):
        if len(self.weights) == 3:
            return tf.nn.conv1d(x, weights, stride=1, padding="SAME")
        return tf.matmul(x, weights)


def step_products(config, lengths: tuple, classes: int) -> list[Product]:
    """Returns the products in a forward pass through the encoder "disan" or "dsa" and its head.

    Args:
      config: a config of `configs/`.
      lengths: padded length of each sentence in an example; one, or two for pairs.
      classes: number of classes.
    """
    if config.encoder.name == "dsa":
        return dsa_products(config, lengths, classes)
    batch, units = config.train.batch_size, config.encoder.units
    hidden = config.task.hidden_units
    encoders = [_encoder_products(config, batch * length) for length in lengths]
    joined = 2 * units * (4 if len(lengths) == 2 else 1)  # [p; h; p - h; p * h]
    head = [_map(batch, joined, hidden), _map(batch, hidden, classes)]
    return sum(encoders, []) + head


def dsa_products(config, lengths: tuple, classes: int) -> list[Product]:
    """Returns `step_products` for DSA: Eq. 2, 3, 5, 6, static attention's Eq. 1, and the head.

    Algorithm 1's products, with one vector per sentence, are left out: they are bound by memory,
    not by arithmetic.
    """
    encoder, batch = config.encoder, config.train.batch_size
    dynamic = encoder.attention == "dynamic"
    work = []
    for length in lengths:
        tokens = batch * length
        work += _dense_cnn(config, length)
        work.append(_map(tokens, encoder.compressed_units, encoder.attentions * encoder.units))
        if not dynamic:
            work += [_map(tokens, encoder.units, columns) for columns in (encoder.units, 1)]
    joined = encoder.attentions * encoder.units * (4 if len(lengths) == 2 else 1)
    for _ in range(config.task.hidden_layers):
        work.append(_map(batch, joined, config.task.hidden_units))
        joined = config.task.hidden_units
    return [*work, _map(batch, joined, classes)]


def _dense_cnn(config, length) -> list[Product]:
    """Returns the convolutions of the towers, then the compression."""
    encoder, dim = config.encoder, config.data.embedding_dim
    batch, trainable = config.train.batch_size, config.embedding.trainable
    work = []
    for width in encoder.widths:
        first = encoder.first_width or width
        work.append(_windows(batch, length, dim, first, encoder.first_units, trainable))
        for layer in range(1, encoder.layers):
            inner = encoder.first_units + (layer - 1) * encoder.dense_units
            work.append(_windows(batch, length, inner, width, encoder.dense_units))
    tower = encoder.first_units + (encoder.layers - 1) * encoder.dense_units
    inner = len(encoder.widths) * tower + dim
    return [*work, _map(batch * length, inner, encoder.compressed_units)]


def _map(rows, inner, columns, to_input=True) -> Product:
    return Product((rows, inner), (inner, columns), to_input)


def _windows(batch, length, inner, width, columns, to_input=True) -> Product:
    """Returns a convolution, or a plain product for windows of one token."""
    if width == 1:
        return _map(batch * length, inner, columns, to_input)
    return Product((batch, length, inner), (width, inner, columns), to_input)


def total_flops(products: list[Product], backward: bool) -> int:
    """Counts floating-point operations; a gradient costs as much as the product itself."""
    passes = [1 + (1 + product.to_input if backward else 0) for product in products]
    return sum(count * product.flops for count, product in zip(passes, products))


def make_products(products: list[Product], dtype: tf.DType, backward: bool):
    """Compiles a function without arguments that computes only the products.

    Every product has operands of its own, so that no product can be shared or computed beforehand.
    The function returns an entry of every result, so that no product can be left out.

    Args:
      products: see `step_products`.
      dtype: dtype of operands and results.
      backward: whether the gradients for both operands are computed too.
    """
    operands = [_operands(product, seed, dtype) for seed, product in enumerate(products)]

    @tf.function(autograph=False)
    def run():
        results = []
        for product, (x, weights, upstream) in zip(products, operands):
            sources = [x, weights] if product.to_input else [weights]
            with tf.GradientTape() as tape:
                tape.watch(sources)
                result = product.apply(x, weights)
            results.append(result)
            if backward:
                results += tape.gradient(result, sources, output_gradients=upstream)
        return tf.stack([tf.reshape(result, [-1])[0] for result in results])

    return run.get_concrete_function()


def _encoder_products(config, tokens):
    """Returns DiSAN's Eq. 14, 15 (two maps) and 19 (two) for both directions, and Eq. 12."""
    units = config.encoder.units
    block = [_map(tokens, config.data.embedding_dim, units)]
    block += [_map(tokens, units, units)] * 4
    return block * 2 + [_map(tokens, 2 * units, 2 * units)] * 2


def _operands(product, seed, dtype):
    """Returns input, weights and the result's gradient."""
    return [
        tf.cast(tf.random.stateless_normal(shape, [seed, part]), dtype)
        for part, shape in enumerate((product.x, product.weights, product.result))
    ]
