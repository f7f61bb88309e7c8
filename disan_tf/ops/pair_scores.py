"""Scores of all pairs of words of two sentences, without a tensor [batch, L1, L2, dim].

Such a tensor is what a score of the form v^T tanh(...) needs at once, once for every operation, and
what its gradient keeps. Here a loop walks over blocks of the first sentence's positions, forward
and backward, and the backward pass computes a block again.
"""

from typing import Callable

import tensorflow as tf

from disan_tf.ops import native

# One block's tensors hold about this many numbers (measured at batch 64, lengths 14/8 and 40/30:
# 1 << 18 and 1 << 19 are as fast or up to a quarter faster than 1 << 20, which leaves the caches).
BLOCK_NUMBERS = 1 << 18


def additive_scores(first: tf.Tensor, second: tf.Tensor, vector: tf.Tensor) -> tf.Tensor:
    """e_ij = sum_k vector_k tanh(first_ik + second_jk), in float32 for every input dtype.

    Args:
      first: <float>[batch, first length, dim].
      second: <float>[batch, second length, dim].
      vector: <float32>[dim].

    Returns:
      <float32>[batch, first length, second length]. All inputs receive gradients.
    """
    if native.is_used():
        sentences = (tf.cast(sentence, tf.float32) for sentence in (first, second))
        return native.operations().disan_additive_scores(*sentences, vector)

    def score(first, second, vector):
        return _weigh(tf.tanh(first[:, :, None] + second[:, None]), vector)

    return _blockwise(score, first, second, vector)


def product_scores(
    first: tf.Tensor, second: tf.Tensor, kernel: tf.Tensor, vector: tf.Tensor
) -> tf.Tensor:
    """e_ij = vector^T tanh((first_i * second_j) kernel).

    The product with `kernel` has its dtype, all else is float32.

    Args:
      first: <float>[batch, first length, dim].
      second: <float>[batch, second length, dim].
      kernel: <float>[dim, units].
      vector: <float32>[units].

    Returns:
      <float32>[batch, first length, second length]. All inputs receive gradients.
    """

    def score(first, second, kernel, vector):
        pairs = tf.cast(first[:, :, None] * second[:, None], kernel.dtype)
        product = tf.matmul(tf.reshape(pairs, [-1, kernel.shape[0]]), kernel)
        product = tf.reshape(product, [*tf.unstack(tf.shape(pairs)[:3]), kernel.shape[1]])
        return _weigh(tf.tanh(tf.cast(product, tf.float32)), vector)

    return _blockwise(score, first, second, kernel, vector)


@tf.RegisterGradient("DisanAdditiveScores")
def _additive_scores_gradient(operation, upstream):
    return native.operations().disan_additive_scores_gradient(*operation.inputs, upstream)


def _weigh(features: tf.Tensor, vector: tf.Tensor) -> tf.Tensor:
    """features^T vector, <float32>[...], for <float32>[..., dim] and <float32>[dim]."""
    weighted = tf.matmul(tf.reshape(features, [-1, vector.shape[0]]), vector[:, None])
    return tf.reshape(weighted, tf.shape(features)[:-1])


@tf.autograph.experimental.do_not_convert  # which cannot read the loop's body
def _blockwise(
    score: Callable, first: tf.Tensor, second: tf.Tensor, *weights: tf.Tensor
) -> tf.Tensor:
    """score(first, second, *weights), block by block; `score` gets float32 sentences."""

    @tf.custom_gradient
    def scores(first, second, *weights):
        def gradient(upstream):
            return _backward(score, upstream, first, second, *weights)

        return _forward(score, first, second, *weights), gradient

    return scores(*(tf.cast(sentence, tf.float32) for sentence in (first, second)), *weights)


def _forward(score, first, second, *weights):
    def body(start, end, scores):
        block = score(first[:, start:end], second, *weights)
        return (tf.concat([scores, block], axis=1),)

    empty = tf.zeros([tf.shape(first)[0], 0, tf.shape(second)[1]])
    (scores,) = _walk(body, first, second, empty)
    return tf.ensure_shape(scores, [*first.shape[:2], second.shape[1]])


def _backward(score, upstream, first, second, *weights):
    """Gradients for the inputs of `score`; their sums over the blocks are float32."""
    shared = [second, *weights]

    def body(start, end, first_gradient, *sums):
        block = first[:, start:end]
        with tf.GradientTape() as tape:
            tape.watch([block, *shared])
            scores = score(block, *shared)
        found = tape.gradient(scores, [block, *shared], upstream[:, start:end])
        first_gradient = tf.concat([first_gradient, found[0]], axis=1)
        sums = (total + tf.cast(part, tf.float32) for total, part in zip(sums, found[1:]))
        return first_gradient, *sums

    sums = (tf.zeros_like(tensor, tf.float32) for tensor in shared)
    first_gradient, *sums = _walk(body, first, second, first[:, :0], *sums)
    return first_gradient, *(tf.cast(total, like.dtype) for total, like in zip(sums, shared))


def _walk(body, first, second, grown, *sums):
    """The results of body(start, end, grown, *sums) after it has seen all blocks of `first`.

    `body` returns its last arguments anew; `grown` is longer by the block, in axis 1.
    """
    batch, length, dim = tf.unstack(tf.shape(first))
    numbers = tf.maximum(batch * tf.shape(second)[1] * dim, 1)  # of one position
    size = tf.maximum(BLOCK_NUMBERS // numbers, 1)

    def step(start, *results):
        end = tf.minimum(start + size, length)
        return end, *body(start, end, *results)

    growing = tf.TensorShape([grown.shape[0], None, grown.shape[2]])
    _, *results = tf.while_loop(
        lambda start, *_: start < length,
        step,
        [0, grown, *sums],
        shape_invariants=[tf.TensorShape([]), growing, *(total.shape for total in sums)],
        parallel_iterations=1,
    )
    return results
