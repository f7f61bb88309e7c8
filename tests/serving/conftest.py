"""Models that are exported once for all tests of exports."""

import pytest

from disan_tf.serving.saved_model import export_saved_model
from disan_tf.training.bundle import load_bundle
from tests.support.tiny import make_bundle
from tests.support.tiny_pairs import NLI, RELATEDNESS, make_pair_bundle


@pytest.fixture(scope="session")
def bundle(tmp_path_factory):
    """A model of single sentences."""
    return load_bundle(make_bundle(tmp_path_factory.mktemp("tiny")))


@pytest.fixture(scope="session")
def export(bundle, tmp_path_factory):
    """(saved_model/, saved_model_ids/) of `bundle`, exported over an older export."""
    folder = tmp_path_factory.mktemp("export")
    (folder / "saved_model").mkdir()
    (folder / "saved_model" / "outdated").touch()
    return export_saved_model(bundle.directory, folder)


@pytest.fixture(scope="session", params=[NLI, RELATEDNESS])
def pair_bundle(request, tmp_path_factory):
    """A model of sentence pairs."""
    return make_pair_bundle(tmp_path_factory.mktemp("pairs"), request.param)


@pytest.fixture(scope="session")
def pair_export(pair_bundle, tmp_path_factory):
    """(saved_model/, saved_model_ids/) of `pair_bundle`."""
    return export_saved_model(pair_bundle.directory, tmp_path_factory.mktemp("pair_export"))
