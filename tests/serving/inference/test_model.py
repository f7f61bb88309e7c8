"""A loaded model's Keras model, parts and description."""

import dataclasses
import pickle
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tensorflow as tf

import disan_tf
from disan_tf.serving.inference.model import LoadedModel

TEXTS = ["a good film .", "boring"]


@pytest.mark.parametrize(
    "name, texts",
    [("quick_bundle", TEXTS), ("sick_bundle", [("a good film", "boring"), ("a", "new")])],
)
def test_the_keras_model_has_the_logits_of_the_predictions(name, texts, request):
    model = LoadedModel(request.getfixturevalue(name))
    logits = model.keras_model(model.preprocess(texts))
    np.testing.assert_allclose(tf.nn.softmax(logits), model.predict_proba(texts), atol=1e-5)


@pytest.mark.parametrize("name", ["quick_bundle", "nli_bundle"])
def test_preprocessing_no_texts_returns_ids_without_rows(name, request):
    model = LoadedModel(request.getfixturevalue(name))
    ids = model.preprocess([])
    assert list(ids) == list(model.keras_model.input)
    assert [tensor.shape for tensor in ids.values()] == [(0, 0)] * len(model.fields)


def test_methods_that_count_no_words_do_not_warn_of_unknown_ones(loaded):
    model = loaded("disan_trec")  # with word vectors
    model.preprocess(["", "Who was it ?"])  # a warning would be an error
    assert model.attend("")["tokens"] == [""]


def test_the_parts_are_those_of_the_keras_model(quick_bundle):
    model = LoadedModel(quick_bundle)
    ids = model.preprocess(TEXTS)["sentence"]
    vectors = model.encoder(model.embedding(ids), mask=ids != 0)
    np.testing.assert_allclose(vectors, model.encode(TEXTS), atol=1e-5)
    assert model.head(vectors).shape == (2, len(model.classes))


def test_a_model_trained_in_bfloat16_computes_in_float32_unless_asked(mixed_bundle):
    model = disan_tf.load(mixed_bundle.directory)
    assert model.encoder.compute_dtype == "float32"
    one, alone = model.encode(TEXTS)[0], model.encode(TEXTS[0])
    np.testing.assert_allclose(one, alone, rtol=0, atol=2e-6)  # in bfloat16 up to 1e-2
    quick = disan_tf.load(mixed_bundle.directory, dtype="mixed_bfloat16")
    assert quick.encoder.compute_dtype == "bfloat16"
    assert pickle.loads(pickle.dumps(quick)).encoder.compute_dtype == "bfloat16"
    np.testing.assert_allclose(model.encode(TEXTS), quick.encode(TEXTS), atol=0.03)


@pytest.mark.parametrize("dtype", ["fp16", 16, None])
def test_a_dtype_that_keras_does_not_know_is_refused(dtype, quick_bundle):
    with pytest.raises(
        ValueError, match="^dtype=.* must be float32, mixed_bfloat16 or mixed_float16"
    ):
        disan_tf.load(quick_bundle.directory, dtype=dtype)


def test_a_model_says_what_it_is(loaded):
    text = repr(loaded("disan_trec"))
    assert text.startswith("<disan_trec: classification of text, classes ABBR, DESC, ENTY, HUM, ")
    assert re.search(r" [\d,]+ parameters, dev_accuracy 0\.\d+>$", text)


def test_names_of_classes_do_not_steer_a_terminal(quick_bundle):
    info = {
        **quick_bundle.info,
        "classes": ["\x1b]0;title\x07\x9b2Jgood", *quick_bundle.classes[1:]],
    }
    text = repr(LoadedModel(dataclasses.replace(quick_bundle, info=info)))
    assert r"classes \x1b]0;title\x07\x9b2Jgood, " in text


def test_threads_may_share_a_model(quick_bundle):
    model = disan_tf.load(quick_bundle.directory)
    texts = [["a good film ."], ["a bad film .", "new , and moving ."]]
    batches = [texts[number % 2] for number in range(40)]
    with ThreadPoolExecutor(8) as threads:  # whose first calls compile the functions together
        found = [*zip(threads.map(model.predict, batches), threads.map(model.encode, batches))]
    expected = [(model.predict(batch), model.encode(batch)) for batch in texts]
    for number, (predictions, vectors) in enumerate(found):
        assert predictions == expected[number % 2][0]
        np.testing.assert_array_equal(vectors, expected[number % 2][1])
