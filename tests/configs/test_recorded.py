"""The variants `recorded` of configs train the results that the papers' rows name."""

import pytest

from data_prep.corpora import subsets
from data_prep.corpora.subsets import find_words, read_words
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.models.factory import build_model, count_parameters
from disan_tf.runs.recorded_config import ADDED
from disan_tf.study.papers import TABLES
from disan_tf.study.results import members_of, read_result
from tests.support.runs.training import load_config

RESULTS = CHECKPOINTS / "results"
CLASSES = {"snli": 3, "multinli": 3, "sick": 5, "cr": 2, "mpqa": 2, "subj": 2}
ROWS = {row.name: row for table in TABLES.values() for row in table.rows if row.recorded}
# Options that older results lack, with the values that they had.
LATER = {**ADDED, "train.distribution": "none"}
# Options that choose what our files had alone: name -> value and that of the recorded config.
PAIRS = {"data.subset": {("snli_94108", ""), ("multinli_46974", "")}}
WORDS = {
    "data.vector_words": {("glove_840B_4180", None)},
    "data.vectors": {("glove/glove.840B.300d*.txt", "glove/glove.840B.300d.subset.txt")},
}


def _flat(config, prefix=""):
    for key, value in config.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("name", ROWS)
def test_a_recorded_variant_has_the_config_of_the_recorded_result(name):
    row = ROWS[name]
    result = read_result(RESULTS / f"{row.recorded}.json")
    recorded = {**LATER, **dict(_flat(result["config"]))}
    ours = dict(_flat(load_config(*row.recorded_config.split(":")).to_dict()))
    most = max(member["steps"] for member in members_of(result))
    for key in {*ours, *recorded} - {"train.jit_compile"}:  # another device is no other experiment
        pair = ours.get(key, LATER.get(key)), recorded.get(key)
        if key == "train.steps" and ours.get("train.patience") and most < min(pair):
            continue  # patience ended all trainings before both limits
        assert pair[0] == pair[1] or pair in {**PAIRS, **WORDS}[key], key
    if subset := ours.get("data.subset"):
        pairs = subsets.read(subsets.find(CHECKPOINTS, subset)).pairs
        assert pairs == result["data"]["training_read"]


@pytest.mark.parametrize("name", sorted({name for name in ROWS if name.count("/") == 1}))
def test_a_recorded_variant_has_as_many_parameters(name):
    row = ROWS[name]
    config = load_config(*row.recorded_config.split(":"))
    classes = config.data.get("classes") or CLASSES[config.data.corpus]
    parameters = count_parameters(build_model(config, (10, 3), classes))
    assert parameters == read_result(RESULTS / f"{row.recorded}.json")["parameters"]


def test_the_list_of_words_has_what_its_name_says():
    words = read_words(find_words(CHECKPOINTS, "glove_840B_4180"))
    assert len(words) == 4180 and {"the", "soup"} < words
