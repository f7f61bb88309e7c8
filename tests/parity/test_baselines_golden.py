"""The baselines of DiSAN's Table 1 against the authors' code."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.encoders import ENCODERS, attentive
from disan_tf.layers import Dropout, MultiHeadSelfAttention
from tests.support.golden import official
from tests.support.golden.pairs import (
    check_attention,
    check_outputs,
    check_weight_decay,
    pair_ids,
    pair_loss,
    pair_model,
)

pytestmark = pytest.mark.usefixtures("each_backend")
# file -> (encoder's name and options, head's activation, our attention -> the official name)
BASELINES = {
    "snli_exp_emb_attn.npz": ("additive", {}, "elu", {"attention": "attn"}),
    "snli_exp_emb_mul_attn.npz": ("source2token", {}, "elu", {"source2token": "attn"}),
    "snli_exp_bi_lstm_mul_attn.npz": (
        "bi_lstm",
        {"units": 7, "activation": "relu"},
        "relu",
        {"source2token": "attn"},
    ),
    "snli_exp_emb_self_mul_attn.npz": (
        "disan",
        {"directions": ("diagonal", "diagonal")},
        "elu",
        {
            "first_attention": "1_attn",
            "first_gate": "1_attn_gate",
            "source2token": "attn",
            "second_attention": "2_attn",
            "second_gate": "2_attn_gate",
        },
    ),
}


@pytest.fixture(params=BASELINES)
def name(request):
    return request.param


def _load(name):
    """The golden file's arrays and meta, our model with its weights, and the variables."""
    arrays, meta = official.load(name)
    encoder, options, activation, _ = BASELINES[name]
    make_encoder = functools.partial(ENCODERS[encoder], **options)
    return arrays, meta, *pair_model(arrays, meta, make_encoder, activation)


def test_sentence_vectors_logits_and_loss_equal_the_authors(name):
    arrays, _, model, _ = _load(name)
    check_outputs(model, arrays)


def test_the_authors_regularise_the_matrices_that_we_do(name):
    arrays, meta, model, _ = _load(name)
    check_weight_decay(model, arrays, meta)


def test_attention_equals_the_authors_on_real_tokens(name):
    arrays, _, model, _ = _load(name)
    check_attention(model, arrays, BASELINES[name][-1])


def test_gradients_of_the_loss_equal_the_authors(name):
    arrays, _, model, variables = _load(name)
    official.check_gradients(variables, arrays, lambda: pair_loss(model, arrays))


def test_three_training_steps_equal_the_authors(name):
    arrays, meta, model, variables = _load(name)
    rate = meta["learning_rate"]
    official.check_three_steps(variables, arrays, lambda: pair_loss(model, arrays), rate)


def test_as_many_masks_are_drawn_as_at_the_authors_dropout_sites(name):
    arrays, meta, model, _ = _load(name)
    model(*pair_ids(arrays), training=True)
    drawn = sum(int(site.calls) for site in model.submodules if isinstance(site, Dropout))
    # TensorFlow's DropoutWrapper, around two LSTMs for two sentences, is not in the file's list.
    wrapped = 4 if "bi_lstm" in name else 0
    assert drawn == len(meta["dropout_sites"]) + wrapped


def test_each_golden_baseline_has_its_row():
    other = {"snli_exp_emb_dir_mul_attn.npz"}  # DiSAN itself
    assert set(official.names("snli_exp_*.npz")) == set(BASELINES) | other


def _authors_encoding(length, dim):
    """The authors' positional encoding: its exponent is twice that of Vaswani et al."""
    exponents = 4.0 * (np.arange(dim) // 2) / dim
    angles = np.arange(length)[:, None] / 10000.0**exponents
    encoding = np.where(np.arange(dim) % 2 == 0, np.sin(angles), np.cos(angles))
    return tf.constant(encoding, tf.float32)


@pytest.mark.parametrize("length, dim", [(7, 6), (5, 9), (40, 300)])
def test_the_authors_positional_encoding_has_a_doubled_exponent(length, dim):
    arrays, _ = official.load("positional_encoding_bib.npz")
    official.assert_close(_authors_encoding(length, dim), arrays[f"pe_{length}x{dim}"])


@pytest.fixture
def multi_head_encoder(monkeypatch):
    """Multi-head attention with source2token and the authors' positions, and its golden file."""
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
    return encoder, variables, arrays


def test_multi_head_attention_with_source2token_equals_the_authors(multi_head_encoder):
    encoder, variables, arrays = multi_head_encoder
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
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = output()
        total = tf.reduce_sum(value * arrays["R/y"])
    gradients = tape.gradient(total, [x, *variables.values()])
    official.assert_close(value, arrays["out/y"], "output")
    official.assert_close(gradients[0], arrays["gin/x"], "gradient of x")
    for name, gradient in zip(variables, gradients[1:]):
        official.assert_close(gradient, arrays[f"gvar/{name}"], f"gradient of {name}")
