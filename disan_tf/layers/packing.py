"""Sequences without padding, or without the tokens that were not selected."""

import tensorflow as tf

# oneDNN compiles a product for each shape that it meets, in 10 to 25 ms, and keeps 1,024 of them;
# of 1,424 tokens with 1,633 features and 100 units it takes 2 ms.
ROWS = 128
LENGTH = 8

SENTENCES = 8  # of a row of `PackedRows`
SAVED = 0.25  # what a layout in `PackedRows` must save to be worth its copies


def pack(x: tf.Tensor, selected: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The selected tokens of each sentence, in their order, from the left.

    Args:
      x: <float>[batch, length, dim].
      selected: <bool>[batch, length].

    Returns:
      <float>[batch, packed length, dim], 0 on padding, and its `packed_mask`.
    """
    mask = packed_mask(selected)
    first = tf.argsort(tf.cast(~selected, tf.int32), axis=1, stable=True)[:, : tf.shape(mask)[1]]
    packed = tf.gather(x, first, batch_dims=1)
    return tf.where(mask[:, :, None], packed, tf.zeros([], x.dtype)), mask


def packed_mask(selected: tf.Tensor) -> tf.Tensor:
    """The mask of packed sequences, <bool>[batch, packed length].

    The packed length is the greatest number of selected tokens in a sentence, at least 1.
    """
    count = tf.reduce_sum(tf.cast(selected, tf.int32), axis=1)
    return tf.sequence_mask(count, tf.maximum(1, tf.reduce_max(count)))


def real_tokens(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """The tokens of all sentences, one after the other, without padding.

    What is done to each token by itself costs nothing for padding then. SNLI pairs in batches of 64
    in any order, both sentences padded to the longest of all, are 68 % padding.

    Args:
      x: <float>[batch, length, dim].
      mask: <bool>[batch, length], True = real token.

    Returns:
      <float>[rows, dim], with as many rows as there are tokens, rounded up to `ROWS`: the surplus
      repeats some token, and `placed_tokens` leaves it out.
    """
    places = tf.where(mask)
    surplus = -tf.shape(places)[0] % ROWS
    return tf.gather_nd(x, tf.pad(places, [[0, surplus], [0, 0]]))


def placed_tokens(tokens: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """The inverse of `real_tokens`: <float>[rows, dim] -> [batch, length, dim], 0 on padding."""
    places = tf.where(mask)
    shape = tf.concat([tf.shape(mask, tf.int64), [tokens.shape[-1]]], axis=0)
    placed = tf.scatter_nd(places, tokens[: tf.shape(places)[0]], shape)
    return tf.ensure_shape(placed, [*mask.shape, tokens.shape[-1]])


def rounded(x: tf.Tensor) -> tf.Tensor:
    """[batch, length, ...] with padding, 0 or False, up to a length that is a multiple of `LENGTH`.

    The fewer shapes there are, the fewer products must be compiled, see `ROWS`.
    """
    x = tf.convert_to_tensor(x)
    surplus = -tf.shape(x)[1] % LENGTH
    return tf.pad(x, [[0, 0], [0, surplus], *[[0, 0]] * (x.shape.rank - 2)])


class PackedRows:
    """Sentences laid out for convolutions with less padding: several to a row, if that pays.

    The sentences, from the longest to the shortest, are dealt to the rows there and back, so that
    all rows are about as long: rows of `SENTENCES`, with a gap of padding after each. A convolution
    whose windows reach no further than the gap sees of it what it sees of each sentence alone.
    Where that does not save `SAVED` of the positions, the batch stays as it is.

    Args:
      mask: <bool>[batch, length], True = real token.
      gap: padding after a sentence.

    Attributes:
      mask: <bool>[rows, width], where the real tokens stand.
    """

    def __init__(self, mask: tf.Tensor, gap: int):
        self._sentences = mask
        batch, length = tf.unstack(tf.shape(mask))
        ends = tf.reduce_max(tf.where(mask, tf.range(1, length + 1), 0), axis=1)
        taken = tf.where(ends > 0, ends + gap, 0)
        order = tf.argsort(taken, direction="DESCENDING", stable=True)
        rows = -(-batch // SENTENCES)
        dealt = tf.pad(tf.gather(taken, order), [[0, rows * SENTENCES - batch]])
        dealt = _back_and_forth(tf.reshape(dealt, [SENTENCES, rows]))
        width = tf.maximum(1, tf.reduce_max(tf.reduce_sum(dealt, axis=0)))
        width = -(-width // LENGTH) * LENGTH
        starts = tf.range(rows) * width + tf.cumsum(dealt, axis=0, exclusive=True)
        starts = tf.reshape(_back_and_forth(starts), [-1])[:batch]
        starts = tf.scatter_nd(order[:, None], starts, [batch])  # of each sentence
        places = tf.cast(tf.where(mask), tf.int32)
        self._positions = (tf.gather(starts, places[:, 0]) + places[:, 1])[:, None]
        self._shape = tf.stack([rows, width])
        self._places = tf.scatter_nd(self._positions, places, [rows * width, 2])
        self._pays = tf.cast(rows * width, tf.float32) < (1.0 - SAVED) * tf.cast(
            batch * length, tf.float32
        )
        self.mask = self._choose(self._packed_mask, lambda: mask)

    def lay(self, x: tf.Tensor) -> tf.Tensor:
        """<float>[batch, length, dim] -> [rows, width, dim], with anything in the gaps."""

        def pack():
            return self._in_rows(tf.gather_nd(x, self._places))

        return tf.ensure_shape(self._choose(pack, lambda: x), [None, None, x.shape[-1]])

    def tokens(self, x: tf.Tensor) -> tf.Tensor:
        """<float>[rows, width, dim] -> <float>[tokens, dim], for what is done to each by itself.

        Some may be padding, or repeat another token.
        """
        flat = tf.reshape(x, [-1, x.shape[-1]])

        def select():
            surplus = -tf.shape(self._positions)[0] % ROWS
            return tf.gather_nd(flat, tf.pad(self._positions, [[0, surplus], [0, 0]]))

        return tf.ensure_shape(self._choose(select, lambda: flat), [None, x.shape[-1]])

    def sentences(self, tokens: tf.Tensor) -> tf.Tensor:
        """What `tokens` gave, or what became of it, as <float>[batch, length, dim]."""
        dim = tokens.shape[-1]
        shape = tf.concat([tf.shape(self._sentences), [dim]], axis=0)
        placed = self._choose(
            lambda: placed_tokens(tokens, self._sentences), lambda: tf.reshape(tokens, shape)
        )
        return tf.ensure_shape(placed, [*self._sentences.shape, dim])

    def _packed_mask(self):
        ones = tf.ones(tf.shape(self._positions)[:1], tf.int32)
        real = tf.scatter_nd(self._positions, ones, tf.shape(self._places)[:1])
        return self._in_rows(real > 0)

    def _in_rows(self, flat):
        return tf.reshape(flat, tf.concat([self._shape, tf.shape(flat)[1:]], axis=0))

    def _choose(self, packed, as_it_is):
        return tf.cond(self._pays, packed, as_it_is)


def _back_and_forth(x):
    """Every other row of <int32>[rows, columns] from the right to the left."""
    odd = tf.range(tf.shape(x)[0])[:, None] % 2 == 1
    return tf.where(odd, tf.reverse(x, [1]), x)
