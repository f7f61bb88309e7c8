"""Keras' `compile` and `fit` of models: inputs by name or in order, the loss of each task."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.common.keras_version import is_keras_3
from disan_tf.encoders import AdditiveEncoder
from disan_tf.layers import WordEmbedding
from disan_tf.layers.heads.classification import ClassificationHead
from disan_tf.models import RelatednessModel, SentenceClassifier, SentencePairClassifier

GENERATOR = np.random.default_rng(3)
ROWS = 6
LABELS = np.array([0, 1, 2, 0, 1, 2])
SCORES = np.array([1.0, 2.5, 4.0, 1.5, 3.0, 5.0])


def _ids(length):
    ids = GENERATOR.integers(1, 11, [ROWS, length])  # int64
    ids[::2, -1] = 0
    return ids


FIRST, SECOND = _ids(5), _ids(4)


def _parts(classes):
    encoder = AdditiveEncoder(4, seed=5, l2=1e-4)  # which is traced in a short time
    return WordEmbedding(7, 3, 8), encoder, ClassificationHead(classes, 6, seed=6)


def _sentence():
    return SentenceClassifier(*_parts(3)), {"sentence": FIRST}, LABELS


def _pair():
    model = SentencePairClassifier(*_parts(3))
    return model, {"premise": FIRST, "hypothesis": SECOND}, LABELS


def _related(loss="kl", lowest=1):
    model = RelatednessModel(*_parts(5), loss=loss, lowest=lowest)
    return model, {"sentence_a": FIRST, "sentence_b": SECOND}, SCORES + lowest - 1


TASKS = {
    "classification": _sentence,
    "nli": _pair,
    "relatedness": _related,
    "squared_error": lambda: _related("squared_error", 0),
}


@pytest.fixture(
    params=[
        pytest.param(name, marks=[pytest.mark.slow] * (name == "squared_error")) for name in TASKS
    ]
)
def case(request):
    """A built model, its inputs by name in another order than it reads them, and labels."""
    tf.keras.utils.set_random_seed(1)
    model, inputs, labels = TASKS[request.param]()
    model(*inputs.values())
    return model, dict(reversed(inputs.items())), labels


def test_the_loss_is_that_of_the_training_loop(case):
    model, inputs, labels = case
    model.compile(optimizer="adam")
    found = model.evaluate(inputs, labels, batch_size=4, verbose=0, return_dict=True)
    labels = tf.constant(labels, model.label_dtype)
    outputs = model(*(inputs[name] for name in model.reads))
    expected = tf.reduce_mean(model.example_losses(outputs, labels)) + sum(model.losses)
    np.testing.assert_allclose(found.pop("loss"), expected, rtol=1e-5)
    np.testing.assert_allclose(model.batch_loss(outputs, labels) + sum(model.losses), expected)
    if "accuracy" in found:
        assert found["accuracy"] == pytest.approx(float(model.batch_score(outputs, labels)))


def test_inputs_by_name_in_order_and_one_by_one_give_the_same(case):
    model, inputs, _ = case
    ordered = tuple(inputs[name] for name in model.reads)
    expected = model(*(tf.constant(array, tf.int32) for array in ordered))
    for given in (inputs, ordered, list(ordered)):
        np.testing.assert_array_equal(model(given), expected)
        np.testing.assert_allclose(model.predict(given, verbose=0), expected, atol=1e-6)
    attended, by_name = model.attend(*ordered), model.attend(inputs)
    for name in attended:
        np.testing.assert_array_equal(by_name[name], attended[name])


@pytest.mark.parametrize("name", ["nli", "relatedness"])
def test_a_saved_model_keeps_its_loss_and_optimizer(name, tmp_path):
    model, inputs, labels = TASKS[name]()
    model.compile(tf.keras.optimizers.SGD(0.5, momentum=0.9))
    model.fit(inputs, labels, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    steps = {"epochs": 2, "shuffle": False, "verbose": 0}
    found, expected = (one.fit(inputs, labels, **steps).history for one in (loaded, model))
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-5)


@pytest.mark.skipif(is_keras_3(), reason="Keras 3 has no legacy optimizers")
def test_a_model_with_a_legacy_optimizer_is_loaded(tmp_path):
    model, inputs, labels = _sentence()
    model.compile(tf.keras.optimizers.legacy.Adadelta(0.5))
    model.fit(inputs, labels, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    assert loaded.evaluate(inputs, labels) == pytest.approx(model.evaluate(inputs, labels))
    assert loaded.optimizer.learning_rate == 0.5


def test_a_loss_of_ones_own_replaces_the_tasks():
    model, inputs, labels = _pair()
    model(inputs)
    model.compile(loss=lambda labels, outputs: tf.zeros([3]) + 7.0)
    found = model.evaluate(inputs, labels, batch_size=3, verbose=0)
    assert found == pytest.approx(7.0 + float(sum(model.losses)))  # and no accuracy


@pytest.mark.parametrize("inputs", [{"premise": FIRST}, (FIRST,), [FIRST, SECOND, SECOND]])
def test_other_inputs_are_refused_by_name(inputs):
    with pytest.raises(ValueError, match="inputs are given; the model reads premise, hypothesis"):
        _pair()[0](inputs)
