"""The yardstick computes what our own model computes: only then does its time mean anything."""

from operator import attrgetter
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.benchmark.dense import (
    DenseDisan,
    dense_attention,
    make_dense_inference,
    make_dense_train_step,
)
from disan_tf.encoders import DiSAN
from disan_tf.layers import WordEmbedding
from disan_tf.layers.heads.classification import ClassificationHead
from disan_tf.ops import directional_attention
from tests.support.golden import official
from tests.support.layers.weights import draw_weights
from tests.support.runs.training import load_config

WORDS, CLASSES, DIM, UNITS, HIDDEN_UNITS = 20, 3, 6, 8, 5
PREMISE = np.array([[2, 3, 4, 5, 6], [7, 1, 8, 0, 0], [9, 0, 0, 0, 0]], np.int32)
HYPOTHESIS = np.array([[21, 3, 2], [4, 0, 0], [5, 6, 0]], np.int32)
LABELS = np.array([0, 1, 2], np.int32)


def make_dense(**train):
    """A small yardstick; `train` replaces options of `config.train`."""
    config = load_config("disan_snli")
    config.data.embedding_dim = DIM
    config.encoder.units, config.task.hidden_units = UNITS, HIDDEN_UNITS
    config.train.update(train)
    return DenseDisan(config, WORDS, CLASSES)


@pytest.fixture
def dense():
    """A yardstick of which every weight, biases too, is random."""
    model = make_dense()
    draw_weights(model.weights.values(), seed=3, size=0.5)
    return model


def our_parts(dense):
    """Our embedding, encoder and head with the yardstick's weights."""
    parts = SimpleNamespace(
        embedding=WordEmbedding(WORDS, 0, DIM),
        encoder=DiSAN(UNITS),
        head=ClassificationHead(CLASSES, HIDDEN_UNITS),
    )
    parts.embedding.build(None)
    parts.encoder.build([None, None, DIM])
    parts.head.build([None, 8 * UNITS])
    for name, weight in dense.weights.items():
        attrgetter(name)(parts).assign(weight)
    ours = [*parts.embedding.weights, *parts.encoder.weights, *parts.head.weights]
    ours = [weight for weight in ours if weight.dtype.is_floating and tf.size(weight)]
    assert len(ours) == len(dense.weights)
    return parts


def our_logits(parts):
    def encode(ids):
        ids = tf.constant(ids)
        return parts.encoder(parts.embedding(ids), mask=tf.not_equal(ids, 0))

    p, h = encode(PREMISE), encode(HYPOTHESIS)
    return parts.head(tf.concat([p, h, p - h, p * h], axis=-1))


def test_logits_equal_ours_with_equal_weights(dense):
    logits = make_dense_inference(dense)(PREMISE, HYPOTHESIS)
    official.assert_close(logits, our_logits(our_parts(dense)))


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_attention_and_its_gradients_equal_ours(direction):
    tensors = [tf.random.stateless_normal([3, 5, 4], [1, seed], stddev=3.0) for seed in range(4)]
    *inputs, upstream = tensors
    mask = tf.not_equal(PREMISE, 0)

    def results(attention, **options):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            context = attention(*inputs, mask, direction=direction, **options)
            total = tf.reduce_sum(context * upstream)
        return [context, *tape.gradient(total, inputs)]

    ours = results(directional_attention, form="plain")
    for dense_result, our_result in zip(results(dense_attention), ours):
        official.assert_close(dense_result, our_result)


def test_training_lowers_the_loss_and_touches_no_other_words():
    model = make_dense(dropout=0.0)
    before = model.weights["embedding.trained"].numpy()
    step = make_dense_train_step(model)
    losses = [float(step(PREMISE, HYPOTHESIS, LABELS)) for _ in range(20)]
    changed = np.flatnonzero(np.any(model.weights["embedding.trained"].numpy() != before, axis=1))
    assert losses[-1] < losses[0]
    assert set(changed) == {*range(8), 19}


def test_dropout_acts_in_training_alone(dense):
    trained = [dense(PREMISE, HYPOTHESIS, training=True) for _ in range(2)]
    used = [dense(PREMISE, HYPOTHESIS, training=False) for _ in range(2)]
    assert np.all(trained[0] != trained[1])
    assert np.all(used[0] == used[1])


def test_the_loss_holds_the_weight_decay():
    model = make_dense(dropout=0.0, l2=2.0)
    norms = sum(float(tf.reduce_sum(kernel**2)) for kernel in model.decayed)
    logits = model(PREMISE, HYPOTHESIS)
    entropy = tf.keras.losses.sparse_categorical_crossentropy(LABELS, logits, from_logits=True)
    loss = make_dense_train_step(model)(PREMISE, HYPOTHESIS, LABELS)
    assert float(loss) == pytest.approx(float(tf.reduce_mean(entropy)) + norms, rel=1e-5)
    assert len(model.decayed) == 10


def test_the_paper_s_model_has_the_paper_s_parameters():
    weights = DenseDisan(load_config("disan_snli"), 4, CLASSES).weights
    sizes = [int(tf.size(weight)) for name, weight in weights.items() if "embedding" not in name]
    assert sum(sizes) == 2_345_403
