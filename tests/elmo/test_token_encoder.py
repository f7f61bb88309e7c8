"""The token encoder's contract; its values are tested with the biLM's."""

from unittest import mock

import numpy as np
import tensorflow as tf

from disan_tf.elmo import TokenEncoder
from disan_tf.layers.tokens import ROWS_MULTIPLE
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


def test_equal_words_are_computed_once():
    words = tf.constant([[[5, 6, 7], [1, 2, 3]] * 100] * 2)
    with mock.patch.object(tf.nn, "conv1d", wraps=tf.nn.conv1d) as convolve:
        TokenEncoder(3, [(1, 2)], dim=4)(words)
    (call,) = convolve.call_args_list
    assert call.args[0].shape[0] == ROWS_MULTIPLE  # which is more than two words, and one of zeros
