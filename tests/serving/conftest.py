"""Models that are exported once for all tests of exports, whichever process runs them."""

import os
import shutil
from pathlib import Path

import pytest

from disan_tf.common.locks import locked
from disan_tf.runs.bundle import load_bundle
from disan_tf.serving.export.saved_model import export_saved_model, newest_version
from tests.support.models.bundles import NLI, RELATEDNESS, make_bundle, make_pair_bundle

_ENCODERS = {
    NLI: {"name": "source2token", "activation": "elu"},
    RELATEDNESS: {"name": "additive", "units": 4},
}


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
def bundle(make_once):
    """A model of single sentences."""
    return load_bundle(make_once("tiny", make_bundle) / "bundle")


@pytest.fixture(scope="session")
def export(bundle, make_once):
    """Both SavedModels of `bundle`, exported over an older export."""

    def make(folder):
        (folder / "saved_model" / "6").mkdir(parents=True)
        (folder / "saved_model" / "6" / "outdated").touch()
        export_saved_model(bundle.directory, folder)

    return _paths(make_once("export", make))


@pytest.fixture(scope="session", params=[pytest.param(NLI, marks=pytest.mark.slow), RELATEDNESS])
def pair_bundle(request, make_once):
    """A model of sentence pairs, with an encoder that is traced in a short time."""
    encoder = _ENCODERS[request.param]
    folder = make_once(
        request.param, lambda folder: make_pair_bundle(folder, request.param, encoder)
    )
    return load_bundle(folder / "bundle")


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
