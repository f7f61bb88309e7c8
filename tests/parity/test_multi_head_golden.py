"""Multi-head attention and the positional encoding of DiSAN's Table 1 against the authors' code."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.encoders import ENCODERS, attentive
from disan_tf.layers import MultiHeadSelfAttention
from tests.support.golden import official

pytestmark = pytest.mark.usefixtures("each_backend")


def _authors_encoding(length, dim, dtype=tf.float32):
    """The authors' positional encoding: its exponent is twice that of Vaswani et al."""
    exponents = 4.0 * (np.arange(dim) // 2) / dim
    angles = np.arange(length)[:, None] / 10000.0**exponents
    encoding = np.where(np.arange(dim) % 2 == 0, np.sin(angles), np.cos(angles))
    return tf.constant(encoding, dtype)


def test_the_authors_positional_encoding_has_a_doubled_exponent():
    arrays, _ = official.load("positional_encoding_bib.npz")
    for length, dim in ((7, 6), (5, 9), (40, 300)):
        official.assert_close(_authors_encoding(length, dim), arrays[f"pe_{length}x{dim}"])


def test_multi_head_attention_with_source2token_equals_the_authors(monkeypatch):
    monkeypatch.setattr(attentive, "positional_encoding", _authors_encoding)
    arrays, _ = official.load("multihead_bib_3x4_s2t_elu.npz")
    encoder = ENCODERS["multi_head"](heads=3, units=4)
    encoder(arrays["in/x"], mask=tf.constant(arrays["in/mask"]))
    maps = encoder.source2token.token_map.dense, encoder.source2token.score_map.dense
    variables = {"mh/multi_head_attention/W": encoder.attention.kernel}
    for number, dense in enumerate(maps, start=1):
        variables[f"s2t/bn_dense_map{number}/linear_map/W"] = dense.kernel
        variables[f"s2t/bn_dense_map{number}/linear_map/bias"] = dense.bias
    for name, variable in variables.items():
        variable.assign(arrays[f"var/{name}"])
    assert len(variables) == len(encoder.trainable_weights)
    x, mask = tf.constant(arrays["in/x"]), tf.constant(arrays["in/mask"])
    _check_sum(lambda: encoder(x, mask=mask), x, variables, arrays)
    weights = encoder.attend(x, mask)["source2token"].numpy()[arrays["in/mask"]]
    official.assert_close(weights, arrays["t/soft"][arrays["in/mask"]], "source2token")


def test_multi_head_weights_and_context_equal_the_authors():
    arrays, _ = official.load("multihead_bib_3x4.npz")
    x, mask = tf.constant(arrays["in/x"]), tf.constant(arrays["in/mask"])
    layer = MultiHeadSelfAttention(heads=3, units=4)
    layer(x, mask=mask)
    layer.kernel.assign(arrays["var/mh/multi_head_attention/W"])
    positions = arrays["t/pos_enc"]

    def context():
        """Where a query is padding the authors average all values; we have 0 there."""
        placed = tf.where(mask[:, :, None], x + positions, 0.0)
        values = tf.einsum("bld,hdu->blhu", placed, layer.kernel[2])
        average = tf.reduce_mean(tf.reshape(values, [4, 8, 12]), axis=1, keepdims=True)
        return tf.where(mask[:, :, None], layer(placed, mask=mask), average)

    _check_sum(context, x, {"mh/multi_head_attention/W": layer.kernel}, arrays)
    weights = layer.attention_weights(tf.where(mask[:, :, None], x + positions, 0.0), mask).numpy()
    theirs = np.transpose(arrays["t/prob_dist"], [1, 2, 3, 0])  # they put the heads first
    official.assert_close(weights[mask.numpy()], theirs[mask.numpy()], "weights")


def test_multi_head_attention_with_biases_and_relu_equals_the_authors():
    arrays, _ = official.load("multihead_git_3_12.npz")
    x, mask = tf.constant(arrays["in/x"]), tf.constant(arrays["in/mask"])
    layer = MultiHeadSelfAttention(heads=3, units=4, activation="relu", use_bias=True)
    layer(x, mask=mask)
    scopes = ("mhg/dense", "mhg/dense_1", "mhg/dense_2")  # queries, keys, values

    def stacked(part):
        """[3, heads, units] or [3, heads, dim, units] of three [..., heads * units] arrays."""
        joined = np.stack([arrays[f"{part[0]}/{scope}/{part[1]}"] for scope in scopes])
        split = joined.reshape([*joined.shape[:-1], 3, 4])
        return np.moveaxis(split, -2, 1)

    kernel, bias = stacked(("var", "kernel")), stacked(("var", "bias"))
    layer.kernel.assign(kernel)
    layer.bias.assign(bias)
    gradients = {"gvar/kernel": stacked(("gvar", "kernel")), "gvar/bias": stacked(("gvar", "bias"))}
    variables = {"kernel": layer.kernel, "bias": layer.bias}
    _check_sum(lambda: layer(x, mask=mask), x, variables, {**arrays, **gradients})


def _check_sum(output, x, variables, arrays):
    """Compares an output, and the gradients of sum(output * R) for x and the variables."""
    official.assert_close(output(), arrays["out/y"], "output")
    arrays = {**arrays, "gvar/x": arrays["gin/x"]}
    sources = {**variables, "x": x}
    official.check_gradients(
        sources, arrays, lambda: tf.reduce_sum(output() * arrays["R/y"]), prefix="gvar"
    )
