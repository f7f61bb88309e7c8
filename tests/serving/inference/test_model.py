"""A loaded model's Keras model, parts and description."""

import dataclasses
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tensorflow as tf

import disan_tf
from disan_tf.serving.inference.model import LoadedModel

TEXTS = {
    "disan_trec": ["Who wrote it ?", "How far is the sea , and why ?"],
    "disan_snli": [("A man runs .", "A man moves ."), ("A red car", "It is blue , I think .")],
    "resan_sick": [("A man runs .", "A man moves ."), ("A red car", "It is blue , I think .")],
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name != "disan_trec")) for name in TEXTS],
)
def test_the_keras_model_has_the_logits_of_the_predictions(name, loaded):
    model = loaded(name)
    logits = model.keras_model.predict(model.preprocess(TEXTS[name]), verbose=0)
    probabilities = [list(row["probabilities"].values()) for row in model.predict(TEXTS[name])]
    np.testing.assert_allclose(tf.nn.softmax(logits), probabilities, atol=2e-2)  # bfloat16


def test_the_parts_are_those_of_the_keras_model(loaded):
    model = loaded("disan_trec")
    ids = model.preprocess(TEXTS["disan_trec"])["sentence"]
    vectors = model.encoder(model.embedding(ids), mask=ids != 0)
    np.testing.assert_allclose(vectors, model.encode(TEXTS["disan_trec"]), atol=1e-2)
    assert model.head(vectors).shape == (2, len(model.classes))


def test_a_model_says_what_it_is(loaded):
    text = repr(loaded("disan_trec"))
    assert text.startswith("<disan_trec: classification of text, classes ABBR, DESC, ENTY, HUM, ")
    assert re.search(r" [\d,]+ parameters, dev_accuracy 0\.\d+>$", text)


def test_names_of_classes_do_not_steer_a_terminal(bundle):
    info = {**bundle.info, "classes": ["\x1b]0;title\x07\x9b2Jgood", *bundle.classes[1:]]}
    text = repr(LoadedModel(dataclasses.replace(bundle, info=info)))
    assert r"classes \x1b]0;title\x07\x9b2Jgood, " in text


def test_threads_may_share_a_model():
    model = disan_tf.load("demo")
    texts = [["a fine film ."], ["a dull film .", "warm , and funny ."]]
    batches = [texts[number % 2] for number in range(40)]
    with ThreadPoolExecutor(8) as threads:  # whose first calls compile the functions together
        found = [*zip(threads.map(model.predict, batches), threads.map(model.encode, batches))]
    expected = [(model.predict(batch), model.encode(batch)) for batch in texts]
    for number, (predictions, vectors) in enumerate(found):
        assert predictions == expected[number % 2][0]
        np.testing.assert_array_equal(vectors, expected[number % 2][1])
