"""Several sentences in one row, so that a convolution reads little padding."""

from typing import Callable

import tensorflow as tf

from disan_tf.layers.dropout import Positions
from disan_tf.layers.tokens import LENGTH_MULTIPLE, ROWS_MULTIPLE, surplus
from disan_tf.ops.batch_share import Share, all_rows, current
from disan_tf.ops.tracing import ensure_shape, is_compiled, is_jit_compiled, on_host

SENTENCES_PER_ROW = 8
MIN_SAVING = 0.25  # least fraction of positions to save, for packing to pay


class PackedRows:
    """A batch of sentences, laid out for convolutions in fewer and fuller rows.

    The sentences, sorted from the longest to the shortest, are dealt to the rows back and forth,
    `SENTENCES_PER_ROW` to a row, so that all rows are about equally long. A gap of padding follows
    every sentence, so a convolution whose windows reach no further than the gap gives the same
    results as for each sentence alone. If packing saves less than `MIN_SAVING` of the positions,
    the batch stays as it is.

        rows = PackedRows(mask, gap=1)
        y = Convolution(3, width=3)(rows.pack(x), mask=rows.mask)
        rows.sentences(rows.tokens(y))  # the convolution of each sentence

    Args:
      mask: <bool>[batch, length], True = real token.
      gap: tokens of padding after a sentence.

    Attributes:
      mask: mask of the rows, <bool>[rows, width], True = real token.
      places: places of the rows' tokens, see `Dropout`; None if the batch is whole. XLA needs
        fixed shapes and does not pack; the tokens then have the places of the packed rows.
    """

    def __init__(self, mask: tf.Tensor, gap: int) -> None:
        self._sentences, self.places = mask, None
        if is_compiled():  # XLA knows no shape that depends on the data
            self._pays, self.mask = False, mask
            self.places = _places_if_packed(mask, gap) if is_jit_compiled() else None
            return
        with on_host():
            self._lay_out(mask, gap)
        self.mask = self._choose(self._packed_mask, lambda: mask)

    def _lay_out(self, mask: tf.Tensor, gap: int) -> None:
        """Computes the rows' shape, the tokens' places, and whether packing pays."""
        batch, length = tf.unstack(tf.shape(mask))
        ends = tf.reduce_max(tf.where(mask, tf.range(1, length + 1), 0), axis=1)
        rows = _ceil_div(batch, SENTENCES_PER_ROW)
        starts, width = _deal(tf.where(ends > 0, ends + gap, 0), rows)
        self._tokens = places = tf.cast(tf.where(mask), tf.int32)  # sentence and token
        self._positions = (tf.gather(starts, places[:, 0]) + places[:, 1])[:, None]
        self._shape = tf.stack([rows, width])
        self._places = tf.scatter_nd(self._positions, places, [rows * width, 2])
        share = current()
        if share is None:
            self._pays = _pays(rows * width, batch * length)
        else:
            self._pays, self.places = self._shared(share, ends, gap, length, places)

    def _shared(
        self, share: Share, ends: tf.Tensor, gap: int, length: tf.Tensor, tokens: tf.Tensor
    ) -> tuple[tf.Tensor, Positions]:
        """Returns whether packing pays for the global batch, and the rows' `Positions`."""
        ends = all_rows(ends)
        rows = _ceil_div(share.batch, SENTENCES_PER_ROW)
        starts, width = _deal(tf.where(ends > 0, ends + gap, 0), rows)
        self._pays = _pays(rows * width, share.batch * length)
        sentences = share.first + tokens[:, 0]

        def packed() -> tf.Tensor:
            places = tf.gather(starts, sentences) + tokens[:, 1]  # what is in a gap does not matter
            return self._in_rows(tf.scatter_nd(self._positions, places, tf.shape(self._places)[:1]))

        def unpacked() -> tf.Tensor:
            first = share.first + tf.range(share.rows)
            return first[:, None] * length + tf.range(length)

        count = tf.where(self._pays, rows * width, share.batch * length)
        return self._pays, Positions(self._choose(packed, unpacked), count)

    def pack(self, x: tf.Tensor) -> tf.Tensor:
        """Packs <float>[batch, length, dim] into [rows, width, dim]; gaps have arbitrary values."""

        def pack() -> tf.Tensor:
            return self._in_rows(tf.gather_nd(x, self._places))

        return ensure_shape(self._choose(pack, lambda: x), [None, None, x.shape[-1]])

    def tokens(self, x: tf.Tensor) -> tf.Tensor:
        """Gathers <float>[tokens, dim] from [rows, width, dim], for maps of independent tokens.

        Some rows of the result may be padding, or repeat another token.
        """
        flat = tf.reshape(x, [-1, x.shape[-1]])

        def select() -> tf.Tensor:
            more = surplus(tf.shape(self._positions)[0], ROWS_MULTIPLE)
            return tf.gather_nd(flat, tf.pad(self._positions, [[0, more], [0, 0]]))

        return ensure_shape(self._choose(select, lambda: flat), [None, x.shape[-1]])

    def sentences(self, tokens: tf.Tensor) -> tf.Tensor:
        """Turns the result of `tokens`, or a map of it, into <float>[batch, length, dim]."""
        dim = tokens.shape[-1]
        shape = tf.concat([tf.shape(self._sentences), [dim]], axis=0)

        def scatter() -> tf.Tensor:
            return tf.scatter_nd(self._tokens, tokens[: tf.shape(self._tokens)[0]], shape)

        sentences = self._choose(scatter, lambda: tf.reshape(tokens, shape))
        return ensure_shape(sentences, [*self._sentences.shape, dim])

    def _packed_mask(self) -> tf.Tensor:
        ones = tf.ones(tf.shape(self._positions)[:1], tf.int32)
        real = tf.scatter_nd(self._positions, ones, tf.shape(self._places)[:1])
        return self._in_rows(real > 0)

    def _in_rows(self, flat: tf.Tensor) -> tf.Tensor:
        return tf.reshape(flat, tf.concat([self._shape, tf.shape(flat)[1:]], axis=0))

    def _choose(
        self, packed: Callable[[], tf.Tensor], unpacked: Callable[[], tf.Tensor]
    ) -> tf.Tensor:
        return unpacked() if self._pays is False else tf.cond(self._pays, packed, unpacked)


