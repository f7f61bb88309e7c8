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
