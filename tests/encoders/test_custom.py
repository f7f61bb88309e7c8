"""The encoder of the README: trained, resumed, loaded and exported as ours are; and refusals."""

import json
import re
import shutil
import sys

import numpy as np
import pytest
import tensorflow as tf
from ml_collections import ConfigDict

from disan_tf.cli.loading import read_config
from disan_tf.common.errors import UserError
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.encoders import DiSAN, custom
from disan_tf.encoders.custom import allow_modules, import_encoder
from disan_tf.runs.bundle import load_bundle
from disan_tf.serving.export.saved_model import export_saved_model
from disan_tf.serving.inference.model import load
from tests.support.runs.training import ROOT, check_same, corpus_of, run_and_copy, run_loop
from tests.support.runs.training import tiny_config as any_config

README = ROOT / "disan_tf/encoders/README.md"
STEPS = {"steps": 12, "evaluate_every": 4, "log_every": 2}


@pytest.fixture(scope="module", autouse=True)
def module(tmp_path_factory):
    """The README's first block of Python, as a module that can be imported."""
    folder = tmp_path_factory.mktemp("own")
    code, _ = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.S)
    (folder / "my_encoders.py").write_text(code, encoding="utf-8")
    sys.path.insert(0, str(folder))
    allow_modules(["my_encoders"])
    yield folder
    sys.path.remove(str(folder))


def _config(**encoder):
    config = any_config(**STEPS)
    options = {"name": "my_encoders:MeanAndMaximum", "units": 6, "activation": "relu"}
    config.encoder = ConfigDict({**options, **encoder})
    return config


@pytest.fixture(scope="module")
def both(module):
    """A training that was not disturbed, and what a kill had left of it."""
    config = _config()
    corpus = corpus_of(config, module / "corpus")

    def train(workdir, callbacks=()):
        return run_loop(config, corpus, workdir, callbacks)

    return train, *run_and_copy(train, module / "runs", 7)


def test_it_is_checked_as_ours_are():
    read_config(_config())
    with pytest.raises(UserError, match="--config.encoder.units='six' must be a whole number"):
        read_config(_config(units="six"))
    with pytest.raises(UserError, match="--config.encoder.unit=3 is not an option .*mean units"):
        read_config(_config(unit=3))


@pytest.mark.slow
def test_a_killed_training_resumes_bit_for_bit(both):
    train, whole, killed = both
    check_same(train(killed), whole)


def test_padding_and_sentences_without_tokens(both):
    encoder = both[1].model.encoder
    x = tf.random.stateless_normal([2, 3, 16], [1, 2])
    mask = tf.constant([[True, True, False], [False] * 3])
    expected = encoder(x, mask=mask)
    garbage = tf.where(mask[:, :, None], x, 1e3)
    np.testing.assert_array_equal(encoder(garbage, mask=mask), expected)
    np.testing.assert_array_equal(expected[1], np.zeros(12))


@pytest.mark.slow
def test_an_export_answers_as_the_best_model(both, tmp_path):
    bundle = load_bundle(both[1].work.path / "best")
    assert type(bundle.model.encoder).__name__ == "MeanAndMaximum"
    path, _ = export_saved_model(bundle.directory, tmp_path)
    texts = tf.constant(["the film is good .", ""])
    found = tf.saved_model.load(str(path)).signatures["serving_default"](text=texts)
    expected = tf.nn.softmax(bundle.model(bundle.text_to_ids()(texts)))
    np.testing.assert_allclose(found["probabilities"], expected, atol=1e-6)


@pytest.fixture
def not_imported(both, monkeypatch):
    """The trained model, in a process that has not imported the module of its encoder."""
    monkeypatch.delitem(sys.modules, "my_encoders")
    return both[1].work.path


def test_a_model_does_not_import_its_module(not_imported):
    sentence = "best/model.json: encoder.name=my_encoders:.* give --allow_module=my_encoders, or"
    with pytest.raises(UserError, match=sentence):
        load_bundle(not_imported / "best")
    assert "my_encoders" not in sys.modules


def test_a_model_loads_once_its_module_is_allowed(not_imported):
    allow_modules(["my_encoders"])
    assert type(load_bundle(not_imported / "best").model.encoder).__module__ == "my_encoders"


def test_a_model_loads_with_the_class_of_its_encoder(not_imported, both, monkeypatch):
    monkeypatch.setattr(custom, "_given", {})
    kind = type(both[1].model.encoder)
    model = load(not_imported, encoder=kind)
    assert model.encode(["the film is good ."]).shape == (1, 12)
    assert "my_encoders" not in sys.modules


@pytest.mark.parametrize("kind, words", [(DiSAN, "is not the class DiSAN"), (int, "must name a s")])
def test_another_class_than_that_of_the_encoder_is_refused(kind, words, not_imported):
    with pytest.raises(UserError, match=f"model.json: encoder.name=my_encoders:.* {words}"):
        load(not_imported, encoder=kind)


def test_a_module_that_cannot_be_imported_is_one_sentence():
    with pytest.raises(UserError, match="--allow_module=no_such_module must name a module .*PYTHO"):
        allow_modules(["no_such_module"])


@pytest.mark.parametrize(
    "name", ["evil:X", "model.evil:X", "antigravity:X", "..x:y", "nope", "a\0b:X"]
)
def test_a_forged_model_runs_no_code(name, tmp_path, monkeypatch):
    """As of somebody who loads a stranger's folder from the folder above it."""
    shutil.copytree(CHECKPOINTS / "demo", tmp_path / "model")
    for folder in (tmp_path, tmp_path / "model"):
        (folder / "evil.py").write_text("import pathlib; pathlib.Path('ran').touch()")
    path = tmp_path / "model" / "model.json"
    info = json.loads(path.read_text())
    info["config"]["encoder"]["name"] = name
    path.write_text(json.dumps(info))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = {*sys.modules}
    with pytest.raises(UserError, match="model.json: encoder.name="):
        load("model")
    assert not (tmp_path / "ran").exists() and {*sys.modules} == before


@pytest.mark.parametrize(
    "name, words",
    [
        ("no_such_module:Encoder", "must name a module that Python can import .*PYTHONPATH"),
        ("my_encoders:Other", "must name a subclass of .*SentenceEncoder; my_encoders has no Oth"),
        ("my_encoders:tf", "must name .*; my_encoders has no class but another object named tf"),
        (":MyEncoder", "must name a module"),
    ],
)
def test_what_is_no_encoder_is_refused(name, words):
    with pytest.raises(ValueError, match=f"name={name} {words}"):
        import_encoder(name)
    with pytest.raises(UserError, match=f"--config.encoder.name={name} "):
        read_config(_config(name=name))


def test_an_encoder_of_pairs_does_not_fit_one_sentence():
    config = _config(name="disan_tf.encoders:DRCN")
    with pytest.raises(UserError, match="must be a SentenceEncoder, which the task classification"):
        read_config(config)
