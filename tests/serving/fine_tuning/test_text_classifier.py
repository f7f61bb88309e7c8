"""A trained model with new classes, as a Keras model of raw text."""

import copy
import errno
import json
import pickle
import sys
from enum import Enum
from functools import partial
from unittest import mock

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

import disan_tf
from disan_tf.common import atomic
from disan_tf.common.errors import UserError
from disan_tf.common.options import options_of
from disan_tf.serving.export import client
from disan_tf.serving.fine_tuning.examples import read_examples, read_weights
from disan_tf.serving.fine_tuning.labels import labels_of, read_classes, read_labels
from disan_tf.serving.fine_tuning.preprocessor import TextClassifierPreprocessor
from disan_tf.serving.fine_tuning.text_classifier import TextClassifier
from disan_tf.serving.fine_tuning.texts import read_texts
from disan_tf.serving.inference.model import LoadedModel
from tests.layers.test_arguments import wrong_values
from tests.support.models.exports import Question, ask, decoded
from tests.support.models.films import LABELS, TEXTS


@pytest.fixture
def preset(quick_bundle):
    return quick_bundle.directory


NAMES = np.array(["bad", "good"])[LABELS]
FORMS = {
    "lists": (TEXTS.tolist(), LABELS.tolist()),
    "frame": (pd.DataFrame({"id": LABELS, "text": TEXTS}), pd.DataFrame({"label": LABELS})),
    "dictionary": ({"text": TEXTS}, tf.constant(LABELS)),
    "categories": (tf.constant(TEXTS), pd.Series(NAMES, dtype="category")),
    "records": ([{"text": text} for text in TEXTS], LABELS[:, None]),
}


@pytest.mark.parametrize("form", FORMS)
def test_texts_and_labels_come_as_people_hold_them(classifier, form):
    texts, labels = FORMS[form]
    expected = classifier.evaluate(TEXTS, LABELS, verbose=0)
    assert classifier.evaluate(texts, labels, verbose=0) == pytest.approx(expected)


def _sequence(batches):
    class Batches(tf.keras.utils.Sequence):
        ended = 0

        def __len__(self):
            return len(batches)

        def __getitem__(self, index):
            return batches[index]

        def on_epoch_end(self):
            self.ended += 1

    return Batches()


@pytest.mark.parametrize("make", [_sequence, iter], ids=["sequence", "generator"])
@pytest.mark.parametrize("labels", [NAMES.tolist(), LABELS[:, None]], ids=["names", "numbers"])
def test_batches_may_have_every_form_that_evaluate_reads(classifier, make, labels):
    batches = [([{"text": text} for text in TEXTS[:9]], labels[:9]), (TEXTS[9:], labels[9:])]
    expected = classifier.evaluate(TEXTS, LABELS, verbose=0)
    assert classifier.evaluate(make(batches), verbose=0) == pytest.approx(expected)


def test_numbers_in_batches_are_names_where_the_classes_are_numbers():
    def read(batches):
        return read_examples(batches, None, ("sentence",), ["1", "2"], "numbers")[0]

    weights = np.array([0.5, 1.0])
    for make in (_sequence, iter):
        (batch,) = read(make([(["a film", "a plot"], [2, 1], weights)]))
        assert batch[0].tolist() == ["a film", "a plot"] and batch[1].tolist() == [1, 0]
        assert batch[2] is weights
    batches = _sequence([(["a film"], [1])])
    read(batches).on_epoch_end()
    assert batches.ended == 1
    with pytest.raises(ValueError, match="label 0 is '3', which is not one of the 2 classes"):
        next(read(iter([(["a film"], [3])])))


@pytest.mark.parametrize(
    "validation",
    [
        (TEXTS, LABELS),
        tf.data.Dataset.from_tensor_slices((TEXTS, LABELS)).batch(5),
        _sequence([(TEXTS, LABELS)]),
    ],
)
def test_labels_that_are_names_and_numbers_are_read_once(validation, preset):
    model = TextClassifier.from_preset(preset, classes=("1", "0"))  # a second reading swaps them
    history = model.fine_tune(TEXTS, LABELS, validation_data=validation, epochs=1, verbose=0)
    loss, _ = model.evaluate(TEXTS, LABELS, verbose=0)
    assert history.history["val_loss"] == pytest.approx([loss])


@pytest.mark.parametrize("classes", [("1", "0"), ("1", "2", "3", "4", "5")], ids=len)
def test_labels_beside_word_ids_are_class_numbers_also_if_names_are_numbers(classes, preset):
    model = TextClassifier.from_preset(preset, classes=classes)
    names = [classes[-1 - label] for label in LABELS]
    expected = model.evaluate(TEXTS, names, verbose=0)
    for labels in (names, list(map(int, names))):
        dataset = tf.data.Dataset.from_tensor_slices((TEXTS, labels)).batch(9)
        ids, numbers = model.preprocessor(TEXTS, labels)
        named = ids, np.array(names)
        for given in ((dataset.map(model.preprocessor),), (ids, numbers), named):
            assert model.evaluate(*given, verbose=0) == pytest.approx(expected)
        assert model.test_on_batch(ids, numbers) == pytest.approx(expected)
        assert model.evaluate(_sequence([(ids, numbers)]), verbose=0) == pytest.approx(expected)


def test_texts_and_labels_by_name_train(classifier):
    model = copy.deepcopy(classifier)
    by_name = tf.data.Dataset.from_tensor_slices(({"text": TEXTS}, NAMES)).batch(8)
    weights = {"bad": 2.0}  # others have 1
    model.fit({"text": TEXTS}, NAMES, validation_data=by_name, class_weight=weights, verbose=0)
    assert model.evaluate(by_name, verbose=0)[1] == 1.0


CROSSENTROPY = tf.keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)


@pytest.mark.parametrize("loss", [CROSSENTROPY, tf.keras.losses.categorical_hinge, "mse"])
def test_a_loss_of_rows_reads_names_numbers_and_rows(classifier, loss):
    model = copy.deepcopy(classifier)
    model.compile(loss=loss)
    expected = model.evaluate(TEXTS, np.eye(2)[LABELS], verbose=0)
    assert expected[1] == 1.0
    for labels in (NAMES, LABELS, NAMES[:, None]):
        dataset = tf.data.Dataset.from_tensor_slices((TEXTS, labels)).batch(9)
        for given in ((TEXTS, labels), (dataset,), (_sequence([(TEXTS, labels)]),)):
            assert model.evaluate(*given, verbose=0) == pytest.approx(expected)
    model.fit(TEXTS, NAMES, class_weight={"bad": 2.0}, verbose=0)


