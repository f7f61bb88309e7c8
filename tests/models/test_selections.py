"""How models of one sentence and of two choose words, and use what was chosen."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.encoders import ReSAN, SelectedSource2TokenEncoder
from disan_tf.layers import WordEmbedding
from disan_tf.layers.heads.classification import ClassificationHead
from disan_tf.models import SentenceClassifier, SentencePairClassifier
from tests.support.layers.contract import DIM
from tests.support.layers.pair_contract import OTHER
from tests.support.layers.weights import draw_weights

IDS = tf.constant([[1, 2, 3, 4, 5], [6, 7, 8, 0, 0], [9, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
ENCODERS = {
    "resan": lambda **options: ReSAN(6, "drop", seed=5, name="encoder", **options),
    "words": lambda **options: SelectedSource2TokenEncoder(6, name="encoder", **options),
}
each_encoder = pytest.mark.parametrize("make_encoder", ENCODERS.values(), ids=ENCODERS)
each_task = pytest.mark.parametrize("task", [SentenceClassifier, SentencePairClassifier])


def _make(task, make_encoder, name=None, dtype=None, **options):
    shared = {"dropout": 0.25, "l2": 1e-4, "dtype": dtype, **options}
    return task(
        WordEmbedding(7, 3, DIM, dtype=dtype, name="embedding"),
        make_encoder(**shared),
        ClassificationHead(3, 6, highway=True, seed=6, name="head", **shared),
        name=name or "pairs",
    )


def _fields(model):
    return (IDS, OTHER)[: len(model.fields)]


def _model(task, make_encoder=ENCODERS["resan"]):
    model = _make(task, make_encoder)
    model(*_fields(model))
    draw_weights(model.trainable_weights, seed=2, size=0.4)
    return model


@each_task
@each_encoder
def test_a_model_chooses_in_each_of_its_sentences(task, make_encoder):
    model = _model(task, make_encoder)
    selections = model.select(*_fields(model), how="all")
    assert len(selections) == len(model.fields)
    for ids, each in zip(_fields(model), selections):
        for selected in (*each.heads, *each.dependents):
            np.testing.assert_array_equal(selected, ids != 0)


@each_task
@each_encoder
def test_without_selections_a_model_is_greedy(task, make_encoder):
    model = _model(task, make_encoder)
    selections = model.select(*_fields(model), how="greedy")
    expected = model(*_fields(model), selections=selections)
    np.testing.assert_array_equal(model(*_fields(model)), expected)


def test_both_sentences_draw_selections_of_their_own():
    model = _model(SentencePairClassifier)
    first, second = model.select(IDS, IDS, how="sample")
    assert np.any(first.heads[0] != second.heads[0])
    assert [it.uniforms.calls.numpy() for it in model.encoder.samplers] == [2, 2]
