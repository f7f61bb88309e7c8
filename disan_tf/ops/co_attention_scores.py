"""Scores of all word pairs in two sentences, without a tensor [batch, L1, L2, dim].

In plain TensorFlow, every operation of a score v^T tanh(...) makes such a tensor, and the gradient
keeps them all. Here a loop walks over blocks of positions in the first sentence, forward and
backward, and the backward pass computes a block again.
"""

from typing import Callable, Optional

import tensorflow as tf

from disan_tf.ops.masked_softmax import at_least_float32, wide_dtype
from disan_tf.ops.native import runtime
from disan_tf.ops.tracing import block_numbers, ensure_shape, is_compiled, on_host

# Numbers in one tensor of a block on a CPU (measured: 1 << 20 exceeds the caches and is up to a
# quarter slower).
BLOCK_NUMBERS = 1 << 18


def additive_scores(first: tf.Tensor, second: tf.Tensor, vector: tf.Tensor) -> tf.Tensor:
    """Computes e_ij = sum_k vector_k tanh(first_ik + second_jk), in at least float32.

    The sentences are <float>[batch, length, dim], `vector` <float32>[dim], and the scores
    <float32>[batch, first length, second length]. All inputs receive gradients.
    """
    first, second, vector = map(tf.convert_to_tensor, (first, second, vector))
    if first.dtype != tf.float64 and runtime.is_used():
        sentences = (tf.cast(sentence, tf.float32) for sentence in (first, second))
        return runtime.operations().disan_additive_scores(*sentences, vector)

    def score(first, second, vector):
        return _weigh(tf.tanh(first[:, :, None] + second[:, None]), vector)

    return _blockwise(score, first, second, vector)


def product_scores(
    first: tf.Tensor,
    second: tf.Tensor,
    kernel: tf.Tensor,
    vector: tf.Tensor,
    pairs: Optional[tf.Tensor] = None,
) -> tf.Tensor:
    """Computes e_ij = vector^T tanh((first_i * second_j) kernel), as `additive_scores`.

    The product with `kernel` <float>[dim, units] has its dtype; everything else is at least
    float32. If `pairs` <bool>[batch, first length, second length] are given, others cost
    nothing and score 0.
    """
    first, second, kernel, vector = map(tf.convert_to_tensor, (first, second, kernel, vector))
    if pairs is not None and is_compiled():
        scores = product_scores(first, second, kernel, vector)
        return tf.where(pairs, scores, 0.0)
    if pairs is not None:
        pairs = tf.convert_to_tensor(pairs)
        return _chosen_product_scores(first, second, kernel, vector, pairs)

    def score(first, second, kernel, vector):
        return _score_products(first[:, :, None] * second[:, None], kernel, vector)

    return _blockwise(score, first, second, kernel, vector)


def _score_products(products, kernel, vector):
    """Computes the scores <float32>[...] of the products first_i * second_j <float32>[..., dim]."""
    dim, units = kernel.shape
    features = tf.matmul(tf.reshape(tf.cast(products, kernel.dtype), [-1, dim]), kernel)
    features = tf.reshape(features, [*tf.unstack(tf.shape(products)[:-1]), units])
    return _weigh(tf.tanh(at_least_float32(features)), vector)


