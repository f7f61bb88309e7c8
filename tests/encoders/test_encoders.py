"""Directions of DiSAN, and how XLA encodes pairs for a GPU."""

from unittest import mock

import numpy as np
import tensorflow as tf

from disan_tf.encoders import DiSAN
from disan_tf.ops.tracing import target


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
