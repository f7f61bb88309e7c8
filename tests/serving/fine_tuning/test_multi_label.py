"""A classifier whose texts may have several classes, or none."""

import copy
import json
from enum import Enum
from functools import partial

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf
from sklearn.metrics import f1_score

import disan_tf
from disan_tf.common.errors import UserError
from disan_tf.serving.export import client
from disan_tf.serving.fine_tuning.multi_label import read_label_sets
from disan_tf.serving.fine_tuning.text_classifier import TextClassifier
from tests.support.models.films import LABELS, TEXTS

CLASSES = ("good", "long", "rare")
LONG = np.array([len(text.split()) > 4 for text in TEXTS])
ROWS = np.stack([LABELS, LONG, np.zeros(len(TEXTS))], axis=1).astype(np.float32)
NAMES = [[name for name, value in zip(CLASSES, row) if value] for row in ROWS]
FORMS = {
    "names": NAMES,
    "tuples": [tuple(names) for names in NAMES],
    "rows": ROWS,
    "integers": ROWS.astype(int).tolist(),
    "truths": ROWS.astype(bool),
    "frame": pd.DataFrame(ROWS, columns=CLASSES)[["rare", "good", "long"]],
    "tensor": tf.constant(ROWS),
    "series": pd.Series(NAMES),
}


@pytest.fixture(scope="module")
def preset(quick_bundle):
    return quick_bundle.directory


@pytest.fixture(scope="module")
def classifier(preset):
    model = TextClassifier.from_preset(preset, classes=CLASSES, multi_label=True)
    tf.keras.utils.set_random_seed(1)
    model.compile(tf.keras.optimizers.Adam(0.01))
    model.fit(TEXTS, NAMES, epochs=15, batch_size=8, verbose=0)
    return model


def test_it_learns_several_classes(classifier):
    assert classifier.predict_labels(TEXTS) == NAMES
    probabilities, logits = classifier.predict_proba(TEXTS), classifier.predict(TEXTS, verbose=0)
    np.testing.assert_allclose(probabilities, 1 / (1 + np.exp(-logits)), rtol=1e-5)
    sums = probabilities.sum(axis=1)
    assert sums.max() > 1.5 and sums.min() < 0.5  # no softmax
    assert classifier.predict_labels(TEXTS, threshold=0.0) == [[*CLASSES]] * len(TEXTS)
    assert classifier.predict_labels(TEXTS, threshold=1.0) == [[]] * len(TEXTS)
    assert classifier.predict_labels(["", TEXTS[0]]) == [None, NAMES[0]]


def test_fine_tuning_keeps_the_epoch_of_the_best_micro_f1(preset):
    model = TextClassifier.from_preset(preset, classes=CLASSES, multi_label=True)
    history = model.fine_tune(TEXTS, NAMES, (TEXTS, NAMES), epochs=4, verbose=0).history
    score = model.evaluate(TEXTS, NAMES, verbose=0, return_dict=True)["micro_f1"]
    assert score == pytest.approx(max(history["val_micro_f1"]))
    model.fine_tune(TEXTS, ROWS, epochs=1, verbose=0)  # holds a tenth out


@pytest.mark.parametrize("form", FORMS)
def test_labels_are_names_or_rows(classifier, form):
    expected = classifier.evaluate(TEXTS, ROWS, verbose=0)
    assert classifier.evaluate(TEXTS, FORMS[form], verbose=0) == pytest.approx(expected)
    batches = [(TEXTS[:9], FORMS[form][:9]), (TEXTS[9:], FORMS[form][9:])]
    assert classifier.evaluate(iter(batches), verbose=0) == pytest.approx(expected)


def test_a_new_classifier_trains_from_a_generator(preset):
    model = TextClassifier.from_preset(preset, classes=CLASSES, multi_label=True)
    scores = model.fit(iter([(TEXTS, NAMES)]), verbose=0).history
    assert {"micro_f1", "macro_f1"} <= {*scores}