class _Named(tf.keras.losses.CategoricalCrossentropy):
    pass


class _Own(tf.keras.losses.Loss):
    def call(self, y_true, y_pred):
        return y_pred


@pytest.mark.parametrize(
    "loss, kind",
    [
        (tf.keras.losses.SparseCategoricalCrossentropy(name="loss"), "numbers"),
        ("sparse_categorical_crossentropy", "numbers"),
        (tf.keras.losses.sparse_categorical_crossentropy, "numbers"),
        (tf.keras.losses.CategoricalFocalCrossentropy(), "rows"),
        (["sparse_categorical_crossentropy"], "numbers"),
        (tf.keras.losses.KLDivergence(), "rows"),
        (_Named(), "rows"),
        (_Own(), ""),
        (lambda labels, outputs: outputs, ""),
    ],
)
def test_a_loss_tells_the_labels_that_it_reads(loss, kind):
    assert labels_of(loss) == kind


def test_predict_ignores_labels(classifier):
    expected = classifier.predict(TEXTS, verbose=0)
    two_columns = {"first": LABELS, "second": LABELS}
    for labels in (np.eye(2)[LABELS], ["unknown"] * len(TEXTS), two_columns):
        batches = tf.data.Dataset.from_tensor_slices((TEXTS, labels)).batch(9)
        for given in (batches, _sequence([(TEXTS, labels)])):
            np.testing.assert_allclose(classifier.predict(given, verbose=0), expected, rtol=1e-5)


@pytest.mark.parametrize(
    "numbers, message",
    [
        (pd.Series([1999, 5]), "item 0 is 1999"),
        (np.array([5, 3]), r"item 0 is .*5.* \(int64\), not a text"),
        ([*np.array([5, 3])], r"item 0 is .*5.* \(int64\), not a text"),
        ({"text": np.array([1, 2])}, "item 0, 'text', is .*1.*, not a text"),
        ({"text": np.array([[1, 2]])}, "item 0, 'text', is .*, not a text"),
        (iter([np.array([5, 3])]), "item 0 is .*5"),
        (
            tf.data.Dataset.from_tensors([5, 3]),
            r"the texts have the dtype int32 and the shape \(2,\); give strings, or word ids",
        ),
        (tf.data.Dataset.from_tensors({"text": [5, 3]}), "the texts have the dtype int32"),
    ],
)
def test_a_column_of_numbers_is_no_batch_of_word_ids(classifier, numbers, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        classifier.predict_labels(numbers)


def test_other_columns_beside_word_ids_are_ignored(classifier):
    ids = classifier.preprocess(TEXTS[:2])
    expected = classifier.predict(ids, verbose=0)
    found = classifier.predict({**ids, "number": ids["sentence"][:, :1]}, verbose=0)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "tokens, shape",
    [
        (tf.ragged.constant([["a", "fine", "film"], ["awful"]]), r"\(2, None\)"),
        (tf.constant([["a", "film"], ["a", "plot"]]), r"\(2, 2\)"),
    ],
)
def test_tensors_of_tokens_are_refused(classifier, tokens, shape):
    message = f"the texts have the shape {shape}; give one string for each text, not a list of t"
    with pytest.raises(ValueError, match=message):
        classifier.predict(tf.data.Dataset.from_tensors(tokens))
    with pytest.raises(ValueError, match=message):
        classifier.preprocess(tokens)
    texts = tf.data.Dataset.from_tensors(TEXTS[:4, None])
    expected = classifier.predict(TEXTS[:4], verbose=0)
    np.testing.assert_allclose(classifier.predict(texts, verbose=0), expected, rtol=1e-5)


def test_evaluate_refuses_batches_without_labels(classifier):
    columns = tf.data.Dataset.from_tensor_slices({"text": TEXTS, "label": LABELS}).batch(9)
    for given in (columns, _sequence([(TEXTS,)])):
        with pytest.raises(ValueError, match=r"the labels are missing; .* \(texts, labels\) in "):
            classifier.evaluate(given, verbose=0)


def test_single_batches_are_read_as_the_arguments_of_fit(classifier):
    model = copy.deepcopy(classifier)
    expected = model.predict(TEXTS, verbose=0)
    np.testing.assert_allclose(model.predict_on_batch(TEXTS.tolist()), expected, rtol=1e-5)
    tested = model.test_on_batch(TEXTS.tolist(), NAMES.tolist(), return_dict=True)
    assert tested == pytest.approx(model.evaluate(TEXTS, NAMES, verbose=0, return_dict=True))
    model.train_on_batch(pd.Series(TEXTS), NAMES)
    assert np.any(model.predict(TEXTS, verbose=0) != expected)


def test_weights_may_be_lists_and_class_weights_names(classifier):
    model = copy.deepcopy(classifier)
    weights = np.linspace(0, 1e4, len(TEXTS))
    listed, nothing = weights.tolist(), [0.0] * len(TEXTS)
    expected = model.evaluate(TEXTS, NAMES, sample_weight=weights, verbose=0)[0]
    assert expected > 2 * model.evaluate(TEXTS, NAMES, verbose=0)[0]
    losses = [
        model.evaluate(TEXTS, NAMES, sample_weight=listed, verbose=0)[0],
        model.evaluate(_sequence([(TEXTS, NAMES, listed)]), verbose=0)[0],
        model.test_on_batch(TEXTS, NAMES, listed)[0],
    ]
    assert losses == pytest.approx([expected] * 3)

    def loss(train, **given):  # of one step, before the weights change
        model.set_weights(classifier.get_weights())
        found = train(TEXTS, NAMES, **given)
        return found[0] if isinstance(found, list) else found.history["loss"][0]

    fit = partial(model.fit, batch_size=len(TEXTS), verbose=0)
    penalty = float(sum(classifier.losses))
    for train in (fit, model.train_on_batch):
        assert loss(train, sample_weight=nothing) == pytest.approx(penalty)
        assert loss(train, class_weight={"bad": 0.0, "good": 0.0}) == pytest.approx(penalty)
        assert loss(train) > penalty
    found = fit(TEXTS, NAMES, validation_data=(TEXTS, NAMES, nothing)).history["val_loss"]
    assert found == pytest.approx([float(sum(model.losses))])


