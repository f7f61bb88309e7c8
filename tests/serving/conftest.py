"""Models that are made, loaded, compiled and exported once for all tests of this folder."""

import functools
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import disan_tf
from disan_tf.common.process import locked
from disan_tf.runs.bundle import Bundle, load_bundle
from disan_tf.serving.export.saved_model import export_saved_model, newest_version
from disan_tf.serving.inference import attend, encode, model, predict
from tests.support.models.bundles import (
    NLI,
    RELATEDNESS,
    SENTENCES,
    make_bundle,
    make_pair_bundle,
)
from tests.support.models.films import LABELS, TEXTS

_ENCODERS = {
    NLI: {"name": "source2token", "activation": "elu"},
    RELATEDNESS: {"name": "additive", "units": 4},
}
_STEPS = {  # function that compiles a step -> the modules that call it
    "make_prediction_step": (predict, attend, model),
    "make_encoding_step": (encode, model),
    "make_attention_step": (attend, model),
}


def _once(function):
    """Remembers the result for each argument, which stays alive, and must not change."""
    made = {}

    def call(argument):
        if id(argument) not in made:
            made[id(argument)] = argument, function(argument)
        return made[id(argument)][1]

    return call


@pytest.fixture(scope="session", autouse=True)
def compile_once():
    """Lets all calls on one bundle share its compiled functions, which take seconds to trace."""
    with pytest.MonkeyPatch.context() as patch:
        traced = _once(Bundle.traced_text_to_ids)
        patch.setattr(Bundle, "traced_text_to_ids", lambda bundle: traced(bundle))
        for name, modules in _STEPS.items():
            step = _once(getattr(modules[0], name))
            for module in modules:
                patch.setattr(module, name, step)
        yield


@pytest.fixture
def eagerly():
    """Runs `tf.function`s eagerly, for models that predict once."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@pytest.fixture(scope="session")
def loaded():
    """`disan_tf.load` of a released model, which is loaded once."""
    return functools.cache(disan_tf.load)


@pytest.fixture(scope="session")
def make_once(tmp_path_factory):
    """Function (name, make) -> a folder that `make(folder)` filled, in the first process."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent  # of the folders of all workers

    def make_once(name: str, make) -> Path:
        folder, mark = root / f"once-{name}", root / f"once-{name}.made"
        with locked(root / f"once-{name}.lock"):
            if not mark.exists():
                shutil.rmtree(folder, ignore_errors=True)  # of one in which `make` failed
                make(folder)
                mark.touch()
        return folder

    return make_once


@pytest.fixture(scope="session")
def texts(tmp_path_factory):
    """A file of `SENTENCES`."""
    path = tmp_path_factory.mktemp("texts") / "texts.txt"
    path.write_text("".join(f"{text}\n" for text in SENTENCES), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def bundle(make_once):
    """A model of single sentences."""
    return load_bundle(make_once("tiny", make_bundle) / "bundle")


@pytest.fixture(scope="session")
def quick_bundle(make_once):
    """A model of single sentences, with an encoder that is traced in a short time."""
    make = functools.partial(make_bundle, encoder=_ENCODERS[NLI])
    return load_bundle(make_once("quick", make) / "bundle")


@pytest.fixture(scope="session")
def shared_classifier(quick_bundle):
    """A `TextClassifier` that has learnt to tell `TEXTS` apart."""
    tf.keras.utils.set_random_seed(1)
    made = disan_tf.TextClassifier.from_preset(quick_bundle.directory, classes=("bad", "good"))
    made.compile(tf.keras.optimizers.Adam(0.02))
    made.fit(TEXTS, LABELS, epochs=40, verbose=0)
    return made


@pytest.fixture
def classifier(shared_classifier):
    """`shared_classifier`; a test that changes it, and not a copy, fails."""
    before = [shared_classifier.optimizer.iterations.numpy(), *shared_classifier.get_weights()]
    yield shared_classifier
    after = [shared_classifier.optimizer.iterations.numpy(), *shared_classifier.get_weights()]
    assert all(map(np.array_equal, before, after)), "the test changed the shared classifier"


@pytest.fixture(scope="session")
def mixed_bundle(make_once):
    """A model of single sentences that computes in bfloat16."""
    make = functools.partial(make_bundle, dtype="mixed_bfloat16")
    return load_bundle(make_once("mixed", make) / "bundle", dtype="mixed_bfloat16")


@pytest.fixture(scope="session")
def export(bundle, make_once):
    """Both SavedModels of `bundle`, exported over an older export."""

    def make(folder):
        (folder / "saved_model" / "6").mkdir(parents=True)
        (folder / "saved_model" / "6" / "outdated").touch()
        export_saved_model(bundle.directory, folder)

    return _paths(make_once("export", make))


@pytest.fixture(scope="session")
def nli_bundle(make_once):
    """A model of premises and hypotheses, with an encoder that is traced in a short time."""
    return _make_pair_bundle(make_once, NLI)


@pytest.fixture(scope="session")
def sick_bundle(make_once):
    """A model of relatedness, with an encoder that is traced in a short time."""
    return _make_pair_bundle(make_once, RELATEDNESS)


@pytest.fixture(
    scope="session", params=["nli_bundle", pytest.param("sick_bundle", marks=pytest.mark.slow)]
)
def pair_bundle(request):
    """A model of sentence pairs. Relatedness is symmetric in its sentences."""
    return request.getfixturevalue(request.param)


def _make_pair_bundle(make_once, name):
    make = functools.partial(make_pair_bundle, config_name=name, encoder=_ENCODERS[name])
    return load_bundle(make_once(name, make) / "bundle")


@pytest.fixture(scope="session")
def pair_export(pair_bundle, make_once):
    """Both SavedModels of `pair_bundle`."""
    name = f"{pair_bundle.config.name}-export"
    return _paths(make_once(name, lambda path: export_saved_model(pair_bundle.directory, path)))


@pytest.fixture(scope="module")
def text_answers(answers):
    """What the model of text said to the questions of a module's `answers`."""
    return answers[0]


@pytest.fixture(scope="module")
def ids_answers(answers):
    """What the model of ids said."""
    return answers[1]


def _paths(folder):
    return newest_version(folder / "saved_model"), newest_version(folder / "saved_model_ids")
