"""The recipe of `TextClassifier.fine_tune`."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.serving.fine_tuning.recipe import BestAverages, hold_out
from tests.support.models.films import LABELS, TEXTS

X, Y = np.array([[1.0], [-2.0]], np.float32), np.array([1.0, 0.0], np.float32)
RATE = 0.25


@pytest.fixture
def model():
    """One weight, trained by gradient descent on the square of its distance to Y / X."""
    made = tf.keras.Sequential([tf.keras.Input([1]), tf.keras.layers.Dense(1, use_bias=False)])
    made.compile(tf.keras.optimizers.SGD(RATE), "mse", metrics=["accuracy"])
    made.set_weights([np.array([[-1.0]], np.float32)])
    return made


def _averages(epochs):
    """The average after each epoch of one step on the first example, by hand."""
    weight = average = -1.0
    for step in range(1, epochs + 1):
        weight -= RATE * 2 * (weight * X[0, 0] - Y[0]) * X[0, 0]
        decay = (1 + step) / (10 + step)
        average = decay * average + (1 - decay) * weight
        yield average


class Evaluated(tf.keras.callbacks.Callback):
    """Keeps the weights that are evaluated."""

    def __init__(self):
        super().__init__()
        self.weights = []

    def on_test_begin(self, logs=None):
        self.weights.append(float(self.model.get_weights()[0][0, 0]))


def test_averages_are_evaluated_and_those_of_the_best_epoch_are_kept(model, tmp_path):
    scores, evaluated, averages = (0.1, 0.6, 0.6, 0.5, 0.9), Evaluated(), [*_averages(4)]
    saved = str(tmp_path / "{epoch}.weights.h5")
    given = tf.keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: logs.update(val_accuracy=scores[epoch])
    )
    save = tf.keras.callbacks.ModelCheckpoint(saved, save_weights_only=True)
    callbacks = [given, save, BestAverages(patience=2), evaluated]
    fit = {"validation_data": (X, Y), "epochs": 5, "verbose": 0}
    history = model.fit(X[:1], Y[:1], callbacks=callbacks, **fit)
    assert len(history.epoch) == 4  # two epochs after the best one
    np.testing.assert_allclose(evaluated.weights, averages, rtol=1e-5)
    np.testing.assert_allclose(model.get_weights()[0], [averages[1:2]], rtol=1e-5)
    for epoch, average in enumerate(averages, start=1):  # another callback saves what was evaluated
        model.load_weights(saved.format(epoch=epoch))
        np.testing.assert_allclose(model.get_weights()[0], [[average]], rtol=1e-5)


def test_a_weight_without_axes_has_an_average_too():
    weight, best = tf.Variable(0.0), BestAverages(patience=1)
    best.set_model(SimpleNamespace(trainable_variables=[weight]))
    best.on_train_begin()
    weight.assign(1.0)
    best.on_train_batch_end(0)
    best.on_test_begin()
    assert float(weight) == pytest.approx(9 / 11)  # 1 - (1 + 1) / (10 + 1)


def test_another_callback_may_stop_the_training(model):
    scores = tf.keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: logs.update(val_accuracy=epoch)
    )
    stop = tf.keras.callbacks.EarlyStopping("val_accuracy", mode="min")
    fit = {"validation_data": (X, Y), "epochs": 5, "verbose": 0}
    history = model.fit(X, Y, callbacks=[scores, stop, BestAverages(patience=4)], **fit)
    assert len(history.epoch) == 2


def test_a_tenth_of_each_class_is_held_out():
    labels = np.repeat([0, 1, 2, 3], [40, 14, 2, 1])
    texts = np.arange(57), -np.arange(57)
    (first, second), kept = hold_out(texts, labels, seed=1)[0]
    held_out = hold_out(texts, labels, seed=1)[1]
    assert np.bincount(held_out[1], minlength=4).tolist() == [4, 1, 1, 0]
    assert sorted([*first, *held_out[0][0]]) == [*range(57)] and len(kept) == 51
    np.testing.assert_array_equal(labels[first], kept)
    np.testing.assert_array_equal(second, -first)
    assert np.any(hold_out(texts, labels, seed=2)[1][0][0] != held_out[0][0])


DATASET = tf.data.Dataset.from_tensor_slices((["a film"], [0])).batch(1)
TWO = ["a film", "a plot"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"x": TWO, "y": ["bad", "good"]}, "each class has only one text"),
        ({"x": TWO, "y": np.eye(2)}, r"each of the 2 texts; the labels have the shape \(2, 2\)"),
        ({"x": TWO, "y": ["bad"]}, r"the labels have the shape \(1,\)"),
        ({"x": TWO}, "the labels are missing"),
        ({"x": DATASET, "y": [0]}, "texts and labels; use fit for datasets and batches"),
        ({"x": TWO, "y": [0, 1], "sample_weight": [1, 2]}, "no argument sample_weight; use fit"),
        ({"x": TWO, "y": [0, 1], "validation_data": TWO[:1]}, "the labels are missing"),
        ({"x": TWO * 2, "y": [0, 1] * 2, "class_weight": {"c": 1}}, "class_weight has the key 'c'"),
        ({"x": TWO, "y": [0, 1], "validation_data": iter([(TWO, [0, 1])])}, "is a generator"),
        ({"x": TWO * 2, "y": [0, 1] * 2, "seed": "1"}, "seed='1' must be a whole number"),
        ({"x": TWO, "y": [0, 1], "validation_data": {"text": TWO}}, "the labels are missing"),
        ({"x": TWO, "y": [0, 1], "validation_data": (TWO, [0, 1], [1, None])}, "weight 1 is None"),
    ],
)
def test_what_cannot_train_is_refused(classifier, arguments, message):
    optimizer = classifier.optimizer
    with pytest.raises(ValueError, match=message):
        classifier.fine_tune(**arguments, verbose=0)
    assert classifier.optimizer is optimizer and classifier.embedding.trainable


def test_weights_of_classes_are_a_dictionary(classifier):
    with pytest.raises(ValueError, match="class_weight='balanced' must map classes to weights"):
        classifier.fit(TWO, [0, 1], class_weight="balanced", verbose=0)


def test_weights_of_classes_with_numbers_as_names_are_read_once(classifier, monkeypatch):
    made = copy.deepcopy(classifier)
    made.classes = ("1", "0")
    monkeypatch.setattr(tf.keras.Model, "fit", lambda *_, class_weight, **__: class_weight)
    for train in (made.fit, made.fine_tune):
        assert train(TWO * 2, [1, 0] * 2, class_weight={"1": 5.0}) == {0: 5.0, 1: 1.0}


def test_word_ids_may_have_a_list_of_labels(classifier):
    made = copy.deepcopy(classifier)
    ids = np.array(made.preprocessor(tf.constant(TEXTS))["sentence"])
    made.preprocessor = None
    assert made.fine_tune(ids, LABELS.tolist(), epochs=1, verbose=0).history


def test_a_classifier_learns_without_a_change_of_its_word_vectors(classifier):
    names = np.array(["bad", "good"])[LABELS]
    made = copy.deepcopy(classifier)
    vectors = made.embedding.get_weights()
    history = made.fine_tune({"text": TEXTS}, names, epochs=2, batch_size=4, verbose=0)
    for new, old in zip(made.embedding.get_weights(), vectors):
        np.testing.assert_array_equal(new, old)
    assert np.any(made.encoder.get_weights()[0] != classifier.encoder.get_weights()[0])
    accuracy = made.evaluate(TEXTS, names, verbose=0)[1]
    assert accuracy == 1.0 and len(history.history["val_accuracy"]) == 2
