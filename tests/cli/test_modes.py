"""disan_tf/cli/modes.py: what a mode refuses before it prepares, trains or measures anything."""

import json
import sys

import numpy as np
import pytest

from data_prep.synthetic.treebank import write_treebank
from disan_tf.cli import loading, modes
from disan_tf.common.errors import UserError
from disan_tf.models.factory import build_model
from disan_tf.runs.bundle import save_bundle
from disan_tf.runs.work_directory import WorkDirectory
from disan_tf.training import series
from tests.support.errors import user_error
from tests.support.runs.finished import write_series
from tests.support.runs.training import corpus_of, load_config


@pytest.fixture
def folders(tmp_path):
    """The folders of a mode's flags; only that of the data exists."""
    write_treebank(tmp_path / "data", 0, {"train": 60, "dev": 40, "test": 40})
    return {"data_dir": tmp_path / "data", "prepared_dir": tmp_path / "run" / "prepared"}


def call(mode, config, folders, tmp_path):
    calls = {
        "prepare": lambda: modes.prepare(config, **folders),
        "train": lambda: modes.train(config, tmp_path / "run", **folders),
        "series": lambda: modes.train(config, tmp_path / "run", **folders, seeds=("1", "2")),
        "benchmark": lambda: modes.benchmark(config, ["step"], 1, tmp_path / "run" / "x.json"),
    }
    message = user_error(calls[mode])
    assert not (tmp_path / "run").exists()
    return message


def tiny(**values):
    config = load_config("disan_sst", "tiny")
    config.update_from_flattened_dict({name.replace("__", "."): it for name, it in values.items()})
    return config


def test_an_export_finds_the_development_set_that_its_training_prepared(tmp_path, capsys):
    config = tiny()
    corpus = corpus_of(config, tmp_path)
    model = build_model(config, corpus.words, len(corpus.classes))
    save_bundle(tmp_path / "best", model, config, corpus, {"step": 1, "dev_accuracy": 0.5})
    dev = loading.find_dev(tmp_path / "best", tmp_path / "prepared")
    np.testing.assert_array_equal(dev.example_ids, corpus.split("dev").example_ids)
    assert len(dev) == 40
    assert loading.find_dev(tmp_path / "best", None) is None
    assert loading.find_dev(tmp_path / "best", tmp_path / "elsewhere") is None
    (tmp_path / "best" / "vocabulary.txt").write_text("other\nwords\n")
    assert loading.find_dev(tmp_path / "best", tmp_path / "prepared") is None
    assert capsys.readouterr().err == ""
    (corpus.directory / "vocabulary.txt").write_text("other\nwords\n")
    assert loading.find_dev(tmp_path / "best", tmp_path / "prepared") is None
    assert f"{corpus.directory / 'vocabulary.txt'} " in capsys.readouterr().err


@pytest.mark.parametrize("mode", ["prepare", "train", "series", "benchmark"])
def test_a_wrong_value_is_refused_before_anything_is_written(mode, folders, tmp_path):
    name, value = ("train.dropout", 1.0) if mode == "train" else ("data.level", "word")
    message = call(mode, tiny(**{name: value}), folders, tmp_path)
    assert message.startswith(f"--config.{name}={value} must be ")


def test_a_config_file_may_lack_sections(folders, tmp_path):
    config = tiny()
    del config.data
    message = call("prepare", config, folders, tmp_path)
    assert message == "--config.data is missing; a config needs it."


def test_the_options_of_a_bilm_are_read_before_the_corpus(folders, tmp_path):
    config = load_config("elmo_disan_sst", "tiny")
    (folders["data_dir"] / "elmo").mkdir()
    (folders["data_dir"] / "elmo" / "tiny_weights.hdf5").write_bytes(b"")
    options = {"char_cnn": {"max_characters_per_token": 50}}
    (folders["data_dir"] / "elmo" / "tiny_options.json").write_text(json.dumps(options))
    (folders["data_dir"] / "sst" / "trees" / "train.txt").write_text("no tree\n")
    assert "tiny_options.json has no lstm.projection_dim" in call(
        "prepare", config, folders, tmp_path
    )


