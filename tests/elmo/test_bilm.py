"""The biLM against a loop in NumPy, and its contract."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.elmo import BiLM
from tests.support.layers.contract import MaskContract
from tests.support.models.bilm import SENTENCES, SIZES, batch, layers_of, small_bilm, word_vector

VARIANTS = {
    "official": {},
    "three_layers": {"layers": 3, "skip_connections": True},
    "no_clips": {"cell_clip": 0.0, "projection_clip": 0.0},
    "no_projection": {"cells": 3},
    "no_projection_of_characters": {"units": 7, "cells": 9},
    "tanh": {"activation": "tanh", "highways": 1},
}


class TestBiLM(MaskContract):
    units = 6
    roundings = 12  # ten products after another, four gates
    bad_arguments = (
        {"layers": 0},
        {"cells": 2},
        {"activation": "elu"},
        {"filters": []},
        {"filters": [(9, 2)]},
        {"cell_clip": -1.0},
        {"projection_clip": float("nan")},
    )

    def make(self, **options):
        few = {"layers": 1, "highways": 1, "filters": [(2, 3)], "word_length": 8}
        return BiLM(**{**SIZES, **few, "dropout": 0.25, "l2": 1e-4, **options})

    def call(self, layer, x, mask, training=None):
        """The word length stands inside, where the contract has no axis for it."""
        return layer(_words(x), mask=mask, training=training)[:, :, -1]

    def inputs(self):
        _, mask = super().inputs()
        ids = np.random.default_rng(1).integers(1, 9, size=mask.shape)
        return tf.where(mask, tf.constant(ids, tf.int32), 0), mask

    def expected_shape(self, x):
        return [*x.shape, self.units]

    def pad(self, x, tokens):
        return tf.pad(x, [[0, 0], [0, tokens]])

    def garbage(self, x):
        return tf.fill(x.shape, 3)


def _words(ids):
    """A word of 8 characters for each id, <int32>[batch, length, 8]."""
    letters = tf.stack([ids + shift for shift in (0, 7, 20)], axis=-1)
    return tf.concat([letters, letters, letters[:, :, :2]], axis=-1)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_layer_of_every_word_is_that_of_the_loop(name):
    bilm = small_bilm(**VARIANTS[name])
    ids, mask = batch()
    actual = bilm(ids, mask=mask).numpy()
    for sentence, rows in zip(SENTENCES, actual):
        expected, _ = layers_of(bilm, sentence)
        np.testing.assert_allclose(rows[: len(sentence)], expected, rtol=1e-4, atol=1e-5)
        assert not rows[len(sentence) :].any()


def test_a_row_goes_on_where_it_stood_in_batches_of_any_size():
    """As in the official code: rows that a batch leaves out wait, new ones start from zeros."""
    bilm, states, expected = small_bilm(), None, [None] * 3
    for sentences in (
        [["One", "two"], ["three"]],
        [["four"]],
        [["five"], ["six", "seven"], ["eight"]],
        [["nine"], ["ten"]],
    ):
        layers, states = bilm.advance(*batch(sentences), states)
        for row, sentence in enumerate(sentences):
            wanted, expected[row] = layers_of(bilm, sentence, expected[row])
            np.testing.assert_allclose(layers[row, : len(sentence)], wanted, rtol=1e-4, atol=1e-5)
    assert [len(each) for state in states for each in state] == [3] * 8


@pytest.mark.parametrize("word", ["a", "b" * 43, "b" * 47, "b" * 70, "ïï"])
def test_words_of_any_length_have_the_maxima_of_all_windows(word):
    bilm = small_bilm()
    tokens = batch([[word]])[0]
    np.testing.assert_allclose(
        bilm.tokens(tokens)[0, 0], word_vector(bilm, word), rtol=1e-5, atol=1e-6
    )