def test_datasets_hold_rows(classifier):
    dataset = tf.data.Dataset.from_tensor_slices((TEXTS, ROWS.astype(np.int64))).batch(8)
    expected = classifier.evaluate(TEXTS, ROWS, batch_size=8, verbose=0)
    assert classifier.evaluate(dataset, verbose=0) == pytest.approx(expected)
    ids = dataset.map(classifier.preprocessor)
    assert classifier.evaluate(ids, verbose=0) == pytest.approx(expected)
    with pytest.raises(ValueError, match="give batches with 3 numbers, 0 or 1, for each text"):
        classifier.evaluate(tf.data.Dataset.from_tensor_slices((TEXTS, LABELS)).batch(8))


@pytest.mark.parametrize("activation", [None, "sigmoid"])
def test_scores_are_those_of_scikit_learn(preset, activation):
    model = TextClassifier.from_preset(
        preset, classes=CLASSES, multi_label=True, activation=activation
    )
    scores = model.evaluate(TEXTS, ROWS, verbose=0, return_dict=True)
    probabilities = model.predict_proba(TEXTS)
    found, truth = probabilities > 0.5, ROWS.astype(bool)
    for average in ("micro", "macro"):
        expected = f1_score(truth, found, average=average, zero_division=0.0)
        assert scores[f"{average}_f1"] == pytest.approx(expected, abs=1e-6)
    entropy = -np.mean(np.where(truth, np.log(probabilities), np.log(1 - probabilities)))
    assert scores["loss"] - float(sum(model.losses)) == pytest.approx(entropy, rel=1e-4)


def test_a_preset_keeps_it_and_softmaxes_refuse_it(classifier, tmp_path):
    classifier.save_to_preset(tmp_path / "films")
    loaded = TextClassifier.from_preset(tmp_path / "films")
    assert loaded.multi_label and loaded.predict_labels(TEXTS) == NAMES
    assert "disan_tf.load(" not in (tmp_path / "films" / "README.md").read_text()
    with pytest.raises(UserError, match=r"multi-label classifier; .*TextClassifier\.from_preset"):
        disan_tf.load(tmp_path / "films")
    with pytest.raises(ValueError, match="multi_label=False, but the classes of .*=True; name new"):
        TextClassifier.from_preset(tmp_path / "films", multi_label=False)
    single = TextClassifier.from_preset(tmp_path / "films", classes=("a", "b"))
    assert not single.multi_label
    info = json.loads((tmp_path / "films" / "model.json").read_text(encoding="utf-8"))
    info["multi_label"] = "yes"
    (tmp_path / "films" / "model.json").write_text(json.dumps(info), encoding="utf-8")
    with pytest.raises(UserError, match="multi_label must be true or false"):
        TextClassifier.from_preset(tmp_path / "films")


def test_keras_files_and_copies_keep_it(classifier, tmp_path):
    classifier.save(tmp_path / "model.keras")
    for model in (tf.keras.models.load_model(tmp_path / "model.keras"), copy.deepcopy(classifier)):
        assert model.predict_labels(TEXTS) == NAMES
        model.fit(TEXTS, NAMES, verbose=0)


def test_an_export_has_the_probabilities_of_each_class(classifier, tmp_path, capsys):
    classifier.export(tmp_path / "exported")
    served = tf.saved_model.load(str(tmp_path / "exported")).signatures["serving_default"]
    found = served(text=tf.constant(TEXTS))
    assert {*found} == {"class_names", "logits", "no_known_word", "probabilities"}
    np.testing.assert_allclose(found["probabilities"], classifier.predict_proba(TEXTS), atol=1e-6)
    for text, names in zip(TEXTS[:4], NAMES):
        client.main([f"--model={tmp_path / 'exported'}", text])
        line = capsys.readouterr().out
        assert [name for name in CLASSES if f"{name} (" in line] == names
        assert names or line.startswith("none of the classes")


