"""DiSAN's layers against the authors' code: values, attention, gradients, dropout masks."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.encoders import DiSAN
from disan_tf.layers import DirectionalSelfAttention, Source2Token
from tests.support.golden import official
from tests.support.ops.backends import BACKENDS


def _gradients(layer, arrays, training=False):
    """Output, and gradients of sum(output * R) by official variable name and for the input."""
    x, mask = tf.constant(arrays["in/x"]), tf.constant(arrays["in/mask"])
    variables = official.variables_of(layer, arrays)
    with tf.GradientTape() as tape:
        tape.watch(x)
        output = layer(x, mask=mask, training=training)
        total = tf.reduce_sum(output * arrays["R/y"])
    gradients = tape.gradient(total, [x, *variables.values()])
    return output, gradients[0], dict(zip(variables, gradients[1:]))


def _check(layer, arrays, training=False):
    official.assign(layer, arrays)
    output, input_gradient, gradients = _gradients(layer, arrays, training)
    official.assert_close(output, arrays["out/y"], "output")
    official.assert_close(input_gradient, arrays["gin/x"], "gradient of x")
    for name, gradient in gradients.items():
        official.assert_close(gradient, arrays[f"gvar/{name}"], f"gradient of {name}")


def _build(layer, arrays):
    layer(tf.constant(arrays["in/x"]), mask=tf.constant(arrays["in/mask"]))
    return layer


def _valid(tensor, arrays):
    """The rows of real tokens (the authors give padded heads a distribution too)."""
    return np.asarray(tensor)[arrays["in/mask"]]


@pytest.mark.parametrize("name", official.names("disan_dirattn_*.npz"))
def test_disa_block_equals_the_authors(name, form):
    arrays, meta = official.load(name)
    direction = "diagonal" if meta["direction"] in (None, "None") else meta["direction"]
    block = DirectionalSelfAttention(
        direction=direction, activation=meta["activation"], attention_form=form
    )
    _check(_build(block, arrays), arrays)
    attended = block.attend(tf.constant(arrays["in/x"]), tf.constant(arrays["in/mask"]))
    for ours, theirs in (("attention", "t/attn"), ("gate", "t/attn_gate")):
        official.assert_close(_valid(attended[ours], arrays), _valid(arrays[theirs], arrays), ours)


@pytest.mark.parametrize("name", official.names("disan_s2t_*.npz"))
@pytest.mark.parametrize("world", BACKENDS)
def test_source2token_equals_the_authors(world, name):
    arrays, meta = official.load(name)
    with world():
        _check_source2token(arrays, meta)


def _check_source2token(arrays, meta):
    layer = _build(Source2Token(meta["activation"]), arrays)
    _check(layer, arrays)
    weights = layer.attention_weights(tf.constant(arrays["in/x"]), tf.constant(arrays["in/mask"]))
    official.assert_close(_valid(weights, arrays), _valid(arrays["t/soft"], arrays), "weights")


@pytest.mark.parametrize(
    "name", [name for name in official.names("disan_full_*.npz") if "trainmasks" not in name]
)
def test_disan_equals_the_authors(name, form):
    arrays, meta = official.load(name)
    encoder = _build(DiSAN(activation=meta.get("activation", "elu"), attention_form=form), arrays)
    _check(encoder, arrays)
    attended = encoder.attend(tf.constant(arrays["in/x"]), tf.constant(arrays["in/mask"]))
    for ours, theirs in (
        ("forward_attention", "t/s_fw_attn"),
        ("backward_attention", "t/s_bw_attn"),
        ("forward_gate", "t/s_fw_attn_gate"),
        ("backward_gate", "t/s_bw_attn_gate"),
        ("source2token", "t/s_attn"),
    ):
        official.assert_close(_valid(attended[ours], arrays), _valid(arrays[theirs], arrays), ours)


def _dropout_sites(encoder):
    """Our dropout layers in the order of the authors' `tf.nn.dropout` calls."""
    for block in (encoder.forward_block, encoder.backward_block):
        yield block.input_map.dropout
        yield block.attention_dropout
        yield block.fusion_gate.token_map.dropout
        yield block.fusion_gate.context_map.dropout
    yield encoder.source2token.token_map.dropout
    yield encoder.source2token.score_map.dropout


@pytest.mark.parametrize("name", official.names("disan_full_*trainmasks.npz"))
def test_recorded_dropout_masks_give_the_authors_training_pass(name, form):
    arrays, meta = official.load(name)
    encoder = _build(DiSAN(dropout=0.25, attention_form=form), arrays)
    recorded = [arrays[key] for key in sorted(key for key in arrays if key.startswith("mask/"))]
    sites = list(_dropout_sites(encoder))
    assert len(sites) == len(recorded) == len(meta["dropout_sites"])
    for site, mask in zip(sites, recorded):
        site.keep = lambda entries, mask=mask: tf.constant(mask.reshape(-1) != 0)
    _check(encoder, arrays, training=True)


@pytest.mark.parametrize("name", official.names("disan_full_elu_trainmasks.npz"))
def test_the_authors_regularise_the_matrices_that_we_do(name):
    arrays, meta = official.load(name)
    encoder = _build(DiSAN(l2=1e-4), arrays)
    variables = official.variables_of(encoder, arrays)
    official.assign(encoder, arrays)
    expected = sum(0.5e-4 * np.sum(np.square(variables[name].numpy())) for name in meta["reg_vars"])
    assert len(encoder.losses) == len(meta["reg_vars"])
    np.testing.assert_allclose(sum(encoder.losses), expected, rtol=1e-5)
