"""Exact parameter counts, without embeddings. A config that is missing here fails."""

import json
from unittest import mock

import pytest
import tensorflow as tf

from disan_tf.layers import Token2Token
from disan_tf.models import factory
from disan_tf.models.factory import build_model, count_parameters
from tests.support.runs.training import config_names, load_config, variants

# A line has a variant and its parameters in each of the configs above it, "-" = it has none. The
# reference notes have those of SNLI, of SICK's default, and 1,806,000 for the authors' SST model.
# ReSAN's paper rounds its numbers. DSA's 2.1m, 7.0m and 2.4m are those of `paper_count`. DRCN:
# 9,165 features of a pair, 1,000 units twice and 3 classes make 10,174,003 of each. ELMo-DiSAN:
# two blocks of 4,166,100 (1,024 numbers in, 900 units), source2token on 1,800 of 6,483,600, a head
# of 1,625,405, and the 4 of the scalar mix; the biLM has 93,600,848, and a softmax over 16 words.
TABLES = """
config                         disan_snli disan_multinli disan_cr disan_mpqa disan_subj
default                           2345403        2345403  1805102    1805102    1805102
additive                           451803         451803   181502     181502     181502
source2token                       541803         541803   271502     271502     271502
multi_head                        1982403        1982403  1442102    1442102    1442102
bi_lstm                           2884803        2884803  2344502    2344502    2344502
without_directions                2345403        2345403  1805102    1805102    1805102
glove_100d                        2225403        2225403  1685102    1685102    1685102
official                          2345403        2345403        -          -          -
tiny                                 6947           6947     5394       5394       5394
elmo                              2779807              -        -          -          -
glove_100d_padded                 2345403              -        -          -          -
additive,glove_100d_padded         451803              -        -          -          -
source2token,glove_100d_padded     541803              -        -          -          -

config             disan_sst disan_sick disan_trec own_table     demo
default              1806005    1986005    1806306   1686005    83010
additive              182405     272405     182706     62405        -
source2token          272405     362405     272706     52005        -
multi_head           1443005    1623005    1443306   1083005        -
bi_lstm              2345405    2525405    2345706   1865405        -
without_directions   1806005    1986005    1806306   1686005        -
glove_100d           1686005    1866005    1686306   1686005        -
official             1806000    1986005          -         -        -
tiny                    5445       5957       5462      5445        -
elmo                       -    2420409    2240710         -        -
glove_100d_padded    1806005          -          -         -        -
binary               1805102          -          -         -        -
sentence             1806005          -          -         -        -
fine                       -          -    1819550         -        -
pairs                      -          -          -   2226005        -
scores                     -          -          -   1866005        -

config                        resan_snli resan_sick dsa_snli  dsa_sst
default                          3067205    2527207  1808553  1174655
without_unselected               3067205    2527207        -        -
without_dependency_restricted    2796604    2256606        -        -
without_hard_attention           2526003    1986005        -        -
without_soft_attention            993004     633006        -        -
without_attention                 541803     362405        -        -
iterative                        3970807    3430809        -        -
paper_reward                     3067205    2527207        -        -
bi_lstm                          2884803    2525405        -  1625405
bi_gru                           2524203    2164805        -        -
multi_window_cnn                 1441803    1082405        -        -
hierarchical_cnn                 3424203    3244805        -        -
multi_head                       1982403    1623005        -        -
disan                            2345403    1986005        -        -
official                         3067205    2527207        -        -
glove_100d                       2587205    2047207  1688553  1054655
tiny                                9093       7559     8547     7413
single                                 -          -  1808553  1174655
multiple                               -          -  6733581  2770127
self_attention                         -          -  2169753  1535855
paper_count                            -          -  2078553  1444655
multiple,paper_count                   -          -  7003581  3040127
self_attention,paper_count             -          -  2439753  1805855
bi_lstm_self_attention                 -          -        -  1986605
cnn_non_static                         -          -        -   452705
binary                                 -          -        -  1173752

config          drcn_snli elmo_disan_sst     bilm
default          11338915       16441209 93609056
B-Ca-Cs-D-M      12691017              -        -
B-Ca-Cs-D        12440717              -        -
B-Ca-Cs-M        12440717              -        -
B-Ca-D-M         12491017              -        -
B-Cs-D-M         12390717              -        -
Ca-Cs-D-M        12441015              -        -
Cs               11338915              -        -
over_functions   11840717              -        -
bi_lstm          20314115              -        -
bottleneck        4616948              -        -
hypothesis_only  11338915              -        -
glove_100d        8858915       16441209        -
tiny                10473          37705     7436
glove                   -        1806005        -
random                  -        1806005        -
small_bilm              -        1779609        -
both                    -        1959609        -
dropout_rate            -       16441209        -
cut_phrases             -       16441209        -
trainable_bilm          -       24844893        -
small                   -              -  1856864
"""


def _counts():
    """(config, variant) -> parameters; the default variant is ""."""
    counts = {}
    for table in TABLES.strip().split("\n\n"):
        (_, *configs), *rows = map(str.split, table.splitlines())
        for variant, *numbers in rows:
            assert len(numbers) == len(configs), variant
            for config, number in zip(configs, numbers):
                if number != "-":
                    counts[config, variant.replace("default", "")] = int(number)
    return counts


COUNTS = _counts()
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


_COUNTED, _LAYERS = {}, {}


def _shared(name, sections):
    """A function of the factory whose layer is made, and so built, once for the same sections."""
    parts = getattr(factory, name)

    def shared(*arguments):
        options, make = parts(*arguments)
        if (name, sections) not in _LAYERS:
            _LAYERS[name, sections] = make(**options)
        return {}, lambda: _LAYERS[name, sections]

    return shared


def _parameters(layer, dim):
    layer.build([None, None, dim])
    return sum(int(tf.size(weight)) for weight in layer.trainable_weights)


def test_token2token_of_300_units_in_its_general_form_has_270600():
    assert _parameters(Token2Token(), 300) == 3 * 300 * 300 + 2 * 300 == 270_600


@pytest.mark.parametrize("name, variant", COUNTS)
def test_a_config_has_its_parameters(name, variant):
    config = load_config(name, variant)
    classes = config.data.get("classes") or CLASSES[config.data.corpus]
    bilm = BILMS.get(variant, {**SMALL, "units": 512})
    parts = [config[part].to_json(sort_keys=True) for part in ("embedding", "encoder", "task")]
    key = json.dumps([parts, classes, bilm])
    if key not in _COUNTED:  # many configs have the same model, or all but its head
        names = {"embedding_parts": parts[:1], "encoder_parts": parts[:2]}
        shared = {name: _shared(name, json.dumps([it, bilm])) for name, it in names.items()}
        with mock.patch.multiple(factory, **shared):
            _COUNTED[key] = count_parameters(build_model(config, (10, 3), classes, bilm=bilm))
    assert _COUNTED[key] == COUNTS[name, variant]


def test_every_config_and_variant_has_an_entry():
    assert {
        (name, variant)
        for name in config_names()
        for variant in variants(name)
        if not variant.startswith("recorded")  # see tests/configs/test_recorded.py
    } == {(name, variant) for name, variant in COUNTS if "," not in variant}
