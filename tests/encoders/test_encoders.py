"""The encoders' sizes, and what makes each different from the others."""

import json
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.encoders import ENCODERS, DiSAN
from disan_tf.ops.devices import target
from tests.support.layers.weights import count

MASK = tf.sequence_mask([4, 3, 1], 4)
X = tf.constant(np.random.default_rng(7).normal(size=[3, 4, 6]), tf.float32)
DIAGONAL = {"directions": ("diagonal", "diagonal")}
# DiSAN's Table 1: parameters with its head, (4 * size) x 300 + 300 x 3 and biases.
TABLE = {
    "additive": ("additive", {"units": 300}, 300, 451_803),
    "source2token": ("source2token", {}, 300, 541_803),
    "multi_head": ("multi_head", {"heads": 8, "units": 75}, 600, 1_982_403),
    "bi_lstm": ("bi_lstm", {"units": 300}, 600, 2_884_803),
    "without directions": ("disan", {"units": 300, **DIAGONAL}, 600, 2_345_403),
    "disan": ("disan", {"units": 300}, 600, 2_345_403),
}


@pytest.mark.parametrize("name, options, size, total", TABLE.values(), ids=TABLE)
def test_an_encoder_has_the_papers_parameters(name, options, size, total):
    assert count(ENCODERS[name](**options)) == total - (4 * size + 1) * 300 - 301 * 3


def _of_reversed(encoder):
    """The sentence vectors of the same tokens in the opposite order."""
    lengths = tf.reduce_sum(tf.cast(MASK, tf.int32), axis=1)
    return encoder(tf.reverse_sequence(X, lengths, seq_axis=1), mask=MASK)


@pytest.mark.parametrize(
    "name, options, blind",
    [
        ("additive", {}, True),
        ("source2token", {}, True),
        ("disan", DIAGONAL, True),
        ("disan", {}, False),
        ("multi_head", {"heads": 2, "units": 3}, False),
        ("bi_lstm", {"units": 3}, False),
        ("bi_gru", {"units": 3}, False),
        ("multi_window_cnn", {"units": 3}, False),
        ("hierarchical_cnn", {"units": 3}, False),
    ],
)
def test_who_sees_the_order_of_the_tokens(name, options, blind):
    encoder = ENCODERS[name](seed=1, **options)
    difference = np.abs(encoder(X, mask=MASK) - _of_reversed(encoder)).max()
    assert difference < 1e-6 if blind else difference > 1e-4


def test_directions_survive_json_as_a_list():
    config = json.loads(json.dumps(DiSAN(**DIAGONAL).get_config()))
    assert DiSAN.from_config(config).directions == ("diagonal", "diagonal")


def test_an_unknown_direction_is_refused():
    with pytest.raises(ValueError, match="directions=sideways must be forward"):
        DiSAN(directions=("forward", "sideways"))


def test_for_a_gpu_xla_encodes_both_sentences_of_a_pair_as_one_batch():
    generator = np.random.default_rng(1)
    pair = [tf.constant(generator.normal(size=[3, 8, 4]), tf.float32) for _ in range(2)]
    masks = [tf.constant(generator.random([3, 8]) < 0.7) for _ in range(2)]
    encoder = DiSAN(6)
    expected = encoder.encode_pair(*pair, *masks)
    with target("GPU"), mock.patch.object(encoder, "encode", wraps=encoder.encode) as encode:
        compiled = tf.function(encoder.encode_pair, autograph=False, jit_compile=True)
        found = compiled(*pair, *masks)
    assert [call.args[0].shape for call in encode.call_args_list] == [[6, 8, 4]]
    for actual, vectors in zip(found, expected):
        np.testing.assert_allclose(actual, vectors, rtol=1e-5, atol=1e-6)
