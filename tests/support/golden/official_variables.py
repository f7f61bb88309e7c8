"""Names of the variables in the authors' code of DiSAN and ReSAN, and our weights of the same use.

A name such as `disan/sent_enc/DiSAN/ct_attn/dir_attn_fw/attention/f_bias` says the network, the
block and the weight; our path of it is `forward_block.attention_bias`. Networks of one block have
a path without a block.
"""

import functools

import tensorflow as tf

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
_MAPS = {  # W and a bias in the authors' code
    "bn_dense_map/linear_map": "input_map",
    "output/linear_fusion_i": "fusion_gate.token_map",
    "output/linear_fusion_a": "fusion_gate.context_map",
    "bn_dense_map1/linear_map": "token_map",
    "bn_dense_map2/linear_map": "score_map",
    "traditional_attention/bn_dense_map/linear_map": "attention.token_map",
    "output/pre_logits_linear": "head.hidden",
    "output/pre_output": "head.hidden",
    "output/out_rep_map/linear_map": "head.hidden",
    "output/logits": "head.logits",
    "output/pre_output1/map/linear_map": "head.highway.transform",
    "output/pre_output1/gate/linear_map": "head.highway.gate",
    "dense_rep_mat_h1/linear_map": "hidden",
    "dense_rep_mat_h2/linear_map": "score",
}
_WEIGHTS = {
    "attention/f_bias": "attention_bias",
    "attention/linear_dependent/W": "dependent_map.kernel",
    "attention/linear_head/W": "head_map.kernel",
    "output/o_bias": "fusion_gate.bias",
    "traditional_attention/self_attn_logits/first/W": "attention.score_map.dense.kernel",
    "fw/lstm_cell/kernel": "forward_lstm.kernel",
    "fw/lstm_cell/bias": "forward_lstm.bias",
    "bw/lstm_cell/kernel": "backward_lstm.kernel",
    "bw/lstm_cell/bias": "backward_lstm.bias",
    "output/get_output/W": "head.logits.dense.kernel",
    "emb/gene_token_emb_mat/emb_mat": "embedding.trained",
    **{f"{theirs}/W": f"{ours}.dense.kernel" for theirs, ours in _MAPS.items()},
    **{f"{theirs}/bias": f"{ours}.dense.bias" for theirs, ours in _MAPS.items()},
}


def our_path(official: str) -> str:
    """Returns our path of a variable, such as `forward_block.attention_bias`.

    Raises:
      ValueError: the name is unknown.
    """
    suffixes = [suffix for suffix in _WEIGHTS if f"/{official}".endswith(f"/{suffix}")]
    if not suffixes:
        raise ValueError(f"{official} is no name of a variable in the authors' code.")
    blocks = [ours for theirs, ours in _BLOCKS.items() if theirs in official]
    return "".join(blocks) + _WEIGHTS[max(suffixes, key=len)]


def weight_at(model, path: str) -> tf.Variable:
    """Returns the weight at this path from a model, its encoder, or the encoder's attention.

    Args:
      model: a `SentenceModel`, an encoder or a layer.
      path: see `our_path`.

    Raises:
      ValueError: there is no such weight.
    """
    first, *others = path.split(".")
    places = [model]
    for name in ("encoder", "attention"):
        places.append(getattr(places[-1], name, places[-1]))
    try:
        start = next(getattr(place, first) for place in places if hasattr(place, first))
        return functools.reduce(_part, others, start)
    except (StopIteration, AttributeError, KeyError):
        raise ValueError(f"the model has no weight {path}.") from None


def _part(whole, name: str):
    return whole[name] if isinstance(whole, dict) else getattr(whole, name)


def weight_of(model, official: str) -> tf.Variable:
    """Returns the weight with the same use as a variable of the authors' code.

    Raises:
      ValueError: the name is unknown, or the model has no such weight.
    """
    return weight_at(model, our_path(official))
