"""Word vectors: which rows answer, and which rows a training step touches."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.common.keras_version import is_keras_3
from disan_tf.layers import WordEmbedding

TRAINED, FIXED, DIM = 4, 3, 2
VECTORS = np.arange(1, 1 + (TRAINED + FIXED) * DIM, dtype=np.float32).reshape(-1, DIM)
MIXED = [[2, 5, 0], [6, 2, 1], [8, 2, 5]]  # trainable ids 2 to 5, fixed ids 6 to 8


def _adadelta():
    if is_keras_3():
        pytest.skip("training needs Keras 2")
    from disan_tf.training.optimizers import adadelta

    return adadelta()


def _embedding(trained=TRAINED, fixed=FIXED, **options):
    layer = WordEmbedding(trained, fixed, DIM, **options)
    layer.build(None)
    layer.set_vectors(VECTORS[: trained + fixed])
    return layer


def _rows(ids):
    table = np.concatenate([np.zeros([2, DIM]), VECTORS])
    return table[np.asarray(ids)]


@pytest.mark.parametrize(
    "ids",
    [
        MIXED,
        [[0, 0]],
        [[1, 0], [1, 1]],
        [[3, 3, 3], [2, 4, 5]],  # no fixed word
        [[7, 8], [6, 0]],  # no trainable word
        np.zeros([0, 4], np.int32),
        np.zeros([2, 0], np.int32),
    ],
)
def test_ids_give_their_rows_and_padding_and_unknown_give_zero(ids):
    ids = tf.constant(ids, tf.int32)
    vectors = _embedding()(ids)
    assert vectors.shape == [*ids.shape, DIM]
    np.testing.assert_array_equal(vectors, _rows(ids))


@pytest.mark.parametrize("trained, fixed", [(0, 3), (4, 0), (0, 0)])
def test_a_table_may_be_empty(trained, fixed):
    ids = np.array([list(range(2 + trained + fixed))], np.int32)
    np.testing.assert_array_equal(_embedding(trained, fixed)(tf.constant(ids)), _rows(ids))


def test_only_the_trainable_table_is_trainable():
    layer = _embedding()
    assert [weight.shape for weight in layer.trainable_weights] == [[TRAINED, DIM]]
    assert [weight.shape for weight in layer.non_trainable_weights] == [[FIXED, DIM]]


def test_a_table_that_is_frozen_when_it_is_built_can_be_unfrozen():
    layer = _embedding(trainable=False)
    assert not layer.trainable_weights
    layer.trainable = True
    assert [weight.shape for weight in layer.trainable_weights] == [[TRAINED, DIM]]


def _gradients(layer, ids):
    """The gradient of sum(output * noise) for the trainable table, and that noise."""
    noise = 1.0 + np.arange(np.size(ids) * DIM, dtype=np.float32).reshape(*np.shape(ids), DIM)
    with tf.GradientTape() as tape:
        vectors = tf.cast(layer(tf.constant(ids, tf.int32)), tf.float32)
        total = tf.reduce_sum(vectors * noise)
    return tape.gradient(total, layer.trained), noise


@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16", "mixed_float16"])
def test_the_gradient_names_only_trainable_words_of_the_batch(policy):
    layer = _embedding(dtype=tf.keras.mixed_precision.Policy(policy))
    gradient, _ = _gradients(layer, MIXED)
    assert isinstance(gradient, tf.IndexedSlices)
    assert sorted(gradient.indices.numpy()) == [0, 0, 0, 3, 3]  # ids 2 2 2 5 5


def test_the_gradient_of_a_repeated_word_adds_up():
    gradient, noise = _gradients(_embedding(), MIXED)
    expected = np.zeros([TRAINED, DIM])
    for position, word in np.ndenumerate(MIXED):
        if 2 <= word < 2 + TRAINED:
            expected[word - 2] += noise[position]
    np.testing.assert_array_equal(tf.convert_to_tensor(gradient), expected)


def _train(layer, optimizer, ids):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(layer(tf.constant(ids))))
    weights = layer.trainable_weights
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))


def _state(layer, optimizer):
    """The trainable table and its two Adadelta accumulators."""
    slots = [optimizer.get_slot(layer.trained, name) for name in ("accum_grad", "accum_var")]
    return [variable.numpy() for variable in (layer.trained, *slots)]


def test_training_leaves_rows_and_slots_outside_the_batch_alone():
    layer, optimizer = _embedding(), _adadelta()
    _train(layer, optimizer, [[2, 3, 4, 5]])  # now no accumulator is 0
    before = _state(layer, optimizer)
    _train(layer, optimizer, [[3, 5, 3, 7], [0, 1, 5, 6]])
    for old, new in zip(before, _state(layer, optimizer)):
        np.testing.assert_array_equal(new[[0, 2]], old[[0, 2]])
        assert np.all(new[[1, 3]] != old[[1, 3]])
    np.testing.assert_array_equal(layer.fixed, VECTORS[TRAINED:])


@pytest.mark.parametrize("shape", [(6, DIM), (7, DIM + 1)])
def test_vectors_of_another_shape_are_refused(shape):
    layer = _embedding()
    with pytest.raises(ValueError, match="4 trainable and 3 fixed words of 2 numbers"):
        layer.set_vectors(np.zeros(shape, np.float32))
    np.testing.assert_array_equal(layer.trained, VECTORS[:TRAINED])


def test_initial_vectors_are_small_and_differ():
    layer = WordEmbedding(50, 50, 20)
    layer.build(None)
    for table in (layer.trained.numpy(), layer.fixed.numpy()):
        assert 0.045 < np.abs(table).max() <= np.float32(0.05)
        assert len(np.unique(table, axis=0)) == 50
