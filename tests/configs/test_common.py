"""configs/common.py: variants, one or several."""

import pytest

from tests.support.runs.training import load_config


def test_variants_change_a_config_one_after_another():
    config = load_config("disan_sst", "bi_lstm,glove_100d")
    assert config.encoder.name == "bi_lstm" and config.encoder.units == 300
    assert (config.data.vectors, config.data.embedding_dim) == ("glove/glove.6B.100d*.txt", 100)
    assert config.embedding.dim == 100
    assert load_config("elmo_disan_sst", "glove_100d,random").data.vectors == ""
    assert load_config("elmo_disan_sst", "random,tiny").data.bilm == ""


@pytest.mark.parametrize("variant", ["", ",recorded"])
def test_padded_vectors_keep_the_papers_width(variant):
    config = load_config("disan_sst", f"source2token,glove_100d_padded{variant}")
    other = load_config("disan_sst", f"source2token{variant},glove_100d_padded")
    assert config.to_dict() == other.to_dict()
    assert (config.data.vector_dim, config.data.embedding_dim) == (100, 300)
    assert config.data.vectors == load_config("disan_sst", "glove_100d").data.vectors


def test_each_of_several_variants_must_be_known():
    with pytest.raises(ValueError, match="no variant 'bi_lstmm'; did you mean bi_lstm?"):
        load_config("disan_sst", "glove_100d,bi_lstmm")
