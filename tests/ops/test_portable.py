"""`portable()`: where it holds, and what it keeps out of a graph."""

import threading

import pytest
import tensorflow as tf

from disan_tf.encoders import DiSAN
from disan_tf.ops.native import portable, runtime
from tests.support.backends import needs_native

pytestmark = needs_native


def test_it_nests():
    assert runtime.is_used()
    with portable():
        with portable():
            assert not runtime.is_used()
        assert not runtime.is_used()
    assert runtime.is_used()


def test_an_error_ends_it():
    with portable():
        with pytest.raises(ZeroDivisionError), portable():
            raise ZeroDivisionError
        assert not runtime.is_used()
    with pytest.raises(ZeroDivisionError), portable():
        raise ZeroDivisionError
    assert runtime.is_used()


def test_other_threads_are_not_meant():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(runtime.is_used()))
    with portable():
        thread.start()
        thread.join()
        assert not runtime.is_used()
    assert seen == [True]


def _native_operations():
    """The native operations in the graph of a training pass of DiSAN."""
    encoder = DiSAN(6, dropout=0.25)
    encoder.build([None, None, 5])

    @tf.function
    def step(x, mask):
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(encoder(x, mask=mask, training=True))
        return tape.gradient(total, encoder.trainable_weights)

    signature = tf.TensorSpec([None, None, 5]), tf.TensorSpec([None, None], tf.bool)
    graph = step.get_concrete_function(*signature).graph.as_graph_def()
    bodies = [graph.node, *(function.node_def for function in graph.library.function)]
    return {node.op for body in bodies for node in body if node.op.startswith("Disan")}


def test_a_function_that_is_traced_inside_has_no_native_operation():
    with portable():
        assert not _native_operations()


def test_a_function_that_is_traced_outside_has_them_all():
    simple = {"KeepMask", "ApplyMask", "Copies", "Sum"}
    forward = {"BiasActivation", "DirectionalAttention", "FusionGate", "SoftmaxPool"}
    gradients = {f"{name}Gradient" for name in forward}
    assert _native_operations() == {f"Disan{it}" for it in simple | forward | gradients}
