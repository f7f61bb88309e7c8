"""The token encoder's contract; its values are tested with the biLM's."""

import numpy as np
import tensorflow as tf

from disan_tf.elmo import TokenEncoder
from tests.support.layers.contract import LayerContract


class TestTokenEncoder(LayerContract):
    units = 6
    reduces = True  # a batch of words is [batch, word length]
    bad_arguments = ({"activation": "elu"}, {"filters": []})

    def make(self, **options):
        mine = {"units": 6, "filters": [(1, 2), (2, 3), (3, 4)], "dim": 4, "l2": 1e-4}
        mine["activation"] = "tanh"  # no filter is dead by chance
        return TokenEncoder(**{**mine, **options})

    def call(self, layer, x, mask, training=None):
        return layer(x)

    def inputs(self):
        _, mask = super().inputs()
        ids = np.random.default_rng(1).integers(1, 262, size=mask.shape)
        return tf.constant(np.where(mask, ids, 261), tf.int32), mask


def test_equal_words_are_computed_once(monkeypatch):
    layer = TokenEncoder(3, [(1, 2)], dim=4)
    layer.build(None)
    seen, encode = [], layer._encode
    monkeypatch.setattr(layer, "_encode", lambda words: seen.append(len(words)) or encode(words))
    layer(tf.constant([[[5, 6, 7], [1, 2, 3]], [[1, 2, 3], [5, 6, 7]]]))
    assert seen == [3]  # with the one of zeros
