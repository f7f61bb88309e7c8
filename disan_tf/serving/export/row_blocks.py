"""Blocks of rows with similar lengths, in a graph: long texts cost short ones nothing."""

from typing import Callable

import tensorflow as tf

# Tokens and padding in a block of rows: enough for matrix products at full speed, few enough for
# little memory.
BLOCK_POSITIONS = 1536
# The number of rows is a multiple: TensorFlow slices aligned rows without copying them.
MULTIPLE = 4


def in_row_blocks(
    function: Callable[[tf.Tensor, tf.Tensor], tf.Tensor], lengths: tf.Tensor, size: int
) -> tf.Tensor:
    """Computes the results of a batch, <float32>[batch, size], in blocks of similar lengths.

    Memory is bounded by a block of `BLOCK_POSITIONS`, or by one row that is longer; no row of a
    block is shorter than half of its longest one.

    Args:
      function: (numbers of rows <int32>[block], their greatest lengths by field <int32>[fields])
        -> <float32>[block, size]. A row's result must not depend on other rows.
      lengths: the lengths of sentences, <int32>[batch, fields], at least 1.
    """
    longest = tf.reduce_max(lengths, axis=1)
    order = tf.argsort(longest, direction="DESCENDING", stable=True)
    longest, lengths, batch = tf.gather(longest, order), tf.gather(lengths, order), tf.size(order)

    def body(number, start, results):
        fitting = BLOCK_POSITIONS // longest[start]
        similar = tf.math.count_nonzero(2 * longest >= longest[start], dtype=tf.int32) - start
        rows = tf.minimum(fitting, similar)
        rows = tf.maximum(1, tf.where(rows < MULTIPLE, rows, rows // MULTIPLE * MULTIPLE))
        end = start + rows
        result = function(order[start:end], tf.reduce_max(lengths[start:end], axis=0))
        return number + 1, end, results.write(number, result)

    results = tf.TensorArray(
        tf.float32, size=0, dynamic_size=True, infer_shape=False, element_shape=[None, size]
    )
    *_, results = tf.while_loop(
        lambda number, start, results: start < batch, body, [0, 0, results], parallel_iterations=1
    )
    return tf.gather(results.concat(), tf.math.invert_permutation(order))
