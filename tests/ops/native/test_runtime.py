"""`portable()`: where it holds, and which operations it keeps out of a graph."""

import threading

import pytest
import tensorflow as tf

from disan_tf.layers import DirectionalSelfAttention, Source2Token
from disan_tf.ops import portable
from disan_tf.ops.native import runtime
from tests.support.ops.backends import needs_native

pytestmark = needs_native


def test_portable_nests():
    assert runtime.is_used()
    with portable():
        with portable():
            assert not runtime.is_used()
        assert not runtime.is_used()
    assert runtime.is_used()


def test_an_error_ends_portable():
    with portable():
        with pytest.raises(ZeroDivisionError), portable():
            raise ZeroDivisionError
        assert not runtime.is_used()
    with pytest.raises(ZeroDivisionError), portable():
        raise ZeroDivisionError
    assert runtime.is_used()


def test_portable_does_not_hold_in_other_threads():
    used = []
    thread = threading.Thread(target=lambda: used.append(runtime.is_used()))
    with portable():
        thread.start()
        thread.join()
        assert not runtime.is_used()
    assert used == [True]


def _native_operations(*layers):
    """The native operations in the graph of a training pass of layers."""
    model = tf.keras.Sequential(layers)
    model.build([None, None, 5])

    @tf.function
    def step(x, mask):
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(model(x, mask=mask, training=True))
        return tape.gradient(total, model.trainable_weights)

    signature = tf.TensorSpec([None, None, 5]), tf.TensorSpec([None, None], tf.bool)
    graph = step.get_concrete_function(*signature).graph.as_graph_def()
    bodies = [graph.node, *(function.node_def for function in graph.library.function)]
    return {node.op for body in bodies for node in body if node.op.startswith("Disan")}


def test_a_function_traced_inside_has_no_native_operation():
    with portable():
        assert not _native_operations(Source2Token(dropout=0.25))


def test_a_function_traced_outside_has_them_all():
    simple = {"KeepMask", "ApplyMask", "Copies", "Sum"}
    forward = {"BiasActivation", "DirectionalAttention", "FusionGate", "SoftmaxPool"}
    gradients = {f"{name}Gradient" for name in forward}
    found = _native_operations(DirectionalSelfAttention(6, dropout=0.25), Source2Token())
    assert found == {f"Disan{name}" for name in simple | forward | gradients}
