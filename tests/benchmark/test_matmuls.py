"""The list of matrix products against a calculation by hand."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.benchmark.matmuls import Product, make_products, step_products, total_flops
from disan_tf.models.factory import build_model
from disan_tf.ops import portable
from tests.support.runs.training import load_config, tiny_config

# A token's multiplications: in each direction 300 x 300 five times (Wh, W1, W2, Wf1, Wf2), then
# 600 x 600 twice; a pair's: 2400 x 300 and 300 x 3.
TOKEN = 2 * 5 * 300 * 300 + 2 * 600 * 600
PAIR = 2400 * 300 + 300 * 3


@pytest.mark.parametrize("lengths", [(15, 8), (40, 40)])
def test_the_operations_of_the_paper_s_model(lengths):
    products = step_products(load_config("disan_snli"), lengths, 3)
    forward = 2 * 64 * (sum(lengths) * TOKEN + PAIR)
    assert total_flops(products, backward=False) == forward
    assert total_flops(products, backward=True) == 3 * forward


def test_one_sentence_has_a_narrower_head():
    products = step_products(load_config("disan_sst"), (20,), 5)
    assert products[-2:] == [Product((64, 600), (600, 300)), Product((64, 300), (300, 5))]
    assert len(products) == 14


def test_the_products_are_those_of_the_model_s_graph():
    """Of a forward pass as TensorFlow traces it, with whatever the layers join or split."""
    config = tiny_config(name="disan_snli")
    model = build_model(config, (10, 0), 3, attention_form="plain")
    ids = [tf.ones([16, length], tf.int32) for length in (5, 3)]
    graph = tf.function(lambda *ids: model(*ids, training=False)).get_concrete_function(*ids).graph
    flops = sum(_flops(operation) for operation in _operations(graph))
    assert flops == total_flops(step_products(config, (5, 3), 3), backward=False)


@pytest.mark.parametrize("changes", [{}, {"first_width": 0}, {"attention": "static"}])
def test_dsa_s_products_and_convolutions_are_those_of_its_graph(changes):
    """Which knows the number of tokens only when it runs."""
    config = tiny_config(name="dsa_snli")
    config.encoder.update(changes)
    model = build_model(config, (10, 0), 3)
    ids = [tf.ones([16, length], tf.int32) for length in (5, 3)]
    with portable():
        step = tf.function(lambda *ids: model(*ids, training=False))
        graph = step.get_concrete_function(*ids).graph
    sizes = [operation.inputs[1].shape.num_elements() for operation in _operations(graph)]
    head = config.task.hidden_layers + 1
    encoder = (len(sizes) - head) // 2  # of each sentence
    rows = np.repeat([16 * 5, 16 * 3, 16], [encoder, encoder, head])
    expected = total_flops(step_products(config, (5, 3), 3), backward=False)
    assert 2 * int(np.dot(rows, sizes)) == expected


def test_fixed_words_need_no_gradient():
    config = load_config("dsa_snli")
    products = step_products(config, (15, 8), 3)
    forward = total_flops(products, backward=False)
    towers = 2 * 256 * 23 * 300 * 150 * 2  # both towers' first layer
    assert total_flops(products, backward=True) == 3 * forward - towers
    config.embedding.trainable = True
    assert total_flops(step_products(config, (15, 8), 3), backward=True) == 3 * forward


def _operations(graph):
    known = ("MatMul", "Einsum", "Conv2D")
    return [each for each in graph.get_operations() if each.type in known]


def _flops(operation):
    x, weights = (tensor.shape for tensor in operation.inputs)
    (rows, inner), (_, columns) = x, weights
    return 2 * rows * inner * columns


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16])
@pytest.mark.parametrize("backward, count", [(False, 2), (True, 6)])
def test_every_product_is_computed_in_its_dtype(dtype, backward, count):
    run = make_products([Product((64, 32), (32, 16))] * 2, dtype, backward)
    kinds = [each.inputs[0].dtype for each in run.graph.get_operations() if each.type == "MatMul"]
    assert kinds == [dtype] * count
    results = [float(entry) for entry in tf.cast(run(), tf.float32)]
    assert len(set(results)) == count
