"""Exact parameter counts, without embeddings. A config that is missing here fails."""

import json

import pytest
import tensorflow as tf

from disan_tf.encoders import DiSAN
from disan_tf.layers import DirectionalSelfAttention, Source2Token, Token2Token
from disan_tf.models.factory import build_model, count_parameters
from tests.support.runs.training import config_names, load_config, variants

GLOVE_100D = (100 - 300) * 600  # narrower inputs of both DiSA blocks
# config -> variant -> parameters. The reference notes have those of SNLI, of SICK's default, and
# 1,806,000 for the authors' SST model.
NLI = {
    "": 2_345_403,
    "additive": 451_803,
    "source2token": 541_803,
    "multi_head": 1_982_403,
    "bi_lstm": 2_884_803,
    "without_directions": 2_345_403,
    "glove_100d": 2_345_403 + GLOVE_100D,
    "official": 2_345_403,
    "tiny": 6_947,
}
TWO_CLASSES = {
    "": 1_805_102,
    "additive": 181_502,
    "source2token": 271_502,
    "multi_head": 1_442_102,
    "bi_lstm": 2_344_502,
    "without_directions": 1_805_102,
    "glove_100d": 1_805_102 + GLOVE_100D,
    "tiny": 5_394,
}
ELMO = 2 * (1024 - 300) * 300 + 4  # wider inputs of both DiSA blocks, and the scalar mix
BY_CONFIG = {
    "disan_snli": {
        **NLI,
        "elmo": 2_345_403 + ELMO,
        "glove_100d_padded": 2_345_403,
        "additive,glove_100d_padded": 451_803,
        "source2token,glove_100d_padded": 541_803,
    },
    "disan_multinli": NLI,
    "disan_cr": TWO_CLASSES,
    "disan_mpqa": TWO_CLASSES,
    "disan_subj": TWO_CLASSES,
    "disan_sst": {
        "": 1_806_005,
        "additive": 182_405,
        "source2token": 272_405,
        "multi_head": 1_443_005,
        "bi_lstm": 2_345_405,
        "without_directions": 1_806_005,
        "glove_100d": 1_806_005 + GLOVE_100D,
        "glove_100d_padded": 1_806_005,
        "official": 1_806_000,
        "binary": 1_805_102,
        "sentence": 1_806_005,
        "tiny": 5_445,
    },
    "disan_sick": {
        "": 1_986_005,
        "additive": 272_405,
        "source2token": 362_405,
        "multi_head": 1_623_005,
        "bi_lstm": 2_525_405,
        "without_directions": 1_986_005,
        "glove_100d": 1_986_005 + GLOVE_100D,
        "official": 1_986_005,
        "elmo": 1_986_005 + ELMO,
        "tiny": 5_957,
    },
    "disan_trec": {
        "": 1_806_306,
        "additive": 182_706,
        "source2token": 272_706,
        "multi_head": 1_443_306,
        "bi_lstm": 2_345_706,
        "without_directions": 1_806_306,
        "glove_100d": 1_806_306 + GLOVE_100D,
        "fine": 1_819_550,
        "elmo": 1_806_306 + ELMO,
        "tiny": 5_462,
    },
    "demo": {"": 83_010},
}
# As for TREC with vectors of 100 dimensions, with five classes in place of six.
BY_CONFIG["own_table"] = {
    "": 1_806_005 + GLOVE_100D,
    "additive": 182_405 - 200 * 600,
    "source2token": 272_405 - 220_400,
    "multi_head": 1_443_005 - 360_000,
    "bi_lstm": 2_345_405 - 200 * 2400,
    "without_directions": 1_806_005 + GLOVE_100D,
    "glove_100d": 1_806_005 + GLOVE_100D,
    "pairs": 2_345_403 + GLOVE_100D + 2 * 301,
    "scores": 1_986_005 + GLOVE_100D,
    "tiny": 5_445,
}
# ReSAN: the paper's tables round these, and the reference notes have 3,067,205 and 2,527,207.
BY_CONFIG["resan_snli"] = {
    "": 3_067_205,
    "without_unselected": 3_067_205,
    "without_dependency_restricted": 2_796_604,
    "without_hard_attention": 2_526_003,
    "without_soft_attention": 993_004,
    "without_attention": 541_803,
    "iterative": 3_970_807,
    "paper_reward": 3_067_205,
    "bi_lstm": 2_884_803,
    "bi_gru": 2_524_203,
    "multi_window_cnn": 1_441_803,
    "hierarchical_cnn": 3_424_203,
    "multi_head": 1_982_403,
    "disan": 2_345_403,
    "official": 3_067_205,
    "glove_100d": 3_067_205 + 4 * GLOVE_100D,
    "tiny": 9_093,
}
BY_CONFIG["resan_sick"] = {
    "": 2_527_207,
    "without_unselected": 2_527_207,
    "without_dependency_restricted": 2_256_606,
    "without_hard_attention": 1_986_005,
    "without_soft_attention": 633_006,
    "without_attention": 362_405,
    "iterative": 3_430_809,
    "paper_reward": 2_527_207,
    "bi_lstm": 2_525_405,
    "bi_gru": 2_164_805,
    "multi_window_cnn": 1_082_405,
    "hierarchical_cnn": 3_244_805,
    "multi_head": 1_623_005,
    "disan": 1_986_005,
    "official": 2_527_207,
    "glove_100d": 2_527_207 + 4 * GLOVE_100D,
    "tiny": 7_559,
}
# DSA: the paper's 2.1m, 7.0m and 2.4m are those of `paper_count`.
BY_CONFIG["dsa_snli"] = {
    "": 1_808_553,
    "single": 1_808_553,
    "multiple": 6_733_581,
    "self_attention": 2_169_753,
    "paper_count": 2_078_553,
    "multiple,paper_count": 7_003_581,
    "self_attention,paper_count": 2_439_753,
    "glove_100d": 1_808_553 + GLOVE_100D,
    "tiny": 8_547,
}
BY_CONFIG["dsa_sst"] = {
    "": 1_174_655,
    "single": 1_174_655,
    "multiple": 2_770_127,
    "self_attention": 1_535_855,
    "paper_count": 1_444_655,
    "multiple,paper_count": 3_040_127,
    "self_attention,paper_count": 1_805_855,
    "bi_lstm": 1_625_405,
    "bi_lstm_self_attention": 1_986_605,
    "cnn_non_static": 452_705,
    "binary": 1_173_752,
    "glove_100d": 1_174_655 + GLOVE_100D,
    "tiny": 7_413,
}
# DRCN: 9,165 features of a pair, 1,000 units twice and 3 classes make 10,174,003 of each.
BY_CONFIG["drcn_snli"] = {
    "": 11_338_915,
    "B-Ca-Cs-D-M": 12_691_017,
    "B-Ca-Cs-D": 12_440_717,
    "B-Ca-Cs-M": 12_440_717,
    "B-Ca-D-M": 12_491_017,
    "B-Cs-D-M": 12_390_717,
    "Ca-Cs-D-M": 12_441_015,
    "Cs": 11_338_915,
    "own_parameters": 13_102_520,
    "over_functions": 11_840_717,
    "bi_lstm": 20_314_115,
    "bottleneck": 4_616_948,
    "hypothesis_only": 11_338_915,
    "glove_100d": 8_858_915,
    "tiny": 10_473,
}
# ELMo-fed DiSAN: two blocks of 4,166,100 (1,024 numbers in, 900 units), source2token on 1,800 of
# 6,483,600, a head of 1,625,405, and the 4 of the scalar mix. The biLM has 93,600,848.
BY_CONFIG["elmo_disan_sst"] = {
    "": 16_441_209,
    "glove": 1_806_005,
    "random": 1_806_005,
    "small_bilm": 1_779_609,
    "both": 1_959_609,
    "dropout_rate": 16_441_209,
    "cut_phrases": 16_441_209,
    "trainable_bilm": 16_441_209 + 8_403_684,  # a biLM that is smaller than the official one
    "glove_100d": 16_441_209,
    "tiny": 37_705,
}
# With a softmax over 16 words of 512 numbers.
BY_CONFIG["bilm"] = {"": 93_600_848 + 8_208, "small": 1_856_864, "tiny": 7_436}
COUNTS = {
    (config, variant): count
    for config, counts in BY_CONFIG.items()
    for variant, count in counts.items()
}
# Of corpora that have no choice of classes.
CLASSES = {
    "snli": 3,
    "multinli": 3,
    "sick": 5,
    "cr": 2,
    "mpqa": 2,
    "subj": 2,
    "text": 1,
    "table": 5,
}
SMALL = {"units": 128, "cells": 512, "filters": [(1, 4)], "word_length": 50}
# What feeds a model is not counted unless it is trained: its sizes matter little.
BILMS = {"small_bilm": SMALL, "both": SMALL}


