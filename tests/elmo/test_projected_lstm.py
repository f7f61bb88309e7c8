"""The contract of the projected LSTM; its values are tested with the biLM's."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.elmo import ProjectedLSTM
from tests.support.layers.contract import MaskContract


class TestForwardLSTM(MaskContract):
    units = 3
    roundings = 12
    bad_arguments = ({"cells": 2}, {"clip": -1})

    def make(self, clip=0.5, **options):
        mine = {"units": 3, "cells": 5, "cell_clip": clip, "projection_clip": clip, "l2": 1e-4}
        return ProjectedLSTM(**{**mine, **options})

    def call(self, layer, x, mask, training=None):
        return layer(x, mask=mask)[0]


class TestBackwardLSTM(TestForwardLSTM, variant=True):
    def make(self, **options):
        return super().make(**{"backward": True, **options})


@pytest.mark.parametrize("backward", [False, True])
def test_states_are_those_after_the_last_real_token(backward):
    contract = TestBackwardLSTM() if backward else TestForwardLSTM()
    layer, (x, mask) = contract.built(), contract.inputs()
    h, (_, last) = layer(x, mask=mask)
    for row, length in enumerate([5, 3, 1]):
        np.testing.assert_array_equal(last[row], h[row, 0 if backward else length - 1])
    assert not np.any(last[3])


def test_without_a_mask_all_tokens_are_real():
    contract = TestForwardLSTM()
    layer, (x, _) = contract.built(), contract.inputs()
    expected = layer(x, mask=tf.ones(x.shape[:2], tf.bool))[0]
    np.testing.assert_array_equal(layer(x)[0], expected)
