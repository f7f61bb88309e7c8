"""Dropout whose masks are a pure function of a seed and the number of calls."""

import random
import zlib
from typing import NamedTuple, Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_rate
from disan_tf.layers.keras_layer import SAME_ON_REPLICAS, output_shape
from disan_tf.layers.serialization import ConfiguredLayer, KerasOptions, serializable
from disan_tf.ops import batch_share
from disan_tf.ops.dropout import apply_mask, keep_mask
from disan_tf.ops.masked_softmax import at_least_float32

_MOST_SEED = 10**9  # as in Keras


def site_seed(seed: int, site: str) -> int:
    """Returns a sublayer's 31-bit seed, from the parent's seed and the sublayer's name."""
    return zlib.crc32(f"{seed}/{site}".encode()) & 0x7FFFFFFF


def initial_seed(seed: Optional[int]) -> int:
    """Returns `seed`, or draws a seed if it is None.

    Seeds are drawn from Python's generator, as by the layers of Keras 3, so that
    `keras.utils.set_random_seed` makes them reproducible. Keras 2 draws the seeds of its
    initialisers from a generator of its own, which this function leaves alone.
    """
    return random.randint(1, _MOST_SEED) if seed is None else seed


def add_count(layer: tf.keras.layers.Layer) -> tf.Variable:
    """Adds a weight <int64>[] that counts a layer's calls, equal on all replicas."""
    options = {"dtype": "int64", "initializer": "zeros", "trainable": False, **SAME_ON_REPLICAS}
    return layer.add_weight(name="calls", shape=[], **options)


def next_seed(seed: int, calls: tf.Variable) -> tf.Tensor:
    """Returns the seed <int64>[2] of a layer's next stateless draw, and adds 1 to `calls`.

    Each replica of a `tf.distribute` strategy has a seed of its own, the first the seed of a single
    process. Replicas that share a batch (`disan_tf.ops.batch_share`) have one seed.
    """
    first, context = tf.constant(seed, tf.int64), tf.distribute.get_replica_context()
    is_shared = batch_share.current() is not None
    if context is not None and context.num_replicas_in_sync > 1 and not is_shared:
        replica = tf.cast(context.replica_id_in_sync_group, tf.int64)
        first += replica * (1 << 32)  # seeds of sites have 31 bits
    return tf.stack([first, calls.assign_add(1)])


class Positions(NamedTuple):
    """The rows of a global tensor <float>[count, dim] that a replica's <float>[..., dim] holds."""

    rows: tf.Tensor  # <int32>[...], indices of the rows in the global tensor
    count: tf.Tensor  # <int32>[]


@serializable
class Dropout(ConfiguredLayer):
    """Dropout (Srivastava et al. 2014) over stateless random numbers: y = keep * x / (1 - rate).

    The mask of the n-th training call is a function of (seed, n) alone, and n is a variable that
    is saved with the weights: a training that is killed and resumed draws the same masks as one
    that was never interrupted, bit for bit. A layer that is called twice in a step (a tied
    encoder) draws two masks.

    Args:
      rate: fraction of entries that are set to 0, in [0, 1); 1 minus the paper's keep probability.
      seed: integer, see `site_seed`; None = drawn, see `initial_seed`.

    Call arguments:
      x: <float>[...].
      training: whether entries are dropped; if not, x is returned unchanged.
      places: the `Positions` of x in the global tensor, for a `Share` of a batch whose first axis
        is not the batch, or for a layout other than the one whose masks are drawn.

    Returns:
      y, <float>[...].
    """

    reads_vectors = True

    def __init__(
        self, rate: float, seed: Optional[int] = None, **kwargs: Unpack[KerasOptions]
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.rate = check_rate("rate", rate)
        self.seed = initial_seed(seed)

    def build(self, input_shape: tf.TensorShape) -> None:
        self.calls = add_count(self)
        super().build(input_shape)

    def compute_output_shape(self, input_shape: tf.TensorShape) -> tf.TensorShape:
        return output_shape(input_shape)

    def call(
        self, x: tf.Tensor, training: Optional[bool] = None, places: Optional[Positions] = None
    ) -> tf.Tensor:
        if not training or not self.rate:
            return x
        if places is not None:
            wide = at_least_float32(x)
            whole = tf.ones([places.count, x.shape[-1]], wide.dtype)
            mask = self.keep(tf.size(whole, tf.int64))
            factors = apply_mask(whole, mask, self.rate)  # 1 / (1 - rate) or 0
            return tf.cast(wide * tf.gather(factors, places.rows), x.dtype)
        share = batch_share.current()
        if share is None:
            return apply_mask(x, self.keep(tf.size(x)), self.rate)
        entries = tf.size(x, tf.int64)
        first = entries // tf.cast(share.rows, tf.int64) * tf.cast(share.first, tf.int64)
        return apply_mask(x, self.keep(entries, first), self.rate)

    def keep(self, entries: tf.Tensor, first: Optional[tf.Tensor] = None) -> tf.Tensor:
        """Draws the next mask for a number of entries; see `disan_tf.ops.dropout.keep_mask`."""
        return keep_mask(entries, next_seed(self.seed, self.calls), self.rate, first)