@pytest.mark.parametrize(
    "weights, shown",
    [
        ([1, None], "None"),
        (pd.Series([1, np.nan]), "nan"),
        (pd.array([1, None]), "(nan|<NA>)"),
        (np.array([1, np.inf]), "inf"),
        (np.array([[1.0], [np.nan]]), "nan"),
        ([1, "x"], "x"),
    ],
)
def test_a_missing_weight_is_refused_and_changes_nothing(classifier, weights, shown):
    before = classifier.predict(TEXTS, verbose=0)
    calls = [
        partial(classifier.fit, TEXTS[:2], LABELS[:2], sample_weight=weights),
        partial(
            classifier.fit, TEXTS[:2], LABELS[:2], validation_data=(TEXTS[:2], [0, 1], weights)
        ),
        partial(classifier.train_on_batch, TEXTS[:2], LABELS[:2], weights),
        partial(classifier.evaluate, _sequence([(TEXTS[:2], LABELS[:2], weights)])),
    ]
    if isinstance(weights, np.ndarray):
        batch = TEXTS[:2], LABELS[:2], weights
        copied = copy.deepcopy(classifier)  # Keras counts a step although its batch fails
        calls.append(partial(copied.fit, tf.data.Dataset.from_tensors(batch), verbose=0))
    for call in calls:
        with pytest.raises(ValueError, match=f"^sample weight 1 is {shown}; it must be a finite "):
            call()
    np.testing.assert_array_equal(classifier.predict(TEXTS, verbose=0), before)


def test_weights_may_be_none_in_a_dataset_and_named_by_output(classifier):
    part = tf.data.Dataset.from_tensors((TEXTS[:2], LABELS[:2])).map(lambda *it: (*it, None))
    plain = classifier.evaluate(TEXTS[:2], LABELS[:2], verbose=0)
    assert classifier.evaluate(part, verbose=0) == plain
    assert read_weights({"output": [1, 2]})["output"].tolist() == [1.0, 2.0]


def test_numbers_in_a_dataset_are_names_where_the_classes_are_numbers():
    def numbers(classes, labels, kind="numbers"):
        dataset = tf.data.Dataset.from_tensor_slices((["a film"] * len(labels), labels)).batch(4)
        ((_, read),) = read_examples(dataset, None, ("sentence",), classes, kind)[0]
        return read.numpy().tolist()

    for labels in ([3, 1], [3.0, 1.0], [[3], [1]]):
        assert numbers(["1", "2", "3"], labels) == [2, 0]
    assert numbers(["bad", "good"], [1, 0]) == [1, 0]
    assert numbers(["True", "False"], [True, False]) == [0, 1]
    for labels in ([[0, 0, 1], [1, 0, 0]], [0.5, 0.25]):  # one-hot rows, shares
        assert numbers(["1", "2", "3"], labels, kind="") == labels
    for label in (0, 1.5, np.nan):
        with pytest.raises(tf.errors.InvalidArgumentError, match="label 0 is "):
            numbers(["1", "2", "3"], [label])
    with pytest.raises(ValueError, match=r"shape \(None, 2\); give batches .* text; one-hot rows"):
        numbers(["bad", "good"], [[0, 1], [1, 0]])
    single = tf.data.Dataset.from_tensor_slices((["a film"], [1]))
    with pytest.raises(ValueError, match=r"labels have the shape \(\); give .* for each text\.$"):
        read_examples(single, None, ("sentence",), ["bad", "good"], "numbers")
    for label in (2, -1, 0.5, np.nan):  # on a GPU, the loss of such a label would be NaN
        with pytest.raises(tf.errors.InvalidArgumentError, match="label 0 is "):
            numbers(["bad", "good"], [label])


@pytest.mark.parametrize(
    "texts, labels, message",
    [
        (["a film", None], ["bad", "good"], "item 1 is None"),
        (["a film", "a plot"], ["bad", "fine"], "label 1 is 'fine', which is not one of the 2"),
        (["a film", "a plot"], [0, 2], "label 1 is 2, and the 2 classes have the numbers 0 to 1"),
        (["a film", "a plot"], None, "the labels are missing"),
        (
            ["a film", "a plot"],
            np.eye(2),
            r"shape \(2, 2\) \(ndarray\); one-hot rows need a loss such as Categorical",
        ),
        (["a film", "a plot"], np.zeros([2, 3]), r"each of the 2 texts.* \(2, 3\) \(ndarray\)\."),
        (["a film", "a plot"], {"bad", "good"}, r"the labels have the shape \(\) \(set\)"),
        (iter(["a film", "a plot"]), None, "a batch is one text; give batches"),
        (iter([("a film", "bad")]), None, "a batch is one text; give batches"),
    ],
)
def test_wrong_texts_and_labels_are_refused_and_change_nothing(classifier, texts, labels, message):
    before = classifier.predict(TEXTS, verbose=0)
    with pytest.raises(ValueError, match=message):
        classifier.fit(texts, labels, verbose=0)
    np.testing.assert_array_equal(classifier.predict(TEXTS, verbose=0), before)


def test_compiling_strings_is_refused(classifier):
    with pytest.raises(ValueError, match="jit_compile=True: XLA cannot compile the look-up"):
        classifier.compile(jit_compile=True)


def test_it_can_be_pickled_and_copied_before_and_after_fit(classifier, preset):
    new = TextClassifier.from_preset(preset, num_classes=2)
    for model, other in (
        (classifier, copy.deepcopy(classifier)),
        (new, pickle.loads(pickle.dumps(new))),
    ):
        np.testing.assert_array_equal(other(TEXTS[:2]), model(TEXTS[:2]))
        assert other.classes == model.classes


def test_it_starts_with_the_weights_of_the_preset(preset):
    ours, theirs = TextClassifier.from_preset(preset, num_classes=3), disan_tf.load(preset)
    for part in ("encoder", "embedding"):
        for mine, weight in zip(getattr(ours, part).weights, getattr(theirs, part).weights):
            np.testing.assert_array_equal(mine, weight)
    assert ours.built and ours(TEXTS[:2]).shape == (2, 3)


