"""A trained model with new classes, as a Keras model of raw text."""

import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

import disan_tf
from disan_tf.common.errors import UserError
from disan_tf.serving.fine_tuning.text_classifier import TextClassifier

GOOD = ["a fine film .", "what a superb plot !", "the acting is wonderful .", "moving and warm ."]
BAD = ["a dull film .", "what an awful plot !", "the acting is terrible .", "slow and empty ."]
TEXTS = np.array([text for pair in zip(GOOD, BAD) for text in pair] * 4)
LABELS = np.array([1, 0] * 16)
LOADING = """
import sys
import tensorflow as tf
import tensorflow_text
model = tf.saved_model.load(sys.argv[1])
outputs = model.signatures["serving_default"](text=tf.constant(["a fine film ."]))
print(*outputs["logits"].numpy()[0], "disan_tf" in sys.modules)
"""


@pytest.fixture(scope="module")
def trained():
    tf.keras.utils.set_random_seed(1)
    classifier = TextClassifier.from_preset("demo", classes=("bad", "good"))
    classifier.fit(TEXTS, LABELS, epochs=20, verbose=0)
    return classifier


def test_it_learns_new_classes_from_arrays(trained):
    loss, accuracy = trained.evaluate(TEXTS, LABELS, verbose=0)
    assert trained.classes == ("bad", "good")
    assert accuracy == 1.0 and loss < 0.5


@pytest.mark.slow
def test_it_learns_from_datasets_as_from_arrays():
    histories = []
    for fit in (
        lambda model: model.fit(TEXTS, LABELS, batch_size=8, shuffle=False, verbose=0),
        lambda model: model.fit(
            tf.data.Dataset.from_tensor_slices((TEXTS, LABELS)).batch(8), verbose=0
        ),
    ):
        tf.keras.utils.set_random_seed(1)
        histories.append(fit(TextClassifier.from_preset("demo", num_classes=2)).history)
    assert histories[0] == pytest.approx(histories[1])


def test_it_starts_with_the_weights_of_the_preset():
    ours = TextClassifier.from_preset("demo", num_classes=3)
    theirs = disan_tf.load("demo")
    for part in ("encoder", "embedding"):
        for mine, weight in zip(getattr(ours, part).weights, getattr(theirs, part).weights):
            np.testing.assert_array_equal(mine, weight)
    assert ours.predict(TEXTS[:2], verbose=0).shape == (2, 3)


def test_without_new_classes_it_is_the_preset_itself():
    ours, theirs = TextClassifier.from_preset("demo"), disan_tf.load("demo")
    logits = ours.predict(TEXTS[:4], verbose=0)
    probabilities = tf.nn.softmax(logits).numpy()
    expected = [list(row["probabilities"].values()) for row in theirs.predict(list(TEXTS[:4]))]
    np.testing.assert_allclose(probabilities, expected, atol=1e-6)
    assert ours.classes == tuple(theirs.classes)


@pytest.mark.parametrize(
    "encoder, embedding",
    [
        pytest.param(True, False, marks=pytest.mark.slow),
        pytest.param(False, True, marks=pytest.mark.slow),
        (False, False),
    ],
)
def test_parts_that_are_not_trainable_stay_as_they_are(encoder, embedding):
    model = TextClassifier.from_preset(
        "demo", num_classes=2, encoder_trainable=encoder, embedding_trainable=embedding
    )
    parts = {"encoder": encoder, "embedding": embedding, "head": True}
    before = {
        name: [weight.numpy() for weight in getattr(model, name).weights if len(weight.shape) == 2]
        for name in parts
    }
    model.fit(TEXTS, LABELS, verbose=0)
    for name, moves in parts.items():
        after = [
            weight.numpy() for weight in getattr(model, name).weights if len(weight.shape) == 2
        ]
        assert moves == any(np.any(old != new) for old, new in zip(before[name], after)), name


