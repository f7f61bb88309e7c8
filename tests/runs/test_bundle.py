"""Bundles of models that read word features, and of those that do not."""

import json
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.common import atomic
from disan_tf.common.errors import UserError
from disan_tf.common.files import sha256
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.input_pipeline.corpus_format import Keys
from disan_tf.models.factory import build_model
from disan_tf.runs.bundle import (
    FORMAT,
    Bundle,
    check_digests,
    load_bundle,
    read_info,
    save_bundle,
    write_bundle,
)
from disan_tf.text import TextToPairFeatures, WordForms
from disan_tf.text.word_forms import read_forms
from tests.support.corpora.pairs import FORMS, WORDS, make_feature_corpus, make_pair_corpus
from tests.support.models.bundles import make_bundle
from tests.support.runs.training import tiny_config

LENGTH = 4
_TOKENIZER = {"lowercase": True, "split_words": False, "empty_tokens": False}


class Plain(tf.keras.Model):
    """A model without weights."""

    embedding = SimpleNamespace(bilm_options=None)


def save(folder, name, corpus):
    config, model = tiny_config(name=name), Plain()
    config.data.word_length = LENGTH
    save_bundle(folder, model, config, corpus, {"step": 3})
    return Bundle(folder, config, read_info(folder), model)


@pytest.fixture
def corpus(tmp_path):
    return make_feature_corpus(tmp_path / "corpus")


def test_a_model_that_reads_features_gets_them_from_text(tmp_path, corpus):
    bundle = save(tmp_path / "best", "drcn_snli", corpus)
    assert read_forms(tmp_path / "best/forms.tsv") == list(FORMS)
    found, expected = (
        bundle.text_to_ids(),
        TextToPairFeatures(WORDS, "treebank", True, forms=WordForms(FORMS), word_length=LENGTH),
    )
    lines = tf.constant(["Dogs sing here."]), tf.constant(["No dog"])
    arrays = [text.inputs(*map(text.tokens, lines)) for text in (found, expected)]
    assert arrays[0][4].numpy().tolist() == [[1, 0, 0, 0]]
    assert arrays[0][2].shape == (1, 4, LENGTH)
    for one, other in zip(*arrays):
        np.testing.assert_array_equal(one, other)


def test_a_bundle_keeps_the_words_of_a_corpus_that_was_prepared_again_since(tmp_path, corpus):
    for name in ("vocabulary.txt", "forms.tsv"):
        (corpus.directory / name).write_text("other\tother\tother\n")
    bundle = save(tmp_path / "best", "drcn_snli", corpus)
    assert bundle.vocabulary == corpus.vocabulary == WORDS
    assert read_forms(tmp_path / "best/forms.tsv") == list(FORMS)


@pytest.mark.parametrize(
    "name, corpus_name, tokens",
    [
        ("whitespace", "snli", "A well-made one ."),
        ("whitespace", "table", "A well-made one."),  # of tokenised text by unknown rules
        ("kim", "snli", "A well made one"),
    ],
)
def test_raw_text_has_the_tokens_of_the_corpus(tmp_path, name, corpus_name, tokens):
    corpus = make_pair_corpus(tmp_path / "corpus")
    corpus.manifest[Keys.TOKENIZER]["name"] = name
    bundle = save(tmp_path / "best", "disan_snli", corpus)
    bundle.config.data.corpus = corpus_name
    row = bundle.text_to_ids().tokens(tf.constant(["A well-made one."])).to_list()[0]
    assert b" ".join(row).decode() == tokens


@pytest.mark.parametrize("version, word", [(None, b"su\xe2\x80\x8eperb"), (2, b"superb")])
def test_a_bundle_keeps_the_version_of_its_tokenizer(tmp_path, version, word):
    corpus = make_pair_corpus(tmp_path / "corpus")
    recorded = {"version": version} if version else {}  # the first classifiers recorded none
    corpus.manifest[Keys.TOKENIZER] = {**_TOKENIZER, **recorded}
    bundle = save(tmp_path / "best", "disan_snli", corpus)
    assert bundle.info["tokenizer"]["version"] == (version or 1)
    assert bundle.text_to_ids().tokens(tf.constant(["su\u200eperb"])).to_list() == [[word]]


@pytest.mark.parametrize("number", [None, 1, FORMAT + 1])
def test_a_bundle_of_another_format_is_refused(tmp_path, number):
    (tmp_path / "model.json").write_text(json.dumps({"format": number}))
    message = rf"model.json has format {number}, and this version .* reads format {FORMAT}: use"
    with pytest.raises(UserError, match=message):
        read_info(tmp_path)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"classes": ["good", "good"]}, "classes has a name twice"),
        (
            {"scores": {"step": 1, "temperature": float("nan")}},
            "scores.temperature is nan and mus",
        ),
        ({"scores": {"step": 1, "temperature": "x"}}, "scores.temperature must be a number"),
        ({"name": "a\0b"}, "name='a.x00b' may contain only ASCII"),
        ({"name": "a\nb"}, "name='a.nb' may contain only ASCII"),
        ({"tokenizer": {**_TOKENIZER, "name": "kin"}}, "There is no tokenizer 'kin'; choose one"),
        ({"tokenizer": {**_TOKENIZER, "version": 3}}, "The tokenizer treebank has no version 3, o"),
    ],
)
def test_what_contradicts_itself_is_refused(change, words, tmp_path, corpus):
    bundle = save(tmp_path / "best", "drcn_snli", corpus)
    path = bundle.directory / "model.json"
    path.write_text(json.dumps({**bundle.info, **change}))
    with pytest.raises(UserError, match=f"model.json: {words}"):
        read_info(bundle.directory)