@pytest.mark.parametrize(
    "labels, message",
    [
        (["good"] * 2, "label 0 is 'good'; give a list of names for each text"),
        ([["good"], ["god"]], "label 1 has 'god', which is none of the 3 classes; did you mean go"),
        ([[1, 0, 2], [0, 0, 1]], r"label 0 is \[1.0, 0.0, 2.0\]; its numbers must be 0 or 1"),
        ([[1, 0], [0, 0, 1]], "rows of 2 to 3 numbers"),
        ([[1, 0], [0, 1]], r"3 numbers, 0 or 1, .* each of the 2 texts; .* shape \(2, 2\)"),
        ([["good"]], r"the labels have the shape \(1, 3\)"),
        ({"good": [1, 0], "long": [0, 1]}, "the labels are a mapping"),
        (
            pd.DataFrame({"good": [1, 0], "long": [0, 1]}),
            "the labels are a table with the columns good, long; they must be the 3 classes, each",
        ),
        ({"good": [1, 0], "long": [0], "rare": [0, 1]}, "the labels are columns of 1 to 2 numbers"),
        ({"good": 1, "long": 0, "rare": 0}, "label 0 is '1'; give a list of names for each text"),
        ([0, 1], "label 0 is '0'; give a list of names"),
        (None, "the labels are missing"),
    ],
)
def test_wrong_labels_are_refused(classifier, labels, message):
    with pytest.raises(ValueError, match=message):
        classifier.fit(TEXTS[:2], labels, verbose=0)


@pytest.mark.parametrize(
    "make", [np.array, np.bytes_, tf.constant, partial(np.array, dtype=object)]
)
def test_names_may_be_an_array(make):
    rows = read_label_sets(make([["good", "rare"], ["long", "good"]]), CLASSES, 2)
    np.testing.assert_array_equal(rows, [[1, 0, 1], [1, 1, 0]])


@pytest.mark.parametrize(
    "rows, message",
    [
        ([[1.0, 0, 1], [-1, 0, 5]], r"label 1 is \[.*\]; its numbers must be 0 or 1\."),
        ([[1.0, 0, 1], [0, 0.5, 0]], r"label 1 is \[.*\]; its numbers must be 0 or 1\."),
        ([[1.0, 0, 1], [0, np.nan, 0]], r"label 1 is \[.*\]; its numbers must be 0 or 1\."),
        ([["good", "odd", "rare"]] * 2, "label 0 has 'odd', which is none of the 3 classes.*"),
    ],
)
def test_a_wrong_row_in_a_dataset_is_one_sentence(classifier, rows, message):
    dataset = tf.data.Dataset.from_tensor_slices((TEXTS[:2], rows)).batch(2)
    with pytest.raises(ValueError, match=f"^{message}$"):
        classifier.evaluate(dataset, verbose=0)


def test_texts_without_any_class_are_rows_of_zeros():
    np.testing.assert_array_equal(read_label_sets([[], []], CLASSES, 2), np.zeros([2, 3]))


@pytest.mark.parametrize(
    "loss, multi_label, message",
    [
        (tf.keras.losses.BinaryCrossentropy(from_logits=True), False, "this classifier has a soft"),
        (
            "binary_crossentropy",
            False,
            "loss=binary_crossentropy expects an independent probability",
        ),
        (tf.keras.losses.BinaryFocalCrossentropy(), False, "or multi_label=True for texts with se"),
        ("hinge", False, "loss=hinge expects"),
        ("sparse_categorical_crossentropy", True, "expects one class for each text"),
        (tf.keras.losses.CategoricalCrossentropy(), True, "use BinaryCrossentropy"),
        ("sparse_categorical_crossentropy", False, "expects probabilities, but the classifier re"),
        (
            tf.keras.losses.CategoricalCrossentropy(),
            False,
            "or a classifier with activation='softm",
        ),
        (
            tf.keras.losses.sparse_categorical_crossentropy,
            False,
            "use a loss with from_logits=True",
        ),
        ("kl_divergence", False, "loss=kl_divergence expects probabilities"),
        ("binary_crossentropy", True, "or a classifier with activation='sigmoid'"),
    ],
)
def test_a_loss_of_other_probabilities_is_refused(preset, loss, multi_label, message):
    model = TextClassifier.from_preset(preset, classes=CLASSES, multi_label=multi_label)
    with pytest.raises(ValueError, match=message):
        model.compile(loss=loss)