_COUNTED = {}


def _parameters(layer, dim):
    layer.build([None, None, dim])
    return sum(int(tf.size(weight)) for weight in layer.trainable_weights)


def test_a_disa_block_of_300_units_has_451500():
    assert _parameters(DirectionalSelfAttention(), 300) == 451_500


def test_source2token_of_600_units_has_721200():
    assert _parameters(Source2Token(), 600) == 721_200


def test_token2token_of_300_units_in_its_general_form_has_270600():
    assert _parameters(Token2Token(), 300) == 3 * 300 * 300 + 2 * 300 == 270_600


def test_the_encoder_has_two_blocks_and_source2token():
    assert _parameters(DiSAN(), 300) == 2 * 451_500 + 721_200 == 1_624_200


@pytest.mark.parametrize("name, variant", COUNTS)
def test_a_config_has_its_parameters(name, variant):
    config = load_config(name, variant)
    classes = config.data.get("classes") or CLASSES[config.data.corpus]
    bilm = BILMS.get(variant, {**SMALL, "units": 512})
    parts = [config[part].to_json(sort_keys=True) for part in ("embedding", "encoder", "task")]
    key = json.dumps([parts, classes, bilm])
    if key not in _COUNTED:  # many configs have the same model
        _COUNTED[key] = count_parameters(build_model(config, (10, 3), classes, bilm=bilm))
    assert _COUNTED[key] == COUNTS[name, variant]


def test_every_config_and_variant_has_an_entry():
    assert {
        (name, variant)
        for name in config_names()
        for variant in variants(name)
        if not variant.startswith("recorded")  # see tests/configs/test_recorded.py
    } == {(name, variant) for name, variant in COUNTS if "," not in variant}
