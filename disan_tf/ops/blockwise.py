"""Directional attention in memory O(batch * length * dim), in portable TensorFlow.

The plain form keeps about eight tensors of [batch, length, length, dim] for its gradient. The lean
form walks over blocks of heads (forward pass) and of dependents (backward pass), keeps only the
context and the softmax denominators, and computes the rest again. A block also skips the range of
pairs that its direction forbids, nearly half of them (measured: twice as fast as the plain form).
Under XLA, whose slices have fixed sizes, a block computes all pairs and masks the forbidden ones.
For a GPU, XLA joins a block's operations in a few kernels; pairs that fit into one block then need
no loop.
"""

import functools

import tensorflow as tf

from disan_tf.ops.masked_softmax import admissible_pairs, positional_mask, selected_rows
from disan_tf.ops.tracing import (
    GPU_BLOCK_NUMBERS,
    block_numbers,
    ensure_shape,
    is_compiled,
    is_jit_compiled,
    is_on_gpu,
)

# Numbers in one tensor of a block on a CPU. They fit into the caches, and hide the cost of starting
# an operation (measured: 1 << 18 to 1 << 22 differ by a fifth).
BLOCK_NUMBERS = 1 << 21


def lean_attention(head, dependent, value, mask, *, direction, head_mask=None, scale=5.0):
    """Computes DiSAN Eq. 15 and 11 in blocks; for the arguments see `directional_attention`."""
    options = {"mask": mask, "direction": direction, "scale": scale}
    passes = (functools.partial(each, **options) for each in (lean_forward, lean_backward))
    inputs = selected_rows(head, dependent, value, mask, head_mask)
    return attend_with_gradient(*passes, inputs, head_mask, value)


def attend_with_gradient(forward, backward, inputs, head_mask, value):
    """Computes the context <float>[batch, length, dim], as `value`, with a gradient of its own.

    Args:
      forward: inputs -> the context s_j and the softmax denominator.
      backward: (upstream, *inputs, context, denominator) -> the inputs' gradients.
      inputs: the `selected_rows`.
      head_mask: <bool>[batch, length], or None.
      value: a tensor with the shape and dtype of the result.
    """

    @tf.custom_gradient
    def attend(*inputs):
        context, denominator = forward(*inputs)

        def gradient(upstream):
            return backward(upstream, *inputs, context, denominator)

        return context, gradient

    context = ensure_shape(attend(*inputs), value.shape)
    if head_mask is not None:
        context = tf.where(head_mask[:, :, None], context, 0.0)
    return tf.cast(context, value.dtype)


def lean_forward(head, dependent, value, mask, direction, scale):
    """Returns the context s_j and the softmax denominator, both <float32>[batch, length, dim]."""
    if needs_no_loop(head):
        pairs = admissible_pairs(mask, direction)
        return block_context(head[:, :, None], dependent[:, None], value[:, None], pairs, scale)
    length, (size, blocks) = tf.shape(head)[1], _blocks(head)
    head = tf.pad(head, [[0, 0], [0, blocks * size - length], [0, 0]])
    within, positions = tf.range(size), tf.range(length)

    def body(block, contexts, denominators):
        heads = block * size + within
        start, end = _range(heads, length, direction)
        context, denominator = block_context(
            tf.gather(head, heads, axis=1)[:, :, None, :],
            dependent[:, None, start:end, :],
            value[:, None, start:end, :],
            positional_mask(heads, positions[start:end], direction)[None]
            & mask[:, None, start:end],
            scale,
        )
        return [block + 1, contexts.write(block, context), denominators.write(block, denominator)]

    arrays = [tf.TensorArray(head.dtype, size=blocks) for _ in range(2)]
    _, *arrays = tf.while_loop(
        lambda block, *_: block < blocks, body, [0, *arrays], parallel_iterations=1
    )
    return [unblock(array, head, blocks, size)[:, :length] for array in arrays]