def test_without_new_classes_it_is_the_preset_itself(preset, quick_bundle):
    ours, theirs = TextClassifier.from_preset(preset), LoadedModel(quick_bundle)
    probabilities = ours.predict_proba(TEXTS[:4])
    np.testing.assert_allclose(probabilities, tf.nn.softmax(ours(TEXTS[:4])), atol=1e-6)
    expected = [list(row["probabilities"].values()) for row in theirs.predict(list(TEXTS[:4]))]
    np.testing.assert_allclose(probabilities, expected, atol=1e-6)
    assert ours.classes == tuple(theirs.classes)
    assert ours.predict_labels(TEXTS[:4]) == [ours.classes[row.argmax()] for row in probabilities]


@pytest.mark.parametrize(
    "encoder, embedding", [pytest.param(True, False, marks=pytest.mark.slow), (False, True)]
)
def test_parts_that_are_not_trainable_stay_as_they_are(encoder, embedding, preset):
    model = TextClassifier.from_preset(
        preset, num_classes=2, encoder_trainable=encoder, embedding_trainable=embedding
    )
    parts = {"encoder": encoder, "embedding": embedding, "head": True}
    matrices = {
        name: [weight for weight in getattr(model, name).weights if len(weight.shape) == 2]
        for name in parts
    }
    before = {name: [weight.numpy() for weight in weights] for name, weights in matrices.items()}
    model.compile("sgd")
    model.fit(TEXTS, LABELS, verbose=0)
    for name, moves in parts.items():
        changed = [np.any(old != new) for old, new in zip(before[name], matrices[name])]
        assert moves == any(changed), name


def test_the_parts_have_the_names_of_keras_hub(classifier):
    assert {"demo", "disan_trec"} <= TextClassifier.presets.keys()
    assert classifier.num_classes == len(classifier.classes)
    texts = tf.data.Dataset.from_tensor_slices(TEXTS).batch(len(TEXTS))
    ids = next(iter(texts.map(classifier.preprocessor)))["sentence"]
    logits = classifier.head(classifier.backbone(ids))
    np.testing.assert_allclose(logits, classifier.predict(TEXTS, verbose=0), atol=1e-5)


def test_a_preset_folder_has_the_classifier_and_a_card(classifier, tmp_path):
    classifier.save_to_preset(tmp_path / "films")
    loaded = TextClassifier.from_preset(tmp_path / "films")
    assert loaded.classes == classifier.classes and loaded.words == classifier.words
    np.testing.assert_array_equal(loaded(TEXTS), classifier(TEXTS))
    model = disan_tf.load(tmp_path / "films")
    assert [row["label"] for row in model.predict(TEXTS)] == classifier.predict_labels(TEXTS)
    assert "one sentence -> bad, good" in (tmp_path / "films" / "README.md").read_text()


def test_a_preset_replaces_nothing_but_a_preset(classifier, tmp_path):
    mine = [tmp_path / "best.weights.h5", tmp_path / "step-3.weights.h5"]
    for path in mine:
        path.touch()
    for name in ("README.md", "model.json", "vocabulary.txt"):
        (tmp_path / name).write_text("mine")
        with pytest.raises(ValueError, match=f"{name} is not part of a preset"):
            classifier.save_to_preset(tmp_path)
        (tmp_path / name).unlink()
    for _ in range(2):
        classifier.save_to_preset(tmp_path)
    for name in ("README.md", "model.json"):  # as if the first save had been killed before
        (tmp_path / name).unlink()
    classifier.save_to_preset(tmp_path)
    assert disan_tf.load(tmp_path).classes == list(classifier.classes)
    assert all(path.exists() for path in mine)
    assert len([*tmp_path.glob("*.weights.h5")]) == 3


@pytest.mark.parametrize("frozen", [("encoder",), ("sentence_model",), ("encoder", "head")])
def test_a_preset_records_the_parameters_of_frozen_parts(frozen, preset, quick_bundle, tmp_path):
    model = TextClassifier.from_preset(preset)
    for name in frozen:
        getattr(model, name).trainable = False
    trained = [weight.name for weight in model.trainable_weights]
    model.save_to_preset(tmp_path)
    info = json.loads((tmp_path / "model.json").read_text())
    assert info["parameters"] == quick_bundle.info["parameters"]
    assert f"| parameters | {info['parameters']:,}, and " in (tmp_path / "README.md").read_text()
    assert [weight.name for weight in model.trainable_weights] == trained


def test_a_preset_of_a_classifier_in_bfloat16_can_be_loaded(preset, tmp_path):
    model = TextClassifier.from_preset(preset, dtype="bfloat16")
    model.save_to_preset(tmp_path)
    weights = TextClassifier.from_preset(tmp_path).get_weights()
    for found, expected in zip(weights, model.get_weights()):
        np.testing.assert_array_equal(found, expected.astype(np.float32))


def test_several_numbers_beside_a_single_text_are_its_row(preset):
    made = TextClassifier.from_preset(preset, classes=["1", "2", "0"]).preprocessor
    assert made("good film", [1.0, 0.0, 0.0])[1].tolist() == [1.0, 0.0, 0.0]
    assert made(["good film"], [[1.0, 0.0, 0.0]])[1].tolist() == [[1.0, 0.0, 0.0]]
    assert made("good film", 1)[1].tolist() == 0


def test_a_preset_keeps_the_tokenizer_of_another_preprocessor(preset, tmp_path):
    tokenizer = {"name": "whitespace", "lowercase": True, "split_words": False, "empty_tokens": 0}
    model = TextClassifier.from_preset(preset)
    model.preprocessor = TextClassifierPreprocessor(model.words, tokenizer)
    model.save_to_preset(tmp_path)
    loaded = TextClassifier.from_preset(tmp_path).preprocessor.tokenizer
    assert loaded == model.preprocessor.tokenizer and loaded["name"] == "whitespace"


