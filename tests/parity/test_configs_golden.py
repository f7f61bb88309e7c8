"""The configs of the authors' networks: their models have the logits of the golden files."""

import numpy as np
import pytest

from disan_tf.models.factory import build_model
from tests.support.golden import official
from tests.support.golden.models import ids_of, use_uniforms
from tests.support.runs.training import load_config

RELU = {"encoder.activation": "relu", "task.activation": "relu"}
BASE = "official,without_hard_attention"
# golden file -> config, variant, further options
NETWORKS = {
    "snli_disan.npz": ("disan_snli", "official", {}),
    "snli_exp_emb_attn.npz": ("disan_snli", "official,additive", {}),
    "snli_exp_emb_mul_attn.npz": ("disan_snli", "official,source2token", {}),
    "snli_exp_bi_lstm_mul_attn.npz": ("disan_snli", "official,bi_lstm", RELU),
    "snli_exp_emb_self_mul_attn.npz": ("disan_snli", "official,without_directions", {}),
    "sst_disan.npz": ("disan_sst", "official", {}),
    "snli_hw_resan_gs10.npz": ("resan_snli", "official", {}),
    "snli_hw_resan_exp_gs10.npz": ("resan_snli", "official", {"encoder.unselected": "mean"}),
    "snli_hw_resan_base_gs10.npz": ("resan_snli", BASE, {}),
    "sick_resan_mse_gs10.npz": ("resan_sick", "official", {}),
    "sick_resan_kl_gs10.npz": ("resan_sick", "official", {"task.loss": "kl"}),
    "sick_resan_base_mse_gs10.npz": ("disan_sick", "official", {}),
}
SICK_BASE = {"sick_resan_base_mse_gs10.npz": ("resan_sick", BASE, {})}


def _config(name, config_name, variant, options):
    """The network's config with the small sizes of the golden file."""
    arrays, meta = official.load(name)
    weights = official.by_our_path(arrays)
    config = load_config(config_name, variant).copy_and_resolve_references().unlock()
    dim = meta["word_embedding_length"]
    bias = weights.get("forward_block.attention_bias", weights.get("forward_lstm.bias"))
    sizes = {"embedding.dim": dim, "task.hidden_units": len(weights["head.hidden.dense.bias"])}
    config.update_from_flattened_dict({**sizes, **options})
    if "units" in config.encoder:
        units = dim if bias is None else len(bias) // (4 if "bi_lstm" in name else 1)
        config.encoder.units = units
    return config


@pytest.mark.parametrize("name, network", [*NETWORKS.items(), *SICK_BASE.items()])
def test_logits_equal_the_authors(name, network):
    arrays, _ = official.load(name)
    fixed, logits = arrays["in/glove_fixed_mat"], arrays["out/logits"]
    table = official.by_our_path(arrays)["embedding.trained"]
    model = build_model(_config(name, *network), (len(table), len(fixed)), logits.shape[1])
    official.assign(model, arrays)
    model.embedding.fixed.assign(fixed)
    ids, options = ids_of(arrays), {}
    if model.samplers:
        use_uniforms(model, arrays)
        options["selections"] = model.select(*ids, how="sample")
    np.testing.assert_allclose(model(*ids, **options), logits, atol=1e-5, rtol=1e-5)