def test_a_keras_file_has_weights_classes_and_optimizer(trained, tmp_path):
    trained.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(
        loaded.predict(TEXTS, verbose=0), trained.predict(TEXTS, verbose=0)
    )
    assert loaded.classes == trained.classes and loaded.words == trained.words
    assert loaded.optimizer.iterations == trained.optimizer.iterations
    loaded.fit(TEXTS, LABELS, verbose=0)


def test_cleaned_tokens_stay_cleaned_in_a_keras_file(tmp_path):
    preset = TextClassifier.from_preset("demo")
    kim = TextClassifier(
        preset.sentence_model,
        preset.words,
        {"name": "kim", "lowercase": True, "split_words": False, "empty_tokens": False},
        preset.classes,
    )
    kim.compile()
    kim.predict(TEXTS[:2], verbose=0)
    kim.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    for model, length in ((preset, 4), (kim, 3), (loaded, 3)):
        assert model.preprocess(["a fine film."])["sentence"].shape == (1, length)


@pytest.mark.slow
def test_an_export_runs_in_a_process_without_the_package(trained, tmp_path):
    trained.export(tmp_path / "exported")
    command = [sys.executable, "-c", LOADING, str(tmp_path / "exported")]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    *logits, imported = result.stdout.split()[-3:]
    assert imported == "False"
    expected = trained.predict(np.array(["a fine film ."]), verbose=0)[0]
    np.testing.assert_allclose([float(logit) for logit in logits], expected, atol=1e-4)


@pytest.mark.slow
def test_pairs_come_as_tuples_or_by_name():
    model = TextClassifier.from_preset("disan_snli", num_classes=2, pairs=True)
    pairs = (TEXTS[:4], TEXTS[4:8])
    model.fit(pairs, LABELS[:4], verbose=0)
    by_name = {"premise": pairs[0], "hypothesis": pairs[1]}
    model.fit(by_name, LABELS[:4], verbose=0)
    np.testing.assert_array_equal(
        model.predict(pairs, verbose=0), model.predict(by_name, verbose=0)
    )
    with pytest.raises(ValueError, match="1 texts are given, 2 expected"):
        model(TEXTS[:2])


def test_words_of_the_texts_are_added_with_their_vectors(tmp_path):
    model = TextClassifier.from_preset("demo", num_classes=2)
    known, dim = len(model.words), model.embedding.dim
    before = model.predict(np.array(["a film ."]), verbose=0)
    rows = {"gripping": 0.5, "the": 9.0, "elsewhere": 0.25}
    lines = [f"{word} {' '.join([str(value)] * dim)}\n" for word, value in rows.items()]
    (tmp_path / "vectors.txt").write_text("".join(lines))
    added = model.adapt(
        ["A gripping film .", "Gripping , but the xyzzy !"], tmp_path / "vectors.txt"
    )
    assert added == 1 and len(model.words) == known + 1  # "the" is known, "xyzzy" has no vector
    ids = model.preprocess(np.array(["gripping"]))["sentence"]
    assert int(ids[0, 0]) == known + 2
    np.testing.assert_array_equal(model.embedding(ids)[0, 0], np.full(dim, 0.5))
    np.testing.assert_array_equal(model.predict(np.array(["a film ."]), verbose=0), before)
    model.fit(TEXTS, LABELS, verbose=0)


@pytest.mark.parametrize(
    "arguments, error",
    [
        ({"preset": "disan_sick"}, "disan_sick predicts scores; name the new classes"),
        ({"preset": "demo", "classes": "ab", "num_classes": 3}, "num_classes=3 and 2 classes"),
    ],
)
def test_impossible_arguments_are_refused(arguments, error):
    with pytest.raises(ValueError, match=error):
        TextClassifier.from_preset(**arguments)


def test_an_unknown_preset_names_the_known_ones():
    with pytest.raises(UserError, match="nothing.*disan_trec"):
        TextClassifier.from_preset("nothing")
