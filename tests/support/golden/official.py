"""Golden files of the authors' TensorFlow-1 code, and how their variables are named here."""

import functools
import json
import os
from pathlib import Path

import numpy as np
import tensorflow as tf

from disan_tf.training.optimizers import adadelta

GOLDEN = Path(os.environ.get("DISAN_TF_GOLDEN", Path(__file__).parents[2] / "golden" / "official"))
_BLOCKS = {
    "dir_attn_fw/": "forward_block.",
    "dir_attn_bw/": "backward_block.",
    "dir_attn_1/": "forward_block.",
    "dir_attn_2/": "backward_block.",
    "sent_enc_attn/multi_dimensional_attention/": "source2token.",
    "sentence_enc/multi_dimensional_attention/": "source2token.",
    "/fw_disa/": "forward_block.",
    "/bw_disa/": "backward_block.",
    "/multi_dim_attn_for_disa/": "source2token.",
    "/forward_resa/": "forward_block.",
    "/backward_resa/": "backward_block.",
    "/multi_dim_attn/": "source2token.",
    "/generate_mask_with_rl_head/": "attention.samplers.head.",
    "/generate_mask_with_rl_dep/": "attention.samplers.dependent.",
}
_WEIGHTS = {
    "bn_dense_map/linear_map/W": "input_map.dense.kernel",
    "bn_dense_map/linear_map/bias": "input_map.dense.bias",
    "attention/f_bias": "attention_bias",
    "attention/linear_dependent/W": "dependent_map.kernel",
    "attention/linear_head/W": "head_map.kernel",
    "output/linear_fusion_i/W": "fusion_gate.token_map.dense.kernel",
    "output/linear_fusion_i/bias": "fusion_gate.token_map.dense.bias",
    "output/linear_fusion_a/W": "fusion_gate.context_map.dense.kernel",
    "output/linear_fusion_a/bias": "fusion_gate.context_map.dense.bias",
    "output/o_bias": "fusion_gate.bias",
    "bn_dense_map1/linear_map/W": "token_map.dense.kernel",
    "bn_dense_map1/linear_map/bias": "token_map.dense.bias",
    "bn_dense_map2/linear_map/W": "score_map.dense.kernel",
    "bn_dense_map2/linear_map/bias": "score_map.dense.bias",
    "traditional_attention/bn_dense_map/linear_map/W": "attention.token_map.dense.kernel",
    "traditional_attention/bn_dense_map/linear_map/bias": "attention.token_map.dense.bias",
    "traditional_attention/self_attn_logits/first/W": "attention.score_map.dense.kernel",
    "fw/lstm_cell/kernel": "forward_lstm.kernel",
    "fw/lstm_cell/bias": "forward_lstm.bias",
    "bw/lstm_cell/kernel": "backward_lstm.kernel",
    "bw/lstm_cell/bias": "backward_lstm.bias",
    "output/pre_logits_linear/W": "head.hidden.dense.kernel",
    "output/pre_logits_linear/bias": "head.hidden.dense.bias",
    "output/get_output/W": "head.logits.dense.kernel",
    "output/pre_output/W": "head.hidden.dense.kernel",
    "output/pre_output/bias": "head.hidden.dense.bias",
    "output/out_rep_map/linear_map/W": "head.hidden.dense.kernel",
    "output/out_rep_map/linear_map/bias": "head.hidden.dense.bias",
    "output/logits/W": "head.logits.dense.kernel",
    "output/logits/bias": "head.logits.dense.bias",
    "output/pre_output1/map/linear_map/W": "head.highway.transform.dense.kernel",
    "output/pre_output1/map/linear_map/bias": "head.highway.transform.dense.bias",
    "output/pre_output1/gate/linear_map/W": "head.highway.gate.dense.kernel",
    "output/pre_output1/gate/linear_map/bias": "head.highway.gate.dense.bias",
    "dense_rep_mat_h1/linear_map/W": "hidden.dense.kernel",
    "dense_rep_mat_h1/linear_map/bias": "hidden.dense.bias",
    "dense_rep_mat_h2/linear_map/W": "score.dense.kernel",
    "dense_rep_mat_h2/linear_map/bias": "score.dense.bias",
    "emb/gene_token_emb_mat/emb_mat": "embedding.trained",
}


def golden_json(name: str):
    """The content of `<name>.json` of the golden files."""
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def load(name: str) -> tuple[dict, dict]:
    """The arrays of a golden file, and its `meta`."""
    with np.load(GOLDEN / name, allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files if key != "meta"}
        return arrays, json.loads(str(file["meta"]))


def names(pattern: str) -> list:
    """The golden files that match; an empty directory is an error, not an empty test."""
    found = sorted(path.name for path in GOLDEN.glob(pattern))
    assert found, f"no {pattern} in {GOLDEN}"
    return found


