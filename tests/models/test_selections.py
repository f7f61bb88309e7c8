"""How models of one sentence and of two choose words, and use what was chosen."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.encoders import DiSAN, ReSAN, SelectedSource2TokenEncoder
from disan_tf.layers import WordEmbedding
from disan_tf.layers.heads.classification import ClassificationHead
from disan_tf.models import RelatednessModel, SentenceClassifier, SentencePairClassifier
from tests.support.layers.contract import DIM
from tests.support.layers.pair_contract import OTHER, PairContract
from tests.support.layers.weights import draw_weights

IDS = tf.constant([[1, 2, 3, 4, 5], [6, 7, 8, 0, 0], [9, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
ENCODERS = {
    "resan": lambda **options: ReSAN(6, seed=5, name="encoder", **options),
    "dropped": lambda **options: ReSAN(6, "drop", True, seed=5, name="encoder", **options),
    "words": lambda **options: SelectedSource2TokenEncoder(6, name="encoder", **options),
}
each_encoder = pytest.mark.parametrize("make_encoder", ENCODERS.values(), ids=ENCODERS)
each_task = pytest.mark.parametrize(
    "task", [SentenceClassifier, SentencePairClassifier, RelatednessModel]
)


def _make(task, make_encoder, name=None, dtype=None, **options):
    shared = {"dropout": 0.25, "l2": 1e-4, "dtype": dtype, **options}
    return task(
        WordEmbedding(7, 3, DIM, dtype=dtype, name="embedding"),
        make_encoder(**shared),
        ClassificationHead(3, 6, highway=True, seed=6, name="head", **shared),
        name=name or "pairs",
    )


class TestPairsOfReSAN(PairContract, variant=True):
    """Greedy choices; the samplers learn by other means than the loss."""

    units = 3

    def make(self, **options):
        return _make(SentencePairClassifier, ENCODERS["resan"], **options)

    def idle(self, layer):
        samplers = [it for each in layer.encoder.samplers for it in each.trainable_weights]
        return super().idle(layer) + samplers


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


@each_task
def test_the_answer_depends_on_the_selections_of_each_sentence(task):
    model = _model(task)
    every = model.select(*_fields(model), how="all")
    expected = model(*_fields(model), selections=every)
    for field in range(len(model.fields)):
        some = list(every)
        nothing = tuple(tf.zeros_like(each) for each in every[field].heads)
        some[field] = every[field]._replace(heads=nothing)
        changed = model(*_fields(model), selections=some)
        assert np.abs(changed - expected).max() > 1e-4


def test_both_sentences_draw_selections_of_their_own():
    model = _model(SentencePairClassifier)
    first, second = model.select(IDS, IDS, how="sample")
    assert np.any(first.heads[0] != second.heads[0])
    assert [it.uniforms.calls.numpy() for it in model.encoder.samplers] == [2, 2]


def test_dropout_makes_choices_noisy_in_training_alone():
    model = _model(SentenceClassifier)
    still, noisy = (
        [model.select(IDS, how="greedy", training=it)[0].log_probability for _ in range(2)]
        for it in (False, True)
    )
    np.testing.assert_array_equal(*still)
    assert np.any(noisy[0] != noisy[1])


def test_half_precision_chooses_by_float32_probabilities():
    model = _make(SentenceClassifier, ENCODERS["resan"], dtype="mixed_bfloat16")
    model(IDS)
    (selections,) = model.select(IDS, how="sample")
    assert selections.log_probability.dtype == selections.head_fraction.dtype == tf.float32
    assert model(IDS, selections=[selections]).dtype == tf.float32


@each_task
def test_selections_pass_through_a_compiled_call(task):
    model = _model(task)
    fields = _fields(model)
    expected = model(*fields, selections=model.select(*fields, how="greedy"))

    @tf.function
    def compiled(*fields):
        return model(*fields, selections=model.select(*fields, how="greedy"))

    np.testing.assert_allclose(compiled(*fields), expected, rtol=1e-5, atol=1e-6)


def test_an_unknown_way_to_choose_is_refused():
    with pytest.raises(ValueError, match="how=best must be all, sample or greedy"):
        _model(SentenceClassifier).select(IDS, how="best")


def test_a_model_without_hard_attention_needs_no_selections():
    model = _make(SentenceClassifier, lambda **options: DiSAN(6, **options))
    assert model(IDS).shape == [4, 3]