def _ceil_div(x: tf.Tensor, divisor: int) -> tf.Tensor:
    """Returns x / divisor, rounded up; the division of ONNX rounds negative numbers up as well."""
    return (x + divisor - 1) // divisor


def _pays(packed: tf.Tensor, positions: tf.Tensor) -> tf.Tensor:
    return tf.cast(packed, tf.float32) < (1.0 - MIN_SAVING) * tf.cast(positions, tf.float32)


def _places_if_packed(mask: tf.Tensor, gap: int) -> Positions:
    """Returns the `Positions` that the tokens of an unpacked batch had in its rows."""
    batch, length = tf.unstack(tf.shape(mask))
    positions = tf.range(length)
    ends = tf.reduce_max(tf.where(mask, positions + 1, 0), axis=1)
    rows = _ceil_div(batch, SENTENCES_PER_ROW)
    starts, width = _deal(tf.where(ends > 0, ends + gap, 0), rows)
    starts = tf.where(_pays(rows * width, batch * length), starts, tf.range(batch) * length)
    count = batch * length  # no smaller than the packed rows, and constant
    return Positions(tf.minimum(starts[:, None] + positions, count - 1), count)


def _deal(sizes: tf.Tensor, rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Deals sentences of these lengths with gaps, <int32>[batch], to `rows` rows.

    Returns:
      The position of every sentence in the flattened rows <int32>[batch], and the rows' width.
    """
    batch = tf.shape(sizes)[0]
    order = tf.argsort(sizes, direction="DESCENDING", stable=True)
    dealt = tf.pad(tf.gather(sizes, order), [[0, rows * SENTENCES_PER_ROW - batch]])
    dealt = _back_and_forth(tf.reshape(dealt, [SENTENCES_PER_ROW, rows]))
    width = tf.maximum(1, tf.reduce_max(tf.reduce_sum(dealt, axis=0)))
    width = _ceil_div(width, LENGTH_MULTIPLE) * LENGTH_MULTIPLE
    starts = tf.range(rows) * width + tf.cumsum(dealt, axis=0, exclusive=True)
    starts = tf.reshape(_back_and_forth(starts), [-1])[:batch]
    return tf.scatter_nd(order[:, None], starts, [batch]), width


def _back_and_forth(x: tf.Tensor) -> tf.Tensor:
    """Reverses every other row of <int32>[rows, columns]."""
    odd = tf.range(tf.shape(x)[0])[:, None] % 2 == 1
    return tf.where(odd, tf.reverse(x, [1]), x)