def _chosen_product_scores(first, second, kernel, vector, pairs):
    """Computes the `product_scores` of chosen pairs, in blocks of one size for all batches."""
    dim = kernel.shape[0]
    block = max(1, BLOCK_NUMBERS // dim)
    with on_host():
        indices, shape = tf.cast(tf.where(pairs), tf.int32), tf.shape(pairs)
        count = tf.shape(indices)[0]
        words = [  # rows of the first and of the second sentences, <int32>[blocks, block]
            tf.reshape(
                tf.pad(indices[:, 0] * shape[k] + indices[:, k], [[0, -count % block]]), [-1, block]
            )
            for k in (1, 2)
        ]

    @tf.custom_gradient
    def scores(first, second, kernel, vector):
        def score(block_words):
            first_words, second_words = block_words
            products = tf.gather(first, first_words) * tf.gather(second, second_words)
            return _score_products(products, kernel, vector)

        def gradient(upstream):
            return _chosen_gradient(upstream, words, first, second, kernel, vector)

        signature = tf.TensorSpec([block], wide_dtype(kernel.dtype))
        return tf.map_fn(score, words, fn_output_signature=signature), gradient

    rows = (tf.reshape(at_least_float32(tensor), [-1, dim]) for tensor in (first, second))
    chosen = tf.reshape(scores(*rows, kernel, vector), [-1])[:count]
    return ensure_shape(tf.scatter_nd(indices, chosen, shape), pairs.shape)


def _chosen_gradient(upstream, words, first, second, kernel, vector):
    """Computes the gradients for `_chosen_product_scores`, summed in float32."""

    def add(sums, block):
        *block_words, block_upstream = block
        rows = [tf.gather(*pair) for pair in zip((first, second), block_words)]
        with tf.GradientTape() as tape:
            tape.watch([*rows, kernel, vector])
            scores = _score_products(rows[0] * rows[1], kernel, vector)
        inputs = [*rows, kernel, vector]
        *to_rows, to_kernel, to_vector = _gradients(tape, scores, inputs, block_upstream)
        to_words = [
            total + tf.math.unsorted_segment_sum(gradient, row_numbers, tf.shape(total)[0])
            for total, row_numbers, gradient in zip(sums, block_words, to_rows)
        ]
        return *to_words, sums[2] + at_least_float32(to_kernel), sums[3] + to_vector

    inputs = first, second, kernel, vector
    sums = tuple(tf.zeros_like(tensor, wide_dtype(tensor.dtype)) for tensor in inputs)
    to_first, to_second, to_kernel, to_vector = tf.foldl(add, (*words, upstream), sums)
    return to_first, to_second, tf.cast(to_kernel, kernel.dtype), to_vector


def _gradients(tape, scores, inputs, upstream):
    """Calls `tape.gradient`; the tape records nothing in forward mode."""
    gradients = tape.gradient(scores, inputs, upstream)
    if gradients[0] is None:
        raise NotImplementedError(
            "Co-attention scores have no forward mode (tf.autodiff.ForwardAccumulator); compute "
            "their derivatives with tf.GradientTape."
        )
    return gradients


def _weigh(features: tf.Tensor, vector: tf.Tensor) -> tf.Tensor:
    """Computes features^T vector, <float32>[...], for <float32>[..., dim] and <float32>[dim]."""
    weighted = tf.matmul(tf.reshape(features, [-1, vector.shape[0]]), vector[:, None])
    return tf.reshape(weighted, tf.shape(features)[:-1])


@tf.autograph.experimental.do_not_convert  # AutoGraph cannot convert the loop's body
def _blockwise(
    score: Callable, first: tf.Tensor, second: tf.Tensor, *weights: tf.Tensor
) -> tf.Tensor:
    """Computes score(first, second, *weights) block by block, for float32 sentences.

    XLA, which needs fixed shapes and fuses operations, computes all pairs at once.
    """
    if is_compiled():
        return score(*(at_least_float32(sentence) for sentence in (first, second)), *weights)

    @tf.custom_gradient
    def scores(first, second, *weights):
        def gradient(upstream):
            return _backward(score, upstream, first, second, *weights)

        return _forward(score, first, second, *weights), gradient

    return scores(*(at_least_float32(sentence) for sentence in (first, second)), *weights)


def _forward(score, first, second, *weights):
    def body(start, end, scores):
        block = score(first[:, start:end], second, *weights)
        return (tf.concat([scores, block], axis=1),)

    empty = tf.zeros([tf.shape(first)[0], 0, tf.shape(second)[1]], first.dtype)
    (scores,) = _walk(body, first, second, empty)
    return ensure_shape(scores, [*first.shape[:2], second.shape[1]])


def _backward(score, upstream, first, second, *weights):
    """Computes the gradients for the inputs of `score`, summed over the blocks in float32."""
    shared = [second, *weights]

    def body(start, end, first_gradient, *sums):
        block = first[:, start:end]
        with tf.GradientTape() as tape:
            tape.watch([block, *shared])
            scores = score(block, *shared)
        inputs = [block, *shared]
        to_block, *to_shared = _gradients(tape, scores, inputs, upstream[:, start:end])
        first_gradient = tf.concat([first_gradient, to_block], axis=1)
        sums = (total + at_least_float32(part) for total, part in zip(sums, to_shared))
        return first_gradient, *sums

    sums = (tf.zeros_like(tensor, wide_dtype(tensor.dtype)) for tensor in shared)
    first_gradient, *sums = _walk(body, first, second, first[:, :0], *sums)
    return first_gradient, *(tf.cast(total, like.dtype) for total, like in zip(sums, shared))


def _walk(body, first, second, grown, *sums):
    """Calls body(start, end, grown, *sums) for each block of `first`; returns the last results.

    `body` returns `grown`, extended by the block along axis 1, and the new `sums`.
    """
    batch, length, dim = tf.unstack(tf.shape(first))
    numbers = tf.maximum(batch * tf.shape(second)[1] * dim, 1)  # for one position
    size = tf.maximum(block_numbers(BLOCK_NUMBERS) // numbers, 1)

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
