"""Reinforced self-attention with given selections against the authors' code."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.encoders import ReSAN
from disan_tf.layers import SelectiveSelfAttention
from disan_tf.layers.hard_attention.samplers import Selection, merge_selections
from disan_tf.layers.tokens import pack, packed_mask
from disan_tf.ops import available_forms
from tests.support.golden import official

BLOCKS = official.names("resa_*.npz")
KEPT = [name for name in BLOCKS if "_keep_" in name]
DROPPED = [name for name in BLOCKS if "_drop_" in name]
SCORED = [name for name in BLOCKS if "_mixed_" in name or "_rownohead_" in name]  # with attention
ENCODERS = official.names("resan_encoder_*.npz")


def _unselected(name, meta):
    """Their two versions differ in whether a token counts in its own mean."""
    if not meta["keep_unselected"]:
        return "drop"
    return "mean" if "_fast_" in name else "mean_of_others"


def _block(name, form="auto"):
    """The file's arrays, x, mask, heads and dependents, our block, and its variables."""
    arrays, meta = official.load(name)
    direction = "diagonal" if meta["direction"] in (None, "None") else meta["direction"]
    block = SelectiveSelfAttention(
        meta["hn"],
        _unselected(name, meta),
        direction=direction,
        activation=meta["activation"],
        attention_form=form,
    )
    inputs = _inputs(arrays)
    block.build(arrays["in/x"].shape)
    return arrays, inputs, block, official.assign(block, arrays)


def _inputs(arrays):
    x, mask, heads, dependents = (
        tf.constant(arrays[f"in/{name}"]) for name in ("x", "mask", "head", "dep")
    )
    return x, mask, heads & mask, dependents & mask


def _check_gradients(arrays, x, variables, output):
    """Of sum(output * R), for the variables and x."""

    def total():
        return tf.reduce_sum(output() * arrays["R/y"])

    sources = {**variables, "x": x}
    official.check_gradients(sources, {**arrays, "gvar/x": arrays["gin/x"]}, total, prefix="gvar")


def _in_each_form(names):
    """Every file with the default form of attention, and the first with each form."""
    cases = [*((name, "auto") for name in names)]
    return pytest.mark.parametrize(
        "name, form", cases + [(names[0], form) for form in available_forms()]
    )


@_in_each_form(KEPT)
def test_outputs_of_all_tokens_equal_the_authors(name, form):
    arrays, inputs, block, variables = _block(name, form)
    x, mask, *_ = inputs
    real = arrays["t/out_mask"]
    assert (mask.numpy() == real).all()
    official.assert_close(block(*inputs)[mask], arrays["out/y"][real], "output")

    def output():
        """Theirs goes on where padding is, with h and a context of 0."""
        h = block.input_map(x)
        return tf.where(mask[:, :, None], block(*inputs), block.fusion_gate(h, tf.zeros_like(h)))

    _check_gradients(arrays, x, variables, output)


@_in_each_form(DROPPED)
def test_outputs_of_selected_heads_alone_equal_the_authors(name, form):
    arrays, inputs, block, variables = _block(name, form)
    output = block(*inputs)
    length = arrays["out/y"].shape[1]  # 0 where no sentence has a head; ours is then 1
    official.assert_close(output[:, :length], arrays["out/y"], "output")
    assert not output[:, length:].numpy().any()
    _check_gradients(arrays, inputs[0], variables, lambda: block(*inputs)[:, :length])


@pytest.mark.parametrize("name", BLOCKS)
def test_contexts_gates_and_attention_equal_the_authors(name, monkeypatch):
    arrays, inputs, block, _ = _block(name)
    attended, real = block.attend(*inputs), arrays["t/out_mask"]
    shown = (inputs[1] if name in KEPT else inputs[2]).numpy()
    for ours, theirs in (("gate", "t/gate"), ("output", "out/y")):
        official.assert_close(attended[ours][shown], arrays[theirs][real], ours)
    assert not attended["output"].numpy()[~shown].any()
    if name in SCORED:
        _check_scores(attended["attention"].numpy(), inputs, arrays)
    if name in KEPT or name in SCORED:
        seen = []
        monkeypatch.setattr(block.fusion_gate, "call", lambda h, s, **_: seen.append(s) or h)
        block(*inputs)
        key = "context_features" if name in KEPT else "attn_result"
        official.assert_close(seen[0][real], arrays[f"t/{key}"][real], "context")


def _check_scores(weights, inputs, arrays):
    """Compares attention between selected tokens."""
    heads, dependents = (each.numpy() for each in inputs[2:])
    pairs = heads[:, :, None] & dependents[:, None]
    # Theirs is left-packed on both axes.
    their_heads, their_dependents = (packed_mask(each).numpy() for each in inputs[2:])
    packed = their_heads[:, :, None] & their_dependents[:, None]
    official.assert_close(weights[pairs], arrays["t/attn_score"][packed], "attention")
    assert not weights[~pairs].any()


@_in_each_form(ENCODERS)
def test_sentence_vectors_of_given_selections_equal_the_authors(name, form):
    arrays, meta = official.load(name)
    x, mask, *chosen = _inputs(arrays)
    heads, dependents = (Selection(each, tf.zeros([len(x)])) for each in chosen)
    selections = merge_selections([heads, heads], [dependents, dependents], mask)
    encoder = ReSAN(meta["hn"], _unselected(name, meta), attention_form=form)
    encoder.build(x.shape)
    variables = official.assign(encoder, arrays, lacking=encoder.samplers)

    u, real = encoder.attention(x, mask, selections=selections)
    assert (real.numpy() == arrays["t/u_mask"]).all()
    official.assert_close(u[real], arrays["t/u"][arrays["t/u_mask"]], "tokens")
    weights = encoder.source2token.attention_weights(u, real)
    official.assert_close(weights[real], arrays["t/soft"][arrays["t/u_mask"]], "source2token")
    official.assert_close(encoder(x, mask, selections), arrays["out/y"], "vector")
    _check_gradients(arrays, x, variables, lambda: encoder(x, mask, selections))


@pytest.mark.usefixtures("each_backend")
def test_packing_equals_the_authors():
    arrays, _ = official.load("resan_reduce.npz")
    x, selected = tf.constant(arrays["in/x"]), tf.constant(arrays["in/sel"])
    packed, mask = pack(x, selected)
    official.assert_close(packed, arrays["out/data"], "packed")
    assert (mask.numpy() == arrays["t/mask"]).all()
    places = tf.broadcast_to(tf.range(x.shape[1]), selected.shape)[:, :, None]
    old = arrays["t/old_idx"]
    assert (pack(places, selected)[0][:, :, 0].numpy() == np.where(old < 0, 0, old)).all()

    def total():
        return tf.reduce_sum(pack(x, selected)[0] * arrays["R/data"])

    official.check_gradients({"x": x}, arrays, total, prefix="gin")


def test_each_golden_file_of_blocks_and_encoders_is_tested():
    names = {*KEPT, *DROPPED, *ENCODERS, "resan_reduce.npz"}
    assert set(official.names("resa_*.npz") + official.names("resan_*.npz")) == names
