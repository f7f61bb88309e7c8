"""The native operations stay out of what leaves this machine."""

import pytest
import tensorflow as tf
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

from disan_tf.layers import DirectionalSelfAttention
from disan_tf.ops import FORMS
from disan_tf.ops.native import runtime
from disan_tf.serving.saved_model import export_saved_model
from tests.support.tiny import make_bundle


def _operations(graph):
    bodies = [graph.node, *(function.node_def for function in graph.library.function)]
    return {node.op for body in bodies for node in body}


def test_exports_hold_portable_operations_alone(tmp_path):
    paths = export_saved_model(make_bundle(tmp_path), tmp_path)
    for path in paths:
        saved = SavedModel.FromString((path / "saved_model.pb").read_bytes())
        (graph,) = (meta.graph_def for meta in saved.meta_graphs)
        assert "MatMul" in _operations(graph)
        assert not [name for name in _operations(graph) if name.startswith("Disan")]


@pytest.mark.skipif(bool(runtime.unavailable()), reason=runtime.unavailable())
def test_the_automatic_form_is_native_in_a_graph():
    layer = DirectionalSelfAttention(6, direction="forward")
    graph = tf.function(layer).get_concrete_function(
        tf.TensorSpec([None, None, 6]), mask=tf.TensorSpec([None, None], tf.bool)
    )
    assert "DisanDirectionalAttention" in _operations(graph.graph.as_graph_def())


@pytest.mark.parametrize("form", FORMS)
def test_a_layer_keeps_its_form_in_its_config(form):
    layer = DirectionalSelfAttention(6, direction="forward", attention_form=form)
    again = DirectionalSelfAttention.from_config(layer.get_config())
    assert again.get_config()["attention_form"] == form
