"""What an export's metadata say about its difference to `predict` on the development set."""

import json

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.serving.export import comparison
from disan_tf.serving.export.comparison import compare_with_predict, describe_comparison
from disan_tf.serving.export.saved_model import METADATA, export_saved_model
from tests.support.models.bundles import PAIRS, SENTENCES, split_of


def _probabilities(bundle, ids):
    return tf.nn.softmax(bundle.model(ids)).numpy()


def _run(bundle, change=lambda probabilities: probabilities):
    """A model that was written with other probabilities."""
    return lambda arrays: {"probabilities": change(_probabilities(bundle, arrays["ids"]))}


def test_a_model_that_predicts_the_same_does_not_differ(quick_bundle):
    dev = split_of(quick_bundle, SENTENCES)
    compared = compare_with_predict(quick_bundle, _run(quick_bundle), dev)["compared_with_predict"]
    assert compared.pop("largest_difference") < 1e-6
    assert compared == {"split": "dev", "examples": len(SENTENCES), "different_labels": 0}


def test_other_labels_are_counted_and_the_largest_difference_is_found(quick_bundle):
    def reverse(probabilities):
        return probabilities[:, ::-1]

    dev = split_of(quick_bundle, SENTENCES)
    compared = compare_with_predict(quick_bundle, _run(quick_bundle, reverse), dev)
    found = _probabilities(quick_bundle, quick_bundle.text_to_ids()(SENTENCES))
    assert compared["compared_with_predict"] == {
        "split": "dev",
        "examples": len(SENTENCES),
        "largest_difference": pytest.approx(np.abs(found - found[:, ::-1]).max(), abs=1e-6),
        "different_labels": int(np.sum(found.argmax(axis=1) != 2)),  # of five, the middle stays
    }


def test_scores_have_a_difference_and_no_labels(sick_bundle):
    dev = split_of(sick_bundle, *zip(*PAIRS))

    def run(arrays):
        ids = arrays["sentence_a_ids"], arrays["sentence_b_ids"]
        return {"score": sick_bundle.model.predictions(sick_bundle.model(*ids)).numpy() + 0.25}

    compared = compare_with_predict(sick_bundle, run, dev)["compared_with_predict"]
    assert compared.pop("largest_difference") == pytest.approx(0.25, abs=1e-5)
    assert compared == {"split": "dev", "examples": len(PAIRS)}


def test_a_large_development_set_is_compared_in_part(quick_bundle, monkeypatch):
    monkeypatch.setattr(comparison, "MAX_EXAMPLES", 3)
    dev = split_of(quick_bundle, SENTENCES)
    compared = compare_with_predict(quick_bundle, _run(quick_bundle), dev)
    assert compared["compared_with_predict"]["examples"] == 3


def test_without_a_development_set_nothing_is_claimed(quick_bundle, tmp_path):
    assert compare_with_predict(quick_bundle, _run(quick_bundle), None) == {}
    assert describe_comparison(tmp_path) == ""
    (tmp_path / "metadata.json").write_text("{}")
    assert describe_comparison(tmp_path).startswith("not compared with predict")


@pytest.mark.parametrize("max_tokens", [None, 2])
def test_both_saved_models_state_the_difference(max_tokens, quick_bundle, tmp_path):
    dev = split_of(quick_bundle, SENTENCES)
    paths = export_saved_model(quick_bundle.directory, tmp_path, max_tokens, dev)
    assert [path.parent.name for path in paths] == ["saved_model", "saved_model_ids"]
    ids = quick_bundle.text_to_ids()(SENTENCES)
    whole, cut = (_probabilities(quick_bundle, tokens) for tokens in (ids, ids[:, :max_tokens]))
    for path in paths:
        metadata = json.loads((path / METADATA).read_text(encoding="utf-8"))
        assert metadata["compared_with_predict"] == {
            "split": "dev",
            "examples": len(SENTENCES),
            "largest_difference": pytest.approx(np.abs(whole - cut).max(), abs=1e-5),
            "different_labels": int(np.sum(whole.argmax(axis=1) != cut.argmax(axis=1))),
        }
        assert describe_comparison(path).startswith("compared with predict on 7 examples of the")


def test_an_output_that_is_no_number_is_the_largest_difference(quick_bundle):
    def spoil(probabilities):
        return np.where(np.arange(len(probabilities))[:, None] == 0, np.nan, probabilities)

    dev = split_of(quick_bundle, SENTENCES)
    compared = compare_with_predict(quick_bundle, _run(quick_bundle, spoil), dev)
    assert np.isnan(compared["compared_with_predict"]["largest_difference"])