@pytest.mark.parametrize("multi_label", [False, True])
@pytest.mark.parametrize("are_logits", [False, True])
def test_losses_that_fit_are_accepted_and_others_of_logits_are_not(preset, multi_label, are_logits):
    activation = None if are_logits else "sigmoid" if multi_label else "softmax"
    options = {"multi_label": multi_label, "activation": activation}
    model = TextClassifier.from_preset(preset, classes=CLASSES, **options)
    losses = tf.keras.losses
    kind = losses.BinaryCrossentropy if multi_label else losses.CategoricalCrossentropy
    for loss in (kind(from_logits=are_logits), "mse", lambda y, z: z, None):
        model.compile(loss=loss)
    if not are_logits:
        with pytest.raises(ValueError, match="has from_logits=True, but .* returns probabilities"):
            model.compile(loss=kind(from_logits=True))


@pytest.mark.parametrize("threshold", [2, -0.1, "a", None, float("nan")])
def test_a_threshold_is_a_probability(classifier, threshold):
    with pytest.raises(ValueError, match="threshold=.* must be"):
        classifier.predict_labels(TEXTS, threshold=threshold)


def test_records_may_have_a_number_of_each_class():
    frame = pd.DataFrame({"long": [1, 0], "rare": [0, 1], "good": [0, 1]})
    records = frame.to_records(index=False)
    rows = [row for _, row in frame.iterrows()]
    tuples = list(frame.itertuples(index=False))
    for labels in (frame, frame.to_dict("records"), rows, tuples, records, list(records)):
        found = read_label_sets(labels, CLASSES, 2)
        np.testing.assert_array_equal(found, [[0, 1, 0], [1, 0, 1]])
    with pytest.raises(ValueError, match="label 0 has the names ; they must be the 3 classes"):
        read_label_sets([{}, {"good": 1, "long": 0, "rare": 0}], CLASSES, 2)
    with pytest.raises(ValueError, match="label 0 has the names long, rare; .* the 3 classes, eac"):
        read_label_sets(frame[["long", "rare"]].to_dict("records"), CLASSES, 2)


def test_a_dictionary_may_have_a_column_of_each_class():
    columns = {name: [0, 1] for name in reversed(CLASSES)}
    columns[CLASSES[0]] = [1, 0]
    expected = [[1, 0, 0], [0, 1, 1]]
    np.testing.assert_array_equal(read_label_sets(columns, CLASSES, 2), expected)
    named = dict(zip(Enum("Names", dict(zip("abc", columns)), type=str), columns.values()))
    np.testing.assert_array_equal(read_label_sets(named, CLASSES, 2), expected)
    numbered = pd.DataFrame(expected)[[2, 0, 1]]
    np.testing.assert_array_equal(read_label_sets(numbered, ("0", "1", "2"), 2), expected)


@pytest.mark.parametrize("activation, multi_label", [("softmax", True), ("sigmoid", False)])
def test_an_activation_of_other_probabilities_is_refused(preset, activation, multi_label):
    options = {"classes": CLASSES, "multi_label": multi_label, "activation": activation}
    with pytest.raises(ValueError, match=f"activation={activation} does not fit multi_label"):
        TextClassifier.from_preset(preset, **options)


def test_class_weights_need_one_class(classifier):
    with pytest.raises(ValueError, match="class_weight needs one class for each text"):
        classifier.fit(TEXTS, NAMES, class_weight={"good": 2.0}, verbose=0)
    with pytest.raises(ValueError, match="class_weight needs one class for each text"):
        classifier.train_on_batch(TEXTS, ROWS, class_weight={"good": 2.0})