def test_a_preset_is_not_saved_where_the_best_model_of_a_training_would_be_loaded(
    classifier, tmp_path
):
    classifier.save_to_preset(tmp_path / "best")
    message = f"^{tmp_path} is a work directory, .* instead of the preset; choose another folder"
    with pytest.raises(ValueError, match=message):
        classifier.save_to_preset(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["best"]


@pytest.mark.parametrize("preset, pairs", [("sick_bundle", True), ("nli_bundle", False)])
def test_a_preset_folder_has_new_heads_and_words(preset, pairs, tmp_path, request):
    folder = request.getfixturevalue(preset).directory
    model = TextClassifier.from_preset(folder, num_classes=2, pairs=pairs)
    row = f"zorbix {' '.join(['0.5'] * model.embedding.dim)}\n"
    (tmp_path / "vectors.txt").write_text(row)
    assert model.adapt(["zorbix"], tmp_path / "vectors.txt") == 1
    texts = [("a zorbix", "a film")] if pairs else ["a zorbix"]
    model.save_to_preset(tmp_path / "new")
    loaded = TextClassifier.from_preset(tmp_path / "new")
    columns = tuple(map(tf.constant, zip(*texts))) if pairs else tf.constant(texts)
    np.testing.assert_allclose(model.predict(texts, verbose=0), loaded(columns), atol=1e-6)


def test_a_softmax_activation_predicts_probabilities(classifier, tmp_path):
    parts = classifier.sentence_model, classifier.words, classifier.get_config()["tokenizer"]
    model = TextClassifier(*parts, classifier.classes, activation="softmax")
    expected = classifier.predict_proba(TEXTS)
    np.testing.assert_allclose(model.predict_proba(TEXTS), expected, atol=1e-6)
    loss = model.evaluate(TEXTS, LABELS, verbose=0)[0]
    assert loss == pytest.approx(classifier.evaluate(TEXTS, LABELS, verbose=0)[0], rel=1e-4)
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded(TEXTS), expected, atol=1e-6)


def test_weights_may_be_random_and_of_another_dtype(preset, quick_bundle):
    model = TextClassifier.from_preset(preset, load_weights=False, dtype="mixed_bfloat16")
    theirs = quick_bundle.model.encoder
    assert model.encoder.compute_dtype == "bfloat16" and theirs.compute_dtype == "float32"
    pairs = zip(model.encoder.trainable_weights, theirs.trainable_weights)
    assert any(not np.array_equal(one, other) for one, other in pairs)


def test_an_export_of_another_format_is_refused(classifier, tmp_path):
    with pytest.raises(ValueError, match="format='onnx' cannot hold the look-up of words"):
        classifier.export(tmp_path / "a.onnx", format="onnx")


def test_an_export_replaces_nothing_but_a_savedmodel(classifier, tmp_path):
    notes, variables = tmp_path / "exported" / "notes.txt", tmp_path / "exported" / "variables"
    variables.mkdir(parents=True)
    with pytest.raises(ValueError, match="is not only a SavedModel and would be replaced"):
        classifier.export(notes.parent)
    variables.rmdir()
    for _ in range(2):
        classifier.export(notes.parent)
    notes.touch()
    for path in (notes.parent, notes):
        with pytest.raises(ValueError, match="is not only a SavedModel and would be replaced"):
            classifier.export(path)
    assert notes.exists() and variables.exists()


def test_an_export_that_fails_leaves_the_older_one(classifier, tmp_path, monkeypatch):
    classifier.export(tmp_path / "exported")
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(atomic, "_sync_one", mock.Mock(side_effect=full))
    with pytest.raises(OSError, match="No space left"):
        classifier.export(tmp_path / "exported")
    assert (tmp_path / "exported" / "saved_model.pb").is_file()


def test_the_client_reads_an_export(classifier, tmp_path, capsys):
    classifier.export(tmp_path / "exported")
    client.main([f"--model={tmp_path / 'exported'}", "a good film .", "\u200b"])
    probability = classifier.predict_proba(["a good film ."]).max()
    expected = f"good ({probability:.3f}): a good film .\nblank: \u200b\n"
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    "place, value, reason",
    [
        (["encoder", "name"], "attack_of_a_preset:Encoder", "attack_of_a_preset:Encoder"),
        (["encoder", "module"], {"module": "attack_of_a_preset", "class_name": "s"}, "module"),
        (["embedding", "name"], "attack_of_a_preset", "attack_of_a_preset"),
    ],
)
def test_a_preset_of_a_stranger_imports_nothing(
    place, value, reason, classifier, tmp_path, monkeypatch
):
    (tmp_path / "attack_of_a_preset.py").write_text("raise SystemExit")
    monkeypatch.syspath_prepend(tmp_path)
    classifier.save_to_preset(tmp_path / "preset")
    path = tmp_path / "preset" / "model.json"
    info = json.loads(path.read_text(encoding="utf-8"))
    info["config"][place[0]][place[1]] = value
    path.write_text(json.dumps(info), encoding="utf-8")
    with pytest.raises(UserError, match=reason):
        TextClassifier.from_preset(tmp_path / "preset")
    assert "attack_of_a_preset" not in sys.modules


def test_cleaned_tokens_stay_cleaned_in_a_keras_file(classifier, tmp_path):
    tokenizer = {"name": "kim", "lowercase": True, "split_words": False, "empty_tokens": False}
    parts = classifier.sentence_model, classifier.words
    kim = TextClassifier(*parts, tokenizer, classifier.classes)
    kim.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    with pytest.raises(ValueError, match="needs a classifier that from_preset made"):
        kim.save_to_preset(tmp_path)
    for model, length in ((classifier, 4), (kim, 3), (loaded, 3)):
        assert model.preprocess(["a fine film."])["sentence"].shape == (1, length)


@pytest.mark.slow
def test_an_export_runs_in_a_process_without_the_package(classifier, tmp_path):
    classifier.export(tmp_path / "exported")
    inputs = {"one": {"text": np.array([b"a good film ."])}}
    needed = ("disan_tf",), ("tensorflow_text",)
    (answers,) = ask(Question(tmp_path / "exported", inputs, tmp_path, *needed))
    found = answers["one", "serving_default"]
    assert {*found} == {"class", "class_names", "logits", "no_known_word", "probabilities"}
    assert decoded(found["class_names"]) == [["bad", "good"]] and not found["no_known_word"].any()
    assert decoded(found["class"]) == [("bad", "good")[found["logits"].argmax()]]
    expected = classifier.predict(np.array(["a good film ."]), verbose=0)
    np.testing.assert_allclose(found["logits"], expected, atol=1e-4)


