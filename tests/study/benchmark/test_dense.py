"""The yardstick computes what our own model computes: only then does its time mean anything."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.models.factory import build_model
from disan_tf.ops import directional_attention
from disan_tf.study.benchmark.dense import (
    DenseDisan,
    dense_attention,
    make_dense_inference,
    make_dense_train_step,
)
from tests.support.golden import official
from tests.support.layers.weights import draw_weights
from tests.support.runs.training import load_config

WORDS, CLASSES, DIM, UNITS, HIDDEN_UNITS = 20, 3, 6, 8, 5
PREMISE = np.array([[2, 3, 4, 5, 6], [7, 1, 8, 0, 0], [9, 0, 0, 0, 0]], np.int32)
HYPOTHESIS = np.array([[21, 3, 2], [4, 0, 0], [5, 6, 0]], np.int32)
LABELS = np.array([0, 1, 2], np.int32)


def make_dense(**train):
    """Our small model, and the reference with its weights; `train` replaces `config.train`."""
    config = load_config("disan_snli")
    config.data.embedding_dim = config.embedding.dim = DIM
    config.encoder.units, config.task.hidden_units = UNITS, HIDDEN_UNITS
    config.train.update(train)
    ours = build_model(config, (WORDS, 0), CLASSES)
    return ours, DenseDisan(ours, config)


@pytest.fixture
def both():
    """Ours and the reference, where every weight, biases too, is random."""
    ours, dense = make_dense()
    draw_weights(dense.variables, seed=3, size=0.5)
    return ours, dense


def test_logits_equal_ours_with_equal_weights(both):
    ours, dense = both
    logits = make_dense_inference(dense)(PREMISE, HYPOTHESIS)
    official.assert_close(logits, ours(tf.constant(PREMISE), tf.constant(HYPOTHESIS)))


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
    ours, model = make_dense(dropout=0.0)
    before = ours.embedding.trained.numpy()
    step = make_dense_train_step(model)
    losses = [float(step(PREMISE, HYPOTHESIS, LABELS)) for _ in range(20)]
    changed = np.flatnonzero(np.any(ours.embedding.trained.numpy() != before, axis=1))
    assert losses[-1] < losses[0]
    assert set(changed) == {*range(8), 19}


def test_the_loss_holds_the_weight_decay():
    _, model = make_dense(dropout=0.0, l2=2.0)
    norms = sum(float(tf.reduce_sum(kernel**2)) for kernel in model.decayed)
    logits = model(PREMISE, HYPOTHESIS)
    entropy = tf.keras.losses.sparse_categorical_crossentropy(LABELS, logits, from_logits=True)
    loss = make_dense_train_step(model)(PREMISE, HYPOTHESIS, LABELS)
    assert float(loss) == pytest.approx(float(tf.reduce_mean(entropy)) + norms, rel=1e-5)
    assert len(model.decayed) == 10
