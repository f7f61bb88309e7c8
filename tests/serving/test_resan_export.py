"""An exported model with hard attention chooses greedily and names what it chose."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.serving.export.saved_model import export_saved_model
from tests.support.models.bundles import PAIRS, make_pair_bundle

pytestmark = pytest.mark.slow  # other exports are made in each run

TEXTS = dict(zip(("premise", "hypothesis"), map(tf.constant, zip(*PAIRS))))


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return make_pair_bundle(tmp_path_factory.mktemp("resan"), "resan_snli")


@pytest.fixture(scope="module")
def signatures(bundle, tmp_path_factory):
    path, _ = export_saved_model(bundle.directory, tmp_path_factory.mktemp("resan_export"))
    return tf.saved_model.load(str(path)).signatures


def _ids(bundle):
    return [bundle.text_to_ids()(texts) for texts in TEXTS.values()]


def test_it_answers_as_the_model_does_with_greedy_selections(bundle, signatures):
    ids = _ids(bundle)
    greedy = bundle.model(*ids, selections=bundle.model.select(*ids, how="greedy"))
    for _ in range(2):
        found = signatures["serving_default"](**TEXTS)["probabilities"]
        np.testing.assert_allclose(found, tf.nn.softmax(greedy), atol=1e-6)


def test_attend_names_selected_heads_and_dependents(bundle, signatures):
    found = signatures["attend"](**TEXTS)
    selections = bundle.model.select(*_ids(bundle), how="greedy")
    for field, chosen in zip(TEXTS, selections):
        for kind, expected in (("heads", chosen.heads[0]), ("dependents", chosen.dependents[0])):
            np.testing.assert_array_equal(found[f"{field}_selected_{kind}"], expected)
            assert np.count_nonzero(expected) > 0
