"""DiSAN's layers against the authors' code: values, attention, gradients, dropout masks."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.encoders import DiSAN
from disan_tf.layers import DirectionalSelfAttention, Source2Token
from disan_tf.ops import available_forms
from tests.support.golden import official
from tests.support.golden.models import DISAN as ATTENTION
from tests.support.ops.backends import BACKENDS


def _check(layer, arrays, training=False):
    """Compares an output, and the gradients of sum(output * R) for the variables and x."""
    x, mask = tf.constant(arrays["in/x"]), tf.constant(arrays["in/mask"])
    variables = official.assign(layer, arrays)

    def total():
        output = layer(x, mask=mask, training=training)
        official.assert_close(output, arrays["out/y"], "output")
        return tf.reduce_sum(output * arrays["R/y"])

    sources, arrays = {**variables, "x": x}, {**arrays, "gvar/x": arrays["gin/x"]}
    official.check_gradients(sources, arrays, total, prefix="gvar")


def _build(layer, arrays):
    layer(tf.constant(arrays["in/x"]), mask=tf.constant(arrays["in/mask"]))
    return layer


def _valid(tensor, arrays):
    """The rows of real tokens (the authors give padded heads a distribution too)."""
    return np.asarray(tensor)[arrays["in/mask"]]


def _check_attention(attended, arrays, theirs):
    for ours, name in theirs.items():
        official.assert_close(_valid(attended[ours], arrays), _valid(arrays[name], arrays), ours)


def _in_each_form(pattern, every):
    """Every file with the default form of attention, and one file with each form."""
    names = [name for name in official.names(pattern) if "trainmasks" not in name]
    cases = [*((name, "auto") for name in names), *((every, form) for form in available_forms())]
    return pytest.mark.parametrize("name, form", cases)


@_in_each_form("disan_dirattn_*.npz", "disan_dirattn_forward_elu.npz")
def test_disa_block_equals_the_authors(name, form):
    arrays, meta = official.load(name)
    direction = "diagonal" if meta["direction"] in (None, "None") else meta["direction"]
    block = DirectionalSelfAttention(
        direction=direction, activation=meta["activation"], attention_form=form
    )
    _check(_build(block, arrays), arrays)
    attended = block.attend(tf.constant(arrays["in/x"]), tf.constant(arrays["in/mask"]))
    _check_attention(attended, arrays, {"attention": "t/attn", "gate": "t/attn_gate"})


@pytest.mark.parametrize("name", official.names("disan_s2t_*.npz"))
@pytest.mark.parametrize("world", BACKENDS)
def test_source2token_equals_the_authors(world, name):
    arrays, meta = official.load(name)
    x, mask = tf.constant(arrays["in/x"]), tf.constant(arrays["in/mask"])
    with world():
        layer = _build(Source2Token(meta["activation"]), arrays)
        _check(layer, arrays)
        weights = layer.attention_weights(x, mask)
    official.assert_close(_valid(weights, arrays), _valid(arrays["t/soft"], arrays), "weights")


@_in_each_form("disan_full_*.npz", "disan_full_elu_holes.npz")
def test_disan_equals_the_authors(name, form):
    arrays, meta = official.load(name)
    encoder = _build(DiSAN(activation=meta.get("activation", "elu"), attention_form=form), arrays)
    _check(encoder, arrays)
    attended = encoder.attend(tf.constant(arrays["in/x"]), tf.constant(arrays["in/mask"]))
    _check_attention(attended, arrays, {ours: f"t/s_{name}" for ours, name in ATTENTION.items()})


def _dropout_sites(encoder):
    """Our dropout layers in the order of the authors' `tf.nn.dropout` calls."""
    for block in (encoder.forward_block, encoder.backward_block):
        yield block.input_map.dropout
        yield block.attention_dropout
        yield block.fusion_gate.token_map.dropout
        yield block.fusion_gate.context_map.dropout
    yield encoder.source2token.token_map.dropout
    yield encoder.source2token.score_map.dropout


def test_recorded_dropout_masks_give_the_authors_training_pass():
    (name,) = official.names("disan_full_*trainmasks.npz")
    arrays, meta = official.load(name)
    encoder = _build(DiSAN(dropout=0.25, l2=1e-4), arrays)
    recorded = [arrays[key] for key in sorted(key for key in arrays if key.startswith("mask/"))]
    sites = list(_dropout_sites(encoder))
    assert len(sites) == len(recorded) == len(meta["dropout_sites"])
    for site, mask in zip(sites, recorded):
        site.keep = lambda entries, mask=mask: tf.constant(mask.reshape(-1) != 0)
    _check(encoder, arrays, training=True)
    decay = sum(0.5e-4 * np.sum(np.square(arrays[f"var/{it}"])) for it in meta["reg_vars"])
    assert len(encoder.losses) == len(meta["reg_vars"])
    np.testing.assert_allclose(sum(encoder.losses), decay, rtol=1e-5)