def test_pairs_come_from_datasets_and_generators_of_all_forms(nli_bundle):
    model = TextClassifier.from_preset(nli_bundle.directory, num_classes=2, pairs=True)
    first, second = (texts.tolist() for texts in (TEXTS[:4], TEXTS[4:8]))
    names, rows = [str(label) for label in LABELS[:4]], [list(row) for row in zip(first, second)]
    by_name = {"hypothesis": second, "premise": first}
    expected = model.predict((first, second), verbose=0)
    make, slices = tf.data.Dataset.from_generator, tf.data.Dataset.from_tensor_slices
    text = tf.TensorSpec([], tf.string)
    datasets = [
        slices((first, second)),
        slices((first, second, LABELS[:4])),
        slices((first, second, names)),
        slices(((first, second), names)),
        slices(rows),
        slices(by_name),
        make(lambda: zip(first, second), output_signature=(text, text)),
    ]
    datasets += [dataset.batch(3) for dataset in datasets]
    datasets += [tf.data.Dataset.from_tensors((first[0], second[0]))]
    datasets += [make(lambda: zip(first, second), output_types=(tf.string, tf.string))]
    columns = [dict(zip(by_name, row)) for row in zip(second, first)]
    generators = [zip(first, second), iter(rows), iter(columns), iter([(first, second)])]
    for given in datasets + generators:
        found = model.predict(given, verbose=0)
        np.testing.assert_allclose(found, expected[: len(found)], atol=1e-6)
        assert len(found) == (1 if given is datasets[-2] else 4)
    for count in (2, 3):  # both texts and a third list, which Keras would take for labels
        with pytest.raises(ValueError, match="lists of two strings may hold rows or columns"):
            model.predict(iter([rows[:count]]), verbose=0)
    batches = slices((first, second, names)).batch(2)
    scores = model.evaluate((first, second), LABELS[:4], verbose=0)
    assert model.evaluate(batches, verbose=0) == pytest.approx(scores)
    assert model.fit(batches, verbose=0).history


def test_a_list_of_two_rows_is_no_list_of_two_columns():
    pairs = pd.DataFrame({"premise": ["a film", "a plot"], "hypothesis": ["bad", "good"]})
    fields, columns = (*pairs,), (pairs.premise, pairs.hypothesis)
    for frame in (pairs, pairs[["hypothesis", "premise"]], pairs.assign(id=[3, 4])):
        rows = [row for _, row in frame.iterrows()]
        for given in (rows, [*frame.to_records()], frame.to_dict("records")):
            assert np.array_equal(read_texts(given, fields), columns)
    for given in ([*pairs.values], [*columns], [*map(tf.constant, columns)]):
        with pytest.raises(ValueError, match="two lists of two strings may be rows or columns"):
            read_texts(given, fields)
    for given in (columns, [column[:1] for column in columns], [*map(iter, columns)]):
        found = read_texts(given, fields)
        assert np.array_equal(found, [column[: len(found[0])] for column in columns])


def test_predictions_read_generators_of_single_texts(classifier):
    expected = classifier.predict(TEXTS, verbose=0)
    for texts in (iter(TEXTS), ({"text": text} for text in TEXTS), zip(TEXTS, NAMES)):
        np.testing.assert_array_equal(classifier.predict(texts, verbose=0), expected)
    assert classifier.predict(iter([]), verbose=0).shape == (0, 2)


