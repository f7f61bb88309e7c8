"""Language inference with DRCN: what its head sees, what it reads, what the control hides."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.encoders import DRCN
from disan_tf.layers.embedding.characters import WordCharacterEmbedding
from disan_tf.layers.heads.batch_norm import DRCNHead
from disan_tf.models import SentencePairClassifier
from tests.support.layers.weights import draw_weights

PREMISE = tf.constant([[2, 3, 4, 0], [5, 2, 0, 0]])
HYPOTHESIS = tf.constant([[3, 6], [2, 0]])
GENERATOR = np.random.default_rng(1)
CHARACTERS = [
    tf.constant(GENERATOR.integers(1, 20, [2, length, 3]), tf.int32)
    * tf.cast(ids[:, :, None] > 0, tf.int32)
    for ids, length in ((PREMISE, 4), (HYPOTHESIS, 2))
]
MATCH = [tf.constant([[0, 1, 0, 0], [0, 1, 0, 0]]), tf.constant([[1, 0], [1, 0]])]
INPUTS = (PREMISE, HYPOTHESIS, *CHARACTERS, *MATCH)


@functools.cache  # no test changes it
def make(**options):
    model = SentencePairClassifier(
        WordCharacterEmbedding(5, 2, 3, character_units=4),
        DRCN(4, layers=2, functions="Cs-M"),
        DRCNHead(3, 5),
        pair_features="sum_and_difference",
        **options,
    )
    model(*INPUTS)
    draw_weights(model.trainable_weights, seed=2, size=0.4)
    return model


def test_it_reads_ids_characters_and_matches_of_both_sentences():
    assert make().reads == (
        "premise",
        "hypothesis",
        "premise_characters",
        "hypothesis_characters",
        "premise_match",
        "hypothesis_match",
    )
    assert [spec.shape.rank for spec in make().input_specs()] == [2, 2, 3, 3, 2, 2]


def test_the_head_sees_equation_5():
    model = make()
    first, second = (
        model.embedding(*parts) for parts in zip((PREMISE, HYPOTHESIS), CHARACTERS, MATCH)
    )
    p, q = (each.numpy() for each in model.encoder(first, second, PREMISE != 0, HYPOTHESIS != 0))
    features = np.concatenate([p, q, p + q, p - q, np.abs(p - q)], axis=-1)
    np.testing.assert_allclose(model(*INPUTS), model.head(features), rtol=1e-5, atol=1e-6)


def test_attention_is_named_by_sentence_function_and_layer():
    found = make().attend(*INPUTS)
    assert {name: tuple(each.shape) for name, each in found.items()} == {
        f"{field}_{function}_{layer}": shape
        for field, shape in (("premise", (2, 4, 2, 1)), ("hypothesis", (2, 2, 4, 1)))
        for function in ("cosine", "minus")
        for layer in (1, 2)
    }


@pytest.mark.parametrize("hidden", [0, 2, 4, 5])  # premise, its characters, both matches
def test_the_control_sees_nothing_of_the_premise(hidden):
    model, whole = make(hypothesis_only=True), make()
    changed = list(INPUTS)
    changed[hidden] = (
        tf.where(changed[hidden] > 0, 1, changed[hidden]) if hidden < 4 else 1 - changed[hidden]
    )
    np.testing.assert_array_equal(model(*changed), model(*INPUTS))
    assert np.any(whole(*changed).numpy() != whole(*INPUTS).numpy())
