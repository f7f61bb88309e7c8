"""The lean form: blocks in compiled functions, and memory that grows with the length alone."""

import sys
from functools import partial
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.ops import blockwise
from disan_tf.ops.blockwise import lean_attention
from disan_tf.ops.directional_attention import plain_attention
from disan_tf.ops.tracing import target
from tests.support.ops.attention_problems import (
    assert_close,
    compiled_step,
    make_inputs,
    make_mask,
)
from tests.support.processes import run_program

GIB = 1 << 30


@pytest.mark.parametrize("direction", ["backward", "diagonal"])
def test_compiled_with_unknown_shapes_in_several_blocks_it_is_the_same(direction):
    inputs = [tf.constant(tensor, tf.float32) for tensor in make_inputs(2, 7, 3)]
    mask = tf.constant(np.random.default_rng(3).random([2, 7]) < 0.7)
    step, compiled = compiled_step(partial(lean_attention, direction=direction), 3)
    for length in (7, 1, 4):
        short = [tensor[:, :length] for tensor in (mask, *inputs)]
        with mock.patch.object(blockwise, "BLOCK_NUMBERS", 2 * 2 * 7 * 3):  # two of seven tokens
            actual = compiled(*short)
        for ours, expected in zip(actual, step(*short)):
            assert_close(ours, expected, 2e-6)


def test_under_xla_it_is_the_plain_form():
    inputs = [tf.constant(tensor, tf.float32) for tensor in make_inputs(2, 7, 3)]
    mask = tf.constant(make_mask(2, 7, 3))
    lean_form, plain_form = (
        partial(form, direction="forward") for form in (lean_attention, plain_attention)
    )
    _, lean = compiled_step(lean_form, 3, jit_compile=True)
    plain, _ = compiled_step(plain_form, 3)
    for length in (7, 1):
        short = [tensor[:, :length] for tensor in (mask, *inputs)]
        with mock.patch.object(blockwise, "BLOCK_NUMBERS", 2 * 2 * 7 * 3):  # two of seven tokens
            actual = lean(*short)
        for ours, expected in zip(actual, plain(*short)):
            assert_close(ours, expected, 1e-5)


def test_for_a_gpu_xla_computes_one_block_without_a_loop():
    inputs = [
        tf.constant(tensor, tf.float32) for tensor in (make_mask(2, 7, 3), *make_inputs(2, 7, 3))
    ]
    inputs[0] = inputs[0] > 0
    plain, _ = compiled_step(partial(plain_attention, direction="diagonal"), 3)
    lean, _ = compiled_step(partial(lean_attention, direction="diagonal"), 3)
    with target("GPU"):
        compiled = tf.function(lean, autograph=False, jit_compile=True)
        actual = compiled(*inputs)
    kinds = {
        operation.type
        for operation in compiled.get_concrete_function(*inputs).graph.get_operations()
    }
    assert not {"While", "StatelessWhile"} & kinds
    for ours, expected in zip(actual, plain(*inputs)):
        assert_close(ours, expected, 1e-5)


@pytest.mark.parametrize("direction, batch, length", [("forward", None, 1), ("diagonal", 1, None)])
def test_the_loops_keep_the_shapes_that_are_known(direction, batch, length):
    """A SavedModel traces the gradient for a length that may be known and an upstream that is not.

    A loop whose variable entered with a length of 1 and left without one was refused.
    """
    tokens = tf.TensorSpec([batch, length, 3])
    signature = [*[tokens] * 3, tf.TensorSpec([None, None], tf.bool), tf.TensorSpec([None] * 3)]

    @tf.function(input_signature=signature)
    def gradients(*inputs):
        *inputs, mask, upstream = inputs
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            context = lean_attention(*inputs, mask, direction=direction)
        return tape.gradient(context, inputs, upstream)

    for gradient in gradients.get_concrete_function().structured_outputs:
        assert gradient.shape[2] == 3
    shape = [batch or 2, length or 4, 3]
    inputs = [tf.random.stateless_normal(shape, [1, k]) for k in range(3)]
    mask, upstream = tf.ones(shape[:2], tf.bool), tf.ones(shape)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        context = lean_attention(*inputs, mask, direction=direction)
    expected = tape.gradient(context, inputs)
    for ours, theirs in zip(gradients(*inputs, mask, upstream), expected):
        assert_close(ours, theirs, 2e-6)


# A process inherits the peak of the one that started it; only a fork's own child starts anew.
_PROGRAM = """
import os, resource, sys
child = os.fork()
if child:
    sys.exit(os.WEXITSTATUS(os.waitpid(child, 0)[1]))

import tensorflow as tf
from disan_tf.ops.blockwise import lean_attention

@tf.function
def gradients(*inputs):
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        context = lean_attention(*inputs, tf.ones([1, 800], tf.bool), direction="forward")
    return tape.gradient(context, inputs)

def peak():
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

inputs = [tf.random.stateless_normal([1, 800, 300], [1, k]) for k in range(3)]
before = peak()  # of TensorFlow itself
results = gradients(*inputs)
assert all(bool(tf.reduce_all(tf.math.is_finite(gradient))) for gradient in results)
print(peak() - before)
"""


@pytest.mark.slow  # a process of its own
def test_the_peak_of_memory_is_below_one_tensor_of_all_pairs():
    done = run_program(sys.executable, "-c", _PROGRAM)
    assert done.returncode == 0, done.stderr
    peak, pairs = int(done.stdout), 4 * 800 * 800 * 300
    assert 0.01 * GIB < peak < pairs / 2, f"{peak / GIB:.2f} GiB"
