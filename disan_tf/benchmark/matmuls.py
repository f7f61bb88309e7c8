"""The matrix products of a DiSAN step, alone: what no faster attention can take away."""

from typing import NamedTuple

import tensorflow as tf


class Product(NamedTuple):
    """<float>[rows, inner] times <float>[inner, columns]."""

    rows: int
    inner: int
    columns: int

    @property
    def flops(self) -> int:
        return 2 * self.rows * self.inner * self.columns


def step_products(config, lengths: tuple, classes: int) -> list[Product]:
    """The products of a forward pass of the encoder "disan" and its head.

    Args:
      config: a config of `configs/`.
      lengths: padded length of each sentence of an example; one, or two for pairs.
      classes: number of classes.
    """
    batch, units = config.train.batch_size, config.encoder.units
    hidden = config.task.hidden_units
    encoders = [_encoder_products(config, batch * length) for length in lengths]
    joined = 2 * units * (4 if len(lengths) == 2 else 1)  # [p; h; p - h; p * h]
    head = [Product(batch, joined, hidden), Product(batch, hidden, classes)]
    return sum(encoders, []) + head


def total_flops(products: list[Product], backward: bool) -> int:
    """Floating-point operations; the two products of the gradients cost one forward pass each."""
    return (3 if backward else 1) * sum(product.flops for product in products)


def make_products(products: list[Product], dtype: tf.DType, backward: bool):
    """A compiled function without arguments that computes the products and nothing else.

    Each has operands of its own, so that none can be shared or computed beforehand, and an entry
    of each result is returned, so that none can be left out.

    Args:
      products: see `step_products`.
      dtype: of operands and results.
      backward: whether also the gradients for both operands are computed.
    """
    operands = [_operands(product, seed, dtype) for seed, product in enumerate(products)]

    @tf.function(autograph=False)
    def run():
        results = [tf.matmul(x, weights) for x, weights, _ in operands]
        for x, weights, upstream in reversed(operands if backward else []):
            results.append(tf.matmul(upstream, weights, transpose_b=True))
            results.append(tf.matmul(x, upstream, transpose_a=True))
        return tf.stack([result[0, 0] for result in results])

    return run.get_concrete_function()


def _encoder_products(config, tokens):
    """DiSAN Eq. 14, 15 (two maps) and 19 (two) for each direction, and Eq. 12."""
    units = config.encoder.units
    block = [Product(tokens, config.data.embedding_dim, units)]
    block += [Product(tokens, units, units)] * 4
    return block * 2 + [Product(tokens, 2 * units, 2 * units)] * 2


def _operands(product, seed, dtype):
    """Input, weights and the gradient of the result."""
    shapes = [
        (product.rows, product.inner),
        (product.inner, product.columns),
        (product.rows, product.columns),
    ]
    return [
        tf.cast(tf.random.stateless_normal(shape, [seed, part]), dtype)
        for part, shape in enumerate(shapes)
    ]