def our_path(official: str) -> str:
    """`DiSAN/ct_attn/dir_attn_fw/attention/f_bias` -> `forward_block.attention_bias`."""
    suffixes = [suffix for suffix in _WEIGHTS if f"/{official}".endswith(f"/{suffix}")]
    assert suffixes, f"no name of ours for {official}"
    blocks = [ours for theirs, ours in _BLOCKS.items() if theirs in official]
    return "".join(blocks) + _WEIGHTS[max(suffixes, key=len)]


def by_our_path(arrays: dict) -> dict:
    """The arrays of all `var/` by our path."""
    return {our_path(key[len("var/") :]): arrays[key] for key in arrays if key.startswith("var/")}


def half(arrays: dict, kind: str) -> dict:
    """One training, "sl" or "rl", of a file that holds two, named as in a file that holds one."""
    chosen = {}
    for key, array in arrays.items():
        prefix, _, rest = key.partition("/")
        chosen[f"{prefix.replace(f'_{kind}_', '_')}/{rest}"] = array
    losses = arrays[f"out/ada_{kind}_losses_sl_rl"][:, ("sl", "rl").index(kind)]
    return {**chosen, "out/ada_loss_before_each_step": losses}


def _weight(model, path):
    """The weight at this path from the model, from its encoder, or from that one's attention."""
    first, *others = path.split(".")
    places = [model]
    for name in ("encoder", "attention"):
        places.append(getattr(places[-1], name, places[-1]))
    start = next(getattr(place, first) for place in places if hasattr(place, first))
    return functools.reduce(
        lambda part, name: part[name] if isinstance(part, dict) else getattr(part, name),
        others,
        start,
    )


def variables_of(model, arrays: dict, lacking=()) -> dict:
    """Official name -> our variable, for every `var/` of a golden file; none may be left over.

    `lacking` are our layers whose weights the file does not have.
    """
    official = [key[len("var/") :] for key in arrays if key.startswith("var/")]
    variables = {name: _weight(model, our_path(name)) for name in official}
    found = {id(variable) for variable in variables.values()}
    found |= {id(weight) for layer in lacking for weight in layer.trainable_weights}
    assert found == {id(weight) for weight in model.trainable_weights}
    return variables


def assign(model, arrays: dict, lacking=()) -> dict:
    """Copies every `var/` of a golden file into `model`; returns `variables_of`."""
    variables = variables_of(model, arrays, lacking)
    for name, variable in variables.items():
        variable.assign(arrays[f"var/{name}"])
    return variables


def assert_close(actual, expected, what=""):
    """|a - b| <= 2e-5 max(1, |b|), the project's bound for float32 parity."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"{what}: {actual.shape} is not {expected.shape}"
    excess = np.abs(actual - expected) - 2e-5 * np.maximum(1.0, np.abs(expected))
    worst = np.max(excess, initial=-1.0)
    assert worst <= 0.0, f"{what}: off by {np.abs(actual - expected).max()}"


def check_gradients(sources: dict, arrays: dict, loss, prefix="gloss_var") -> None:
    """Compares the gradients of `loss()` by variables or tensors; 0 where it has nothing of one."""
    with tf.GradientTape() as tape:
        tape.watch(sources)
        value = loss()
    gradients = tape.gradient(value, sources, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    for name, gradient in gradients.items():
        gradient = tf.convert_to_tensor(gradient)
        assert_close(gradient, arrays[f"{prefix}/{name}"], f"gradient of {name}")


def check_three_steps(variables: dict, arrays: dict, loss, learning_rate: float) -> None:
    """Compares three steps of Adadelta on `loss()`: variables, losses, the optimizer's slots."""
    optimizer = check_steps(variables, arrays, loss, learning_rate)
    for ours, theirs in (("accum_grad", "accum"), ("accum_var", "accum_update")):
        for name, variable in variables.items():
            slot = optimizer.get_slot(variable, ours)
            assert_close(slot, arrays[f"ada_slot_{theirs}/{name}"], f"{ours} of {name}")


def check_steps(variables: dict, arrays: dict, loss, learning_rate: float):
    """Compares variables and losses of three steps of Adadelta; returns the optimizer."""
    optimizer = adadelta(learning_rate)
    losses = []
    for step in (1, 2, 3):
        with tf.GradientTape() as tape:
            losses.append(loss())
        gradients = tape.gradient(losses[-1], list(variables.values()))
        optimizer.apply_gradients(zip(gradients, variables.values()))
        if step != 2:
            for name, variable in variables.items():
                assert_close(variable, arrays[f"ada_step{step}_var/{name}"], f"step {step}: {name}")
    losses.append(loss())
    assert_close(tf.stack(losses), arrays["out/ada_loss_before_each_step"], "losses")
    return optimizer