def test_an_unknown_split_is_refused_before_anything_is_prepared(folders, tmp_path):
    with pytest.raises(UserError, match="^--split=tset must be train, dev or test; did you mean t"):
        modes.evaluate("demo", "tset", **folders, output=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_series_is_evaluated_in_its_own_folder_alone(folders, tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(series, "evaluate_series", lambda *of: calls.append(of[:2]))
    workdir = write_series(tmp_path / "run", tiny().to_dict())
    modes.evaluate(str(workdir), "test", **folders, workdir=str(workdir))
    assert calls == [(str(workdir), "test")]
    with pytest.raises(UserError, match="is a series of trainings; name the folder of one"):
        modes.evaluate(str(workdir), "test", **folders, output=tmp_path / "scores")
    assert len(calls) == 1 and not (tmp_path / "scores").exists()


def test_a_series_has_no_baseline(folders, tmp_path):
    workdir = write_series(tmp_path / "run", tiny().to_dict())
    options = {**folders, "workdir": str(workdir), "baseline": True}
    message = user_error(modes.evaluate, str(workdir), "test", **options)
    assert message.startswith(f"{workdir} is a series of trainings, for which no baselines are ")


def test_a_work_directory_gets_no_scores_of_another_model(folders, tmp_path):
    message = user_error(modes.evaluate, "demo", "test", **folders, workdir=tmp_path / "run")
    assert (
        f"demo is not the model of --workdir={tmp_path}/run; name a folder for the scores"
        in message
    )
    assert not (tmp_path / "run").exists()


def test_a_work_directory_of_another_config_is_refused_before_anything_is_prepared(
    folders, tmp_path
):
    WorkDirectory(tmp_path / "run", tiny()).claim()
    with pytest.raises(UserError, match=r"train.l2 \(0.0001 there, 0.5 here\)"):
        modes.train(tiny(train__l2=0.5), tmp_path / "run", **folders)
    assert not folders["prepared_dir"].exists()


def test_a_server_names_what_it_lacks(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "disan_tf.serving.server.process", raising=False)
    monkeypatch.delattr("disan_tf.serving.server.process", raising=False)
    message = r"--mode=serve needs FastAPI, uvicorn.*pip install 'disan_tf\[serve\]', or"
    with pytest.raises(UserError, match=message):
        modes.serve("demo")


@pytest.mark.parametrize(
    "mode, arguments",
    [("predict", {"input": "-"}), ("encode", {"input": "-", "output": "x.npy"}), ("serve", {})],
)
def test_a_model_is_loaded_in_the_dtype_of_the_flag(mode, arguments, monkeypatch):
    def load(checkpoint, dtype):
        raise UserError(f"{checkpoint} in {dtype}")

    monkeypatch.setattr("disan_tf.serving.inference.model.load_reader", load)
    with pytest.raises(UserError, match="^demo in mixed_bfloat16$"):
        getattr(modes, mode)("demo", dtype="mixed_bfloat16", **arguments)


@pytest.mark.parametrize(
    "run, version", [(None, None), ({}, 1), ({"tokenizer_version": 2}, 2)], ids=["new", "old", "2"]
)
def test_a_training_goes_on_with_the_tokenizer_that_it_began_with(
    run, version, folders, tmp_path, monkeypatch
):
    asked = []

    def prepare_corpus(data, data_dir, prepared_dir, version):
        asked.append(version)
        raise UserError("enough.")

    monkeypatch.setattr(modes.loading, "prepare_corpus", prepare_corpus)
    if run is not None:
        known = {"versions": {}, "commit": None, "command": None, "parameters": 1, "inputs": {}}
        (tmp_path / "run").mkdir()
        content = {**known, "data": {"splits": {}}, **run}
        (tmp_path / "run" / "run.json").write_text(json.dumps(content))
    assert user_error(modes.train, tiny(), tmp_path / "run", **folders) == "enough."
    assert asked == [version]