def test_a_preset_without_its_length_is_not_saved(preset, tmp_path):
    model = TextClassifier.from_preset(preset)
    config = {**model.preprocessor.get_config(), "sequence_length": 2}
    model.preprocessor = TextClassifierPreprocessor.from_config(config)
    with pytest.raises(ValueError, match="a preset does not record sequence_length=2"):
        model.save_to_preset(tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


@pytest.mark.slow
def test_pairs_come_as_tuples_or_by_name(nli_bundle):
    model = TextClassifier.from_preset(nli_bundle.directory, num_classes=2, pairs=True)
    pairs = (TEXTS[:4], TEXTS[4:8])
    model.fit(pairs, LABELS[:4], verbose=0)
    by_name = {"hypothesis": pairs[1], "premise": pairs[0]}
    model.fit(by_name, LABELS[:4], verbose=0)
    others = [by_name, list(zip(*pairs)), np.stack(pairs, 1), list(pairs), pd.DataFrame(by_name)]
    others.append(tf.data.Dataset.from_tensor_slices(by_name).batch(3))
    for other in others:
        np.testing.assert_allclose(
            model.predict(other, verbose=0), model.predict(pairs, verbose=0), atol=1e-6
        )
    with pytest.raises(ValueError, match="may be rows or columns"):
        model.predict([["a", "b"], ["c", "d"]])
    with pytest.raises(ValueError, match="1 text given, 2 expected: premise"):
        model(TEXTS[:2])


def test_words_of_the_texts_are_added_with_their_vectors(preset, tmp_path):
    model = TextClassifier.from_preset(preset, num_classes=2)
    known, dim = len(model.words), model.embedding.dim
    before = model(np.array(["a film ."]))
    rows = {"gripping": 0.5, "the": 9.0, "elsewhere": 0.25, "and/or": 0.125}
    lines = [f"{word} {' '.join([str(value)] * dim)}\n" for word, value in rows.items()]
    (tmp_path / "vectors.txt").write_text("".join(lines))
    added = model.adapt(
        ["A gripping film and/or plot .", "Gripping , but the xyzzy !"], tmp_path / "vectors.txt"
    )
    assert added == 2 and len(model.words) == known + 2  # "the" is known, "xyzzy" has no vector
    ids = model.preprocess(np.array(["gripping and/or"]))["sentence"]
    assert ids.numpy().tolist() == [[known + 2, known + 3]]
    expected = [np.full(dim, 0.5), np.full(dim, 0.125)]  # for and\\/or without its escape
    np.testing.assert_array_equal(model.embedding(ids)[0], expected)
    np.testing.assert_array_equal(model(np.array(["a film ."])), before)
    model.compile(tf.keras.optimizers.SGD(momentum=0.9))
    model.fit(TEXTS, LABELS, verbose=0)
    loaded = copy.deepcopy(model)  # through a .keras file, which names weights by their order
    loaded.fit(TEXTS, LABELS, shuffle=False, verbose=0)
    assert loaded.optimizer.iterations == 2


def test_fine_tune_gives_brackets_and_slashes_the_vectors_of_the_plain_signs(preset):
    made = TextClassifier.from_preset(preset, num_classes=2)
    plain = {"-lrb-": "(", r"\/": "/"}
    words = [plain.get(word, word) for word in made.words]
    made = TextClassifier(made.sentence_model, words, made.preprocessor.tokenizer, ("bad", "good"))
    assert made.preprocess(["( /"])["sentence"].numpy().tolist() == [[1, 1]]
    made.fine_tune(TEXTS, LABELS, epochs=1, verbose=0)
    assert made.words == [*words, "-lrb-", r"\/"]
    vectors = made.embedding(made.preprocess(["( /"])["sentence"])[0]
    expected = made.embedding(tf.constant([words.index("(") + 2, words.index("/") + 2]))
    np.testing.assert_array_equal(vectors, expected)
    made.fine_tune(TEXTS, LABELS, epochs=1, verbose=0)
    assert len(made.words) == len(words) + 2


@pytest.mark.parametrize(
    "arguments, error",
    [
        ({"preset": "disan_sick"}, "disan_sick predicts scores; name the new classes"),
        ({"classes": ("a", "b"), "num_classes": 3}, "num_classes=3, but classes has 2 names"),
        ({"classes": "ab"}, "classes='ab' is one string; write a list of names"),
        ({"classes": {"a", "b"}}, "is a set, which has no order; write a list of names"),
        (
            {"classes": {"pos": 1, "neg": 0}},
            "is a mapping, whose values are ignored; write a list of",
        ),
        (
            {"classes": {"0": "neg", "1": "pos"}},
            "is a mapping, whose values are ignored; write a list",
        ),
        ({"classes": ("a", "a")}, "must be at least two different names"),
        ({"classes": (0, 1)}, "must be strings, the names of the classes"),
        ({"classes": 2}, r"classes=2 must be a list of names; .* give num_classes=2\."),
        ({"classes": ("good", "good ")}, "must be at least two different names"),
        ({"classes": ("a", " ")}, "must be names, but one of them is blank"),
        ({"dtype": "fp16"}, "dtype='fp16' must be float32, mixed_bfloat16 or mixed_float16, or"),
        ({"dtype": 16}, "dtype=16 must be float32"),
        ({"num_classes": 1}, "num_classes=1 must be a whole number of at least 2"),
        ({"num_classes": 2, "encoder_trainable": "no"}, "encoder_trainable='no' must be True or"),
    ],
)
def test_impossible_arguments_are_refused(arguments, error):
    with pytest.raises(ValueError, match=error):
        TextClassifier.from_preset(**{"preset": "demo", **arguments})


def test_names_of_classes_and_texts_may_be_a_string_enumeration(classifier):
    names = Enum("Names", {"WORSE": "bad", "BETTER": "good"}, type=str)
    texts = Enum("Texts", {"FIRST": "a bad film", "SECOND": "a good film"}, type=str)
    assert read_classes(names) == ("bad", "good")
    assert read_texts([*texts], ("sentence",)).tolist() == ["a bad film", "a good film"]
    labels = [names.BETTER, names.WORSE, "good"]
    for given in (labels, np.array(labels, object)):
        assert read_labels(given, TEXTS[:3], ("bad", "good"), "numbers").tolist() == [1, 0, 1]
        assert classifier.preprocessor(TEXTS[:3], given)[1].tolist() == [1, 0, 1]


READ_ELSEWHERE = {"preset", "model", "preprocessor", "words", "tokenizer", "config", "fields"}
READ_ELSEWHERE |= {"classes", "dtype"}


@pytest.mark.parametrize("kind", ["from_preset", "classifier", "preprocessor"])
def test_every_argument_is_refused_by_name_if_its_value_is_wrong(classifier, kind):
    words, tokenizer = classifier.words, classifier.preprocessor.tokenizer
    function, *needed = {
        "from_preset": (TextClassifier.from_preset, "no such preset"),
        "classifier": (TextClassifier, classifier.sentence_model, words, tokenizer, NAMES[:2]),
        "preprocessor": (TextClassifierPreprocessor, words, tokenizer),
    }[kind]
    options = options_of(function)
    for name in {*options} - READ_ELSEWHERE:
        for value in wrong_values(options[name].annotation):
            with pytest.raises(ValueError, match=f"^{name}=.* must [^\n]*[.?]$"):
                function(*needed, **{name: value})
                pytest.fail(f"{name}={value!r} passes")


@pytest.mark.parametrize(
    "argument, value", [("epochs", 0), ("patience", "3"), ("batch_size", None)]
)
def test_a_wrong_count_is_refused_by_fine_tune(classifier, argument, value):
    optimizer = classifier.optimizer
    with pytest.raises(ValueError, match=f"{argument}=.* must be a whole number of at least 1"):
        classifier.fine_tune(TEXTS, LABELS, **{argument: value})
    assert classifier.optimizer is optimizer and classifier.embedding.trainable


def test_the_names_of_classes_fit_the_head(classifier):
    arguments = (classifier.sentence_model, classifier.words, {"lowercase": True})
    with pytest.raises(ValueError, match="the head has 2 classes, but classes has 3 names"):
        TextClassifier(*arguments, ("a", "b", "c"))


@pytest.mark.parametrize(
    "dtype", [tf.float16, tf.keras.mixed_precision.Policy("mixed_float16"), "bfloat16"]
)
def test_a_dtype_may_be_a_policy_or_a_type(dtype, preset, classifier):
    model = TextClassifier.from_preset(preset, dtype=dtype)
    assert model.encoder.dtype_policy.name == getattr(dtype, "name", dtype)
    found = model.predict_proba(TEXTS[:4])
    np.testing.assert_allclose(
        found, TextClassifier.from_preset(preset).predict_proba(TEXTS[:4]), atol=0.02
    )


def test_labels_may_be_a_column_by_name(classifier):
    expected = classifier.evaluate(TEXTS, LABELS, verbose=0)
    for labels in (LABELS, NAMES):
        dataset = tf.data.Dataset.from_tensor_slices(({"text": TEXTS}, {"y": labels})).batch(8)
        for given in ((dataset,), (TEXTS, {"y": labels})):
            assert classifier.evaluate(*given, verbose=0) == pytest.approx(expected)
    with pytest.raises(ValueError, match="the labels have the columns a, b; give one of them"):
        classifier.evaluate(TEXTS, {"a": LABELS, "b": LABELS}, verbose=0)


@pytest.mark.parametrize("labels", [[0, 5], ["bad", "fine"]])
@pytest.mark.parametrize("call", ["fit", "evaluate"])
def test_a_wrong_label_in_a_dataset_is_one_sentence(classifier, labels, call):
    model = copy.deepcopy(classifier)
    dataset = tf.data.Dataset.from_tensor_slices((TEXTS[:2], labels)).batch(2)
    with pytest.raises(ValueError, match=r"^label 1 is \S+ .*\.$") as error:
        getattr(model, call)(dataset, verbose=0)
    assert len(str(error.value)) < 150 and error.value.__cause__ is None


def test_no_texts_have_no_predictions(classifier):
    for none in ([], np.array([], object), pd.Series([], dtype=object)):
        assert classifier.predict_labels(none) == []
        assert classifier.predict_proba(none).shape == classifier.predict(none).shape == (0, 2)


def test_a_blank_text_has_no_label(classifier, preset):
    texts = ["a good film", "", " \t", "qwrtz"]
    found = classifier.predict_labels(texts)
    assert found[1:3] == [None, None] and None not in (found[0], found[3])
    assert [row["label"] for row in disan_tf.load(preset).predict(texts)][1:3] == [None, None]


@pytest.mark.parametrize(
    "weights, message",
    [
        ({"bad": 1, "Good": 5}, "class_weight has the key 'Good', .* did you mean good?"),
        ({2: 1.0}, "class_weight: label 0 is 2"),
        ({"bad": "x"}, "class_weight: the weight of 'bad' is 'x', not a number"),
        ({"bad": -1.0}, "the weight of 'bad' is -1.0; it must be a finite number of at least 0"),
        ({"good": float("nan")}, "the weight of 'good' is nan; it must be a finite number"),
        ({"good": np.inf}, "the weight of 'good' is inf; it must be a finite number"),
        ({"bad": [1, 2]}, r"the weight of 'bad' is \[1, 2\], not a number"),
    ],
)
def test_wrong_class_weights_are_refused_by_name(classifier, weights, message):
    for train in (classifier.fit, classifier.train_on_batch):
        with pytest.raises(ValueError, match=message):
            train(TEXTS, LABELS, class_weight=weights)


def test_vectors_of_another_size_are_refused_without_flags(classifier, tmp_path):
    for row in ("zorbix 1 2 3\n", "1 3\nzorbix 1 2 3\n"):
        (tmp_path / "vectors.txt").write_text(row)
        with pytest.raises(UserError, match=r"dimension 3 .* but the classifier asks for 16; choo"):
            classifier.adapt(["zorbix"], tmp_path / "vectors.txt")


def test_tensorboard_draws_histograms_and_no_empty_weight(tmp_path):
    model = TextClassifier.from_preset("demo", num_classes=2)
    assert 0 in model.embedding.fixed.shape
    board = tf.keras.callbacks.TensorBoard(tmp_path, histogram_freq=1, write_images=True)
    with pytest.warns(UserWarning, match="cannot draw the empty weight .*fixed.*; no images"):
        model.fit(TEXTS, LABELS, callbacks=[board], verbose=0)
    assert [*tmp_path.rglob("*.v2")]


def test_texts_of_one_class_are_announced(preset):
    model = TextClassifier.from_preset(preset, classes=("bad", "good"))
    with pytest.warns(UserWarning, match="All 4 texts have the class good"):
        model.fine_tune(TEXTS[:4], ["good"] * 4, epochs=1, verbose=0)


@pytest.mark.parametrize("method", ["fit", "fine_tune"])
def test_equal_texts_of_several_classes_are_announced(preset, method):
    model = TextClassifier.from_preset(preset, classes=("bad", "good"))
    texts, labels = [*TEXTS[:8], "a\u200e film", "a film"], [*NAMES[:8], "good", "bad"]
    with pytest.warns(UserWarning, match=r"^1 text with several classes, such as 'a film' \(good"):
        getattr(model, method)(texts, labels, epochs=1, verbose=0)
    model.evaluate(texts, labels, verbose=0)  # not before an evaluation


def test_a_classifier_keeps_the_version_of_its_tokenizer(preset):
    model = TextClassifier.from_preset(preset, classes=("bad", "good"))
    config = model.preprocessor.get_config()
    assert config["tokenizer"]["version"] == 2
    ids = model.preprocessor("a fi\u00adlm")["sentence"].tolist()
    assert ids == model.preprocessor("a film")["sentence"].tolist()
    del config["tokenizer"]["version"]  # as older versions of the package wrote it
    older = type(model.preprocessor).from_config(config)
    assert older.tokenizer["version"] == 1
    assert older("a fi\u00adlm")["sentence"].tolist()[1] == 1
    model.preprocessor = older
    again = TextClassifier.from_config(model.get_config())
    assert again.preprocessor.tokenizer["version"] == 1


def test_two_classifiers_of_a_preset_stand_in_one_model(preset):
    parts = [TextClassifier.from_preset(preset), TextClassifier.from_preset(preset)]
    texts = tf.keras.Input([], dtype="string")
    model = tf.keras.Model(texts, tf.keras.layers.Average()([part(texts) for part in parts]))
    found = model(tf.constant(TEXTS[:3]))
    np.testing.assert_allclose(found, parts[0](tf.constant(TEXTS[:3])), atol=1e-6)
    assert TextClassifier.from_preset(preset, name="films").name == "films"


def test_an_uncompiled_classifier_cannot_train(preset):
    model = TextClassifier.from_preset(preset, compile=False)
    for call in (model.fit, model.evaluate, model.test_on_batch):
        with pytest.raises(ValueError, match="You must call `compile` before you train"):
            call(TEXTS, LABELS)
    assert model.predict(TEXTS[:2], verbose=0).shape == (2, model.num_classes)


def test_an_uncompiled_classifier_is_saved_and_copied(preset, tmp_path):
    model = TextClassifier.from_preset(preset, compile=False)
    expected = model.predict(TEXTS[:3], verbose=0)
    model.save_to_preset(tmp_path / "films")
    for other in (copy.deepcopy(model), TextClassifier.from_preset(tmp_path / "films")):
        np.testing.assert_allclose(other.predict(TEXTS[:3], verbose=0), expected, atol=1e-6)


@pytest.mark.parametrize("name", ["words", "classes"])
def test_a_preprocessor_of_other_words_or_classes_is_refused(classifier, name):
    config = classifier.preprocessor.get_config()
    other = type(classifier.preprocessor).from_config({**config, name: config[name][::-1]})
    kept = classifier.preprocessor
    with pytest.raises(ValueError, match=f"the preprocessor has other {name} than the classifier"):
        classifier.preprocessor = other
    assert classifier.preprocessor is kept
