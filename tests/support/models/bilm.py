"""A small biLM with random weights, and the same in NumPy, a loop over words and characters."""

import numpy as np
import tensorflow as tf

from disan_tf.elmo import BiLM
from disan_tf.elmo.bilm import official_tensors
from disan_tf.text.characters import byte_ids
from tests.support.layers.small import sigmoid
from tests.support.layers.weights import built, mapped

SIZES = {"units": 3, "cells": 5, "filters": [(1, 2), (2, 3), (4, 2)], "character_dim": 4}
SENTENCES = [["Some", "words", "are", "short"], ["naïve"], ["a", "b" * 70], []]


def small_bilm(seed: int = 3, **options) -> BiLM:
    """A built biLM of `SIZES` whose weights are large enough to be clipped at times."""
    bilm = BiLM(**{**SIZES, "cell_clip": 0.6, "projection_clip": 0.4, **options})
    return built(bilm, [None, None, bilm.word_length], seed, size=0.7)


def weights_of(bilm: BiLM) -> dict[str, np.ndarray]:
    """Its weights by their official names."""
    return {name: weight.numpy() for name, weight in official_tensors(bilm).items()}


def batch(sentences=SENTENCES, word_length: int = 50):
    """Character ids <int32>[batch, length, word_length] and mask <bool>[batch, length]."""
    tokens = tf.ragged.constant(sentences, ragged_rank=1, dtype=tf.string)
    ids = tokens.with_flat_values(byte_ids(tokens.flat_values, word_length))
    return ids.to_tensor(0), tf.sequence_mask(tokens.row_lengths())


def official_ids(word, word_length: int = 50) -> list[int]:
    """The official vocabulary's ids of a word, or of the marker 256 or 257, each plus 1."""
    inner = [word] if isinstance(word, int) else list(word.encode()[: word_length - 2])
    ids = [258, *inner, 259]
    return [each + 1 for each in ids + [260] * (word_length - len(ids))]


def word_vector(bilm, word) -> np.ndarray:
    """<float64>[units] of one word."""
    tokens = bilm.tokens
    characters = _wide(tokens.vectors)[np.array(official_ids(word, bilm.word_length)) - 1]
    maps = []
    for kernel, bias in zip(tokens.kernels, tokens.biases):
        width, best = kernel.shape[0], -np.inf
        for start in range(len(characters) - width + 1):
            window = characters[start : start + width]
            best = np.maximum(best, np.einsum("wd,wdn->n", window, _wide(kernel)) + _wide(bias))
        maps.append(best)
    y = {"relu": lambda x: np.maximum(x, 0), "tanh": np.tanh}[bilm.activation](np.concatenate(maps))
    for highway in tokens.highway:
        carry = sigmoid(mapped(highway.gate, y))
        y = carry * np.maximum(mapped(highway.transform, y), 0) + (1 - carry) * y
    return y if tokens.projection is None else mapped(tokens.projection, y)


def layers_of(bilm, sentence, states=None):
    """<float64>[words, 1 + layers, 2 * units] of a list of words, and the states afterwards."""
    x = [word_vector(bilm, word) for word in (256, *sentence, 257)]
    result = np.zeros([len(x), 1 + bilm.layers, 2 * bilm.units])
    after = []
    for direction, stack in enumerate((bilm.forward, bilm.backward)):
        columns = slice(direction * bilm.units, (direction + 1) * bilm.units)
        below = x
        result[:, 0, columns] = below
        for number, lstm in enumerate(stack):
            before = (np.zeros(bilm.cells), np.zeros(bilm.units))
            if states is not None:
                before = states[direction * bilm.layers + number]
            outputs, last = _lstm(bilm, lstm, below[::-1] if direction else below, before)
            outputs = outputs[::-1] if direction else outputs
            if bilm.skip_connections and number:
                outputs = [new + old for new, old in zip(outputs, below)]
            result[:, number + 1, columns] = below = outputs
            after.append(last)
    return result[1:-1], after


def _lstm(bilm, lstm, inputs, before):
    (c, h), outputs = before, []
    for x in inputs:
        gates = np.concatenate([x, h]) @ _wide(lstm.kernel) + _wide(lstm.bias)
        i, j, f, o = np.split(gates, 4)
        c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j)
        c = np.clip(c, -bilm.cell_clip, bilm.cell_clip) if bilm.cell_clip else c
        h = sigmoid(o) * np.tanh(c)
        if bilm.cells > bilm.units:
            h = h @ _wide(lstm.projection)
            limit = bilm.projection_clip
            h = np.clip(h, -limit, limit) if limit else h
        outputs.append(h)
    return outputs, (c, h)


def _wide(weight):
    return weight.numpy().astype(np.float64)
