"""disan_tf/cli/loading.py: functions of several modes."""

import types

import numpy as np
import pytest

from data_prep.prepare import prepare
from disan_tf.cli.loading import compare_with_baseline, prepare_corpus, wants_baseline
from disan_tf.input_pipeline import PreparedCorpus
from tests.support.errors import user_error
from tests.support.runs.training import load_config

STEMS = [f"{a}{b}" for a in "bdklmnprst" for b in ("amo", "ero", "ilo", "ubo")]


def test_the_baseline_reads_words_that_the_model_does_not_know(tmp_path):
    """The ending decides the class, and the words of dev and test are not in the training part."""
    for part, stems in {"train": STEMS[:20], "dev": STEMS[20:30], "test": STEMS[30:]}.items():
        rows = [f"{stem}{ending},{ending}" for stem in stems for ending in ("ist", "ung")]
        (tmp_path / f"{part}.csv").write_text("\n".join(["text,label", *rows]))
    config = load_config("own_table")
    config.data.update(train="train.csv", dev="dev.csv", test="test.csv", vectors="")
    corpus = PreparedCorpus(prepare(config.data, tmp_path, tmp_path / "prepared"))
    assert not np.any(corpus.split("test").ids["sentence"] > 1)
    info = {"tokenizer": {"version": corpus.manifest["tokenizer"]["version"]}}
    model = types.SimpleNamespace(criterion="accuracy")
    bundle = types.SimpleNamespace(config=config, model=model, info=info, classes=corpus.classes)
    labels = corpus.split("test").labels
    np.savez(tmp_path / "test.npz", predictions=np.zeros_like(labels))
    words, both = compare_with_baseline(bundle, corpus, tmp_path, tmp_path, "test")
    assert "accuracy 1.0000" in both and "accuracy 0.5000" in words


def test_a_fold_of_a_table_with_a_test_part_is_refused(tmp_path):
    config = load_config("own_table")
    config.data.update(train="train.csv", test="test.csv", fold=0, vectors="")
    message = user_error(prepare_corpus, config.data, tmp_path, tmp_path / "prepared")
    sentence = (
        "--config.data.fold=0 replaces the test part, so leave --config.data.test=test.csv out."
    )
    assert message == sentence


def _bundle(criterion="accuracy", corpus="table"):
    config = types.SimpleNamespace(data=types.SimpleNamespace(corpus=corpus))
    model = types.SimpleNamespace(criterion=criterion)
    return types.SimpleNamespace(config=config, model=model, info={"name": "mine"})


def test_own_tables_have_baselines_and_other_corpora_have_them_on_demand():
    assert wants_baseline(None, _bundle(), "test") and wants_baseline(None, _bundle(), "dev")
    assert not wants_baseline(None, _bundle(corpus="sst"), "test")
    assert wants_baseline(True, _bundle(corpus="sst"), "test")
    assert not wants_baseline(False, _bundle(), "test")


@pytest.mark.parametrize(
    "criterion, split", [("accuracy", "train"), ("pearson", "test"), ("log_likelihood", "test")]
)
def test_a_baseline_that_cannot_be_scored_is_refused_only_if_it_is_given(criterion, split):
    assert not wants_baseline(None, _bundle(criterion), split)
    assert not wants_baseline(False, _bundle(criterion), split)
    message = user_error(wants_baseline, True, _bundle(criterion), split)
    assert message.endswith(f"; leave --baseline out for mine on {split}.")
