"""Bundles of models that read word features, and of those that do not."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.errors import UserError
from disan_tf.files import read_json
from disan_tf.text import TextToIds, TextToPairFeatures, WordForms
from disan_tf.text.word_forms import read_forms
from disan_tf.training.bundle import Bundle, check_digests, save_bundle
from tests.support.pair_features import FORMS, make_feature_corpus
from tests.support.pairs import WORDS, make_pair_corpus
from tests.support.training_runs import tiny_config

LENGTH = 4


class Plain(tf.keras.Model):
    """A model without weights."""

    word_features = {}
    reads_bilm = False


class Reader(Plain):
    """One that reads word features."""

    word_features = {"characters": 3, "match": 2}


def save(folder, model, corpus):
    config = tiny_config(name="disan_snli")
    config.data.word_length = LENGTH
    save_bundle(folder, model, config, corpus, {"step": 3})
    return Bundle(folder, config, read_json(folder / "model.json", ""), model)


@pytest.fixture
def corpus(tmp_path):
    return make_feature_corpus(tmp_path / "corpus")


def test_a_model_that_reads_features_gets_them_from_text(tmp_path, corpus):
    bundle = save(tmp_path / "best", Reader(), corpus)
    assert read_forms(tmp_path / "best/forms.tsv") == list(FORMS)
    found, expected = bundle.text_to_ids(), TextToPairFeatures(
        WORDS, "treebank", True, forms=WordForms(FORMS), word_length=LENGTH
    )  # fmt: skip
    lines = tf.constant(["Dogs sing here."]), tf.constant(["No dog"])
    arrays = [text.inputs(*map(text.tokens, lines)) for text in (found, expected)]
    assert arrays[0][4].numpy().tolist() == [[1, 0, 0, 0]]
    assert arrays[0][2].shape == (1, 4, LENGTH)
    for one, other in zip(*arrays):
        np.testing.assert_array_equal(one, other)


def test_the_forms_have_a_digest(tmp_path, corpus):
    bundle = save(tmp_path / "best", Reader(), corpus)
    check_digests(tmp_path / "best", bundle.info)
    (tmp_path / "best/forms.tsv").write_text("dogs\tdog\thound\n")
    with pytest.raises(UserError, match=r"forms\.tsv has SHA-256 .* damaged or was changed"):
        check_digests(tmp_path / "best", bundle.info)


@pytest.mark.parametrize("make", [make_pair_corpus, make_feature_corpus])
def test_a_model_that_reads_ids_alone_gets_them_alone(tmp_path, make):
    bundle = save(tmp_path / "best", Plain(), make(tmp_path / "corpus"))
    assert not (tmp_path / "best/forms.tsv").exists()
    assert type(bundle.text_to_ids()) is TextToIds
    assert sorted(bundle.info["sha256"])[1:] == ["step-00000003.weights.h5", "vocabulary.txt"]