def test_a_bundle_may_hold_a_removed_option_at_its_old_value_alone(tmp_path):
    shutil.copytree(CHECKPOINTS / "demo", tmp_path / "demo")
    path = tmp_path / "demo" / "model.json"
    info = json.loads(path.read_text())
    info["config"]["encoder"]["own_parameters"] = False
    path.write_text(json.dumps(info))
    assert "own_parameters" not in load_bundle(path.parent, has_weights=False).config.encoder
    info["config"]["encoder"]["own_parameters"] = True
    path.write_text(json.dumps(info))
    with pytest.raises(UserError, match="model.json: encoder.own_parameters=True is not supported"):
        load_bundle(path.parent)


def test_a_dtype_that_keras_does_not_know_is_refused(tmp_path, corpus):
    bundle = save(tmp_path / "best", "drcn_snli", corpus)
    path = bundle.directory / "model.json"
    config = {**bundle.info["config"], "dtype": "float23"}
    path.write_text(json.dumps({**bundle.info, "config": config}))
    with pytest.raises(UserError, match="model.json: config.dtype='float23' must be float32"):
        load_bundle(bundle.directory)


@pytest.mark.parametrize("name", ["__class__", "__init__", "a.b", "lock", "items", "", "a b"])
@pytest.mark.parametrize("place", [[], ["encoder"], ["evaluate", "splits", 0]])
def test_a_config_with_a_name_of_python_is_refused(name, place, tmp_path, corpus):
    bundle = save(tmp_path / "best", "drcn_snli", corpus)
    info = json.loads(json.dumps(bundle.info))
    info["config"]["evaluate"]["splits"] = [{}]
    section = info["config"]
    for part in place:
        section = section[part]
    section[name] = 1
    (bundle.directory / "model.json").write_text(json.dumps(info))
    with pytest.raises(UserError, match=rf"model.json: the config has the name '{name}'; restore"):
        load_bundle(bundle.directory)


@pytest.mark.parametrize("old, new", [("\n", " "), ("\n", "\nanother\n"), ("film\n", "the\n")])
def test_a_vocabulary_that_is_not_that_of_the_model_is_refused(old, new, tmp_path):
    shutil.copytree(CHECKPOINTS / "demo", tmp_path / "demo")
    path, vocabulary = tmp_path / "demo" / "model.json", tmp_path / "demo" / "vocabulary.txt"
    vocabulary.write_text(vocabulary.read_text().replace(old, new, 1))
    info = json.loads(path.read_text())
    info["sha256"]["vocabulary.txt"] = sha256(vocabulary)
    path.write_text(json.dumps(info))
    with pytest.raises(UserError, match="vocabulary.txt must have 65 different words, one a line"):
        load_bundle(tmp_path / "demo")


def test_a_file_that_was_exchanged_is_refused(tmp_path):
    shutil.copytree(CHECKPOINTS / "demo", tmp_path / "demo")
    vocabulary = tmp_path / "demo" / "vocabulary.txt"
    vocabulary.write_text(vocabulary.read_text().replace("film\n", "movie\n"))
    with pytest.raises(UserError, match="vocabulary.txt has SHA-256 .* is damaged or was changed"):
        load_bundle(tmp_path / "demo")


def test_a_bundle_that_a_training_replaces_while_it_is_loaded_is_read_again(tmp_path, monkeypatch):
    folder, newer = (make_bundle(tmp_path / str(seed), seed=seed) for seed in (1, 2))
    expected = read_info(newer)["weights"]

    def replace_and_build(*arguments):
        if newer.exists():
            shutil.rmtree(folder)
            newer.rename(folder)
        return build_model(*arguments)

    monkeypatch.setattr("disan_tf.runs.bundle.build_model", replace_and_build)
    assert load_bundle(folder).info["weights"] == expected


def test_a_save_that_fails_leaves_the_older_bundle_of_the_same_step(tmp_path, monkeypatch):
    def fail(path, sync=atomic._sync_one):
        if "model.json" in str(path):
            raise OSError
        sync(path)

    bundle = load_bundle(make_bundle(tmp_path))
    words = bundle.vocabulary
    copied = {"vocabulary.txt": "".join(f"{word}\n" for word in reversed(words)).encode()}
    old = bundle.model.weights[0].numpy()
    bundle.model.weights[0].assign(old + 1)
    with monkeypatch.context() as patch, pytest.raises(OSError):
        patch.setattr(atomic, "_sync_one", fail)
        write_bundle(bundle.directory, bundle.model, bundle.info, copied)
    np.testing.assert_array_equal(load_bundle(bundle.directory).model.weights[0], old)
    assert load_bundle(bundle.directory).vocabulary == words
    write_bundle(bundle.directory, bundle.model, bundle.info, copied)
    np.testing.assert_array_equal(load_bundle(bundle.directory).model.weights[0], old + 1)
    assert len([*bundle.directory.glob("*.weights.h5")]) == 1


def test_a_sentence_without_a_partner_matches_nothing(tmp_path, corpus):
    look_up = save(tmp_path / "best", "drcn_snli", corpus).text_to_ids()
    ids, characters, match = look_up.inputs(look_up.tokens(tf.constant(["Dogs sing here.", ""])))
    assert characters.shape == (*ids.shape, LENGTH) and not np.any(match)


def test_the_forms_have_a_digest(tmp_path, corpus):
    bundle = save(tmp_path / "best", "drcn_snli", corpus)
    check_digests(tmp_path / "best", bundle.info)
    (tmp_path / "best/forms.tsv").write_text("dogs\tdog\thound\n")
    with pytest.raises(UserError, match=r"forms\.tsv has SHA-256 .* damaged or was changed"):
        check_digests(tmp_path / "best", bundle.info)