def lean_backward(upstream, head, dependent, value, context, denominator, mask, direction, scale):
    """Computes the gradients for head, dependent and value.

    With p_ij the attention, g_j the upstream gradient and t_ij the tanh:
    dv_i = sum_j p_ij g_j and d(dependent_i + head_j) = p_ij g_j (v_i - s_j) (1 - t_ij^2).
    """
    scaled = tf.math.divide_no_nan(upstream, denominator)  # g_j over the denominator
    if needs_no_loop(head):
        rows = (tensor[:, :, None] for tensor in (head, scaled, context))
        columns = (tensor[:, None] for tensor in (dependent, value))
        pairs = admissible_pairs(mask, direction)
        return block_gradients(*rows, *columns, pairs, scale)
    length, (size, blocks) = tf.shape(head)[1], _blocks(head)
    padding = [[0, 0], [0, blocks * size - length], [0, 0]]
    dependent, value = tf.pad(dependent, padding), tf.pad(value, padding)
    mask = tf.pad(mask, padding[:2])
    mirrored = {"forward": "backward", "backward": "forward"}.get(direction, direction)
    within = tf.range(size)

    def body(block, head_gradient, dependent_gradients, value_gradients):
        dependents = block * size + within
        own_dependent, own_value, own_mask = (
            _rows(tensor, block, within) for tensor in (dependent, value, mask)
        )
        start, end = _range(dependents, length, mirrored)
        heads = tf.range(start, end)
        block_gradient, *sums = block_gradients(
            *(tensor[:, start:end, None, :] for tensor in (head, scaled, context)),
            own_dependent[:, None],
            own_value[:, None],
            positional_mask(heads, dependents, direction)[None] & own_mask[:, None],
            scale,
        )
        dependent_gradients = dependent_gradients.write(block, sums[0])
        value_gradients = value_gradients.write(block, sums[1])
        head_gradient += tf.pad(block_gradient, [[0, 0], [start, length - end], [0, 0]])
        head_gradient.set_shape(head.shape)  # the loop must keep this shape
        return block + 1, head_gradient, dependent_gradients, value_gradients

    arrays = [tf.TensorArray(head.dtype, size=blocks) for _ in range(2)]
    _, head_gradient, *arrays = tf.while_loop(
        lambda block, *_: block < blocks,
        body,
        [0, tf.zeros_like(head), *arrays],
        parallel_iterations=1,
    )
    dependent_gradient, value_gradient = (
        unblock(array, head, blocks, size)[:, :length] for array in arrays
    )
    return head_gradient, dependent_gradient, value_gradient


def block_context(head, dependent, value, pairs, scale):
    """Returns the context s_j and the softmax denominator of a block's heads.

    `head` is <float32>[batch, heads, 1, dim], `dependent` and `value` [batch, 1, dependents, dim],
    `pairs` <bool>[batch, heads, dependents]; both results are <float32>[batch, heads, dim].
    """
    _, weights = pair_weights(head, dependent, pairs, scale)
    denominator = tf.reduce_sum(weights, axis=2)
    context = tf.reduce_sum(weights * value, axis=2)
    return tf.math.divide_no_nan(context, denominator), denominator


def block_gradients(head, scaled, context, dependent, value, pairs, scale):
    """Returns the gradients that a block adds for head, dependent and value.

    `scaled`, g_j over the denominator, and `context` have the shape of `head` in `block_context`.
    """
    tanh, weights = pair_weights(head, dependent, pairs, scale)
    weights *= scaled  # p_ij g_j
    value_gradient = tf.reduce_sum(weights, axis=1)
    weights *= value - context
    weights *= 1.0 - tf.square(tanh)
    return tf.reduce_sum(weights, axis=2), tf.reduce_sum(weights, axis=1), value_gradient


def needs_no_loop(head) -> bool:
    """Returns whether XLA computes all pairs of <float32>[batch, length, dim] at once on a GPU."""
    return is_jit_compiled() and is_on_gpu() and fits_one_block(head, GPU_BLOCK_NUMBERS)


def fits_one_block(head, numbers: int = BLOCK_NUMBERS) -> bool:
    """Returns whether all pairs of <float>[batch, length, dim] are known to fit into one block."""
    shape = head.shape
    return shape.is_fully_defined() and shape.num_elements() * shape[1] <= numbers


def _blocks(tensor):
    """Returns the tokens in a block and the number of blocks, for <float32>[batch, length, dim]."""
    length = tf.maximum(tf.shape(tensor)[1], 1)  # one empty block for a batch without tokens
    fitting = block_numbers(BLOCK_NUMBERS) // tf.maximum(tf.size(tensor), 1)
    size = tf.clip_by_value(fitting, 1, length)
    return size, (length + size - 1) // size


def _range(heads, length, direction):
    """Returns the range of dependents that any head of the block may attend to; XLA needs all."""
    if is_compiled():
        return 0, length
    start = tf.minimum(heads[0] + 1, length) if direction == "backward" else 0
    end = tf.minimum(heads[-1], length) if direction == "forward" else length
    return start, end


def _rows(tensor, block, within):
    """Returns a block of tokens, [batch, size, ...]; XLA's slices begin at constants."""
    size = tf.size(within)
    if is_compiled():
        return tf.gather(tensor, block * size + within, axis=1)
    return tensor[:, block * size : (block + 1) * size]


def pair_weights(head, dependent, pairs, scale):
    """Returns tanh((dependent_i + head_j) / scale), and exp(scale * tanh) for `pairs`, else 0.

    The logits lie in [-scale, scale], so no maximum has to be subtracted.
    """
    tanh = tf.tanh((dependent + head) * (1.0 / scale))  # [batch, head, dependent, feature]
    return tanh, tf.exp(scale * tanh) * tf.cast(pairs, tanh.dtype)[..., None]


def unblock(array, like, blocks, size):
    """Joins a TensorArray of [batch, size, dim] blocks into [batch, blocks * size, dim]."""
    shape = tf.shape(like)
    stacked = tf.reshape(array.stack(), [blocks, shape[0], size, shape[2]])
    return tf.reshape(tf.transpose(stacked, [1, 0, 2, 3]), [shape[0], blocks * size, shape[2]])
