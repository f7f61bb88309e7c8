"""disan_tf/runs/recorded_config.py: older work directories resume under newer configs."""

import pytest
from ml_collections import ConfigDict

from configs.common import base_config
from disan_tf.common.atomic import write_json
from disan_tf.common.errors import UserError
from disan_tf.common.options import flatten
from disan_tf.runs.recorded_config import ADDED, FORMAT, REMOVED, read_config
from disan_tf.runs.work_directory import WorkDirectory

# The options of every config when work directories got format 2.
OF_FORMAT_2 = {
    "name", "seed", "dtype", "data.corpus", "data.tokenizer", "data.lowercase", "data.vectors",
    "data.fixed_words", "data.oov", "data.seed", "data.embedding_dim", "embedding.name",
    "embedding.dim", "embedding.trainable", "task.name", "task.head", "train.batch_size",
    "train.batch_tokens", "train.examples", "train.window", "train.moving_average", "train.steps",
    "train.evaluate_every", "train.patience", "train.checkpoint_every", "train.log_every",
    "train.distribution", "train.jit_compile", "evaluate.batch_size", "evaluate.splits",
    "encoder.name",
}  # fmt: skip


# New options that only some configs have.
OF_SOME = {
    "data.subset",
    "data.unescaped",
    "train.class_weights",
    "train.criterion",
    "task.calibrate",
    "train.epochs",
    "train.moving_average_warm_up",
}


def _config() -> ConfigDict:
    config = base_config("demo", corpus="sst", task="classification")
    config.encoder.name = "disan"
    return config


def test_an_option_that_is_new_has_a_value_for_older_work_directories():
    new = flatten(_config().to_dict()).keys() - OF_FORMAT_2
    assert new | OF_SOME == ADDED.keys()


@pytest.mark.parametrize("name", ADDED)
def test_a_directory_without_a_new_option_is_one_with_its_old_effect(name, tmp_path):
    config, (section, option) = _config(), name.split(".")
    recorded = config.to_dict()
    recorded[section].pop(option, None)
    write_json(tmp_path / "config.json", {"format": FORMAT, **recorded})
    config[section][option] = ADDED[name]
    WorkDirectory(tmp_path, config).check()
    config[section][option] = type(ADDED[name])(5)
    with pytest.raises(UserError, match=f"another config: {name} "):
        WorkDirectory(tmp_path, config).check()


@pytest.mark.parametrize("name, value", REMOVED.items())
def test_a_removed_option_may_have_its_old_value_alone(name, value, tmp_path):
    config, (section, option) = _config(), name.split(".")
    recorded = config.to_dict()
    recorded.setdefault(section, {})[option] = value
    write_json(tmp_path / "config.json", {"format": FORMAT, **recorded})
    assert option not in read_config(tmp_path)[section]
    recorded[section][option] = type(value)(5)
    write_json(tmp_path / "config.json", {"format": FORMAT, **recorded})
    with pytest.raises(UserError, match=f"config.json: {name}={type(value)(5)} is not supported"):
        read_config(tmp_path)
