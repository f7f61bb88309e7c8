"""Trainings of every kind of embedding that begin with a trained model; averages; mixed series."""

import json

import numpy as np
import pytest

from data_prep.prepare import prepare
from disan_tf.common.errors import UserError
from disan_tf.common.files import sha256
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.runs.bundle import load_bundle, save_bundle
from disan_tf.training.initial_model import InitialModel
from tests.support.corpora.elmo import elmo_config, elmo_corpus
from tests.support.corpora.pairs import make_feature_corpus
from tests.support.runs.training import corpus_of, make_loop, tiny_config, with_few_operations


def _random_model(trainer, folder) -> InitialModel:
    """A saved model of random weights, whose head and embedding are a trainer's."""
    generator = np.random.default_rng(5)
    embedding = trainer.model.embedding
    bilm = getattr(embedding, "bilm", None)
    fixed = {id(weight) for weight in (bilm.weights if bilm and not bilm.trainable else ())}
    for weight in trainer.model.weights:
        if weight.dtype.is_floating and id(weight) not in fixed:
            weight.assign(generator.normal(size=weight.shape))
    save_bundle(folder, trainer.model, trainer.config, trainer.corpus, {"step": 1})
    return InitialModel("earlier", lambda: load_bundle(folder))


def _begin(config, corpus, folder) -> tuple:
    """A trainer that begins with a random model of the same config, and that model."""
    initial = _random_model(make_loop(config, corpus, folder / "one"), folder / "model")
    loop = make_loop(config, corpus, folder / "other", initial=initial)
    loop.start = initial.record
    return loop, initial.bundle.model


def _check_equal(trainer, source) -> None:
    pairs = [
        (weight, other)
        for weight, other in zip(trainer.model.weights, source.weights)
        if weight.dtype.is_floating
    ]
    assert pairs and trainer.start["head"]
    for weight, expected in pairs:
        np.testing.assert_array_equal(weight, expected, weight.name)


def test_characters_and_both_tables_of_words_are_taken(tmp_path):
    corpus = make_feature_corpus(tmp_path / "corpus", 8)
    config = with_few_operations(tiny_config(name="drcn_snli"))
    trainer, source = _begin(config, corpus, tmp_path)
    assert trainer.start["words_found"] == sum(corpus.words)
    _check_equal(trainer, source)
    with config.unlocked():
        config.embedding.character_units += 1
    with pytest.raises(UserError, match=r"earlier has embedding\.character_units=\d+, and the"):
        initial = InitialModel("earlier", lambda: load_bundle(tmp_path / "model"))
        initial.check_fits(config)


def test_a_language_model_takes_its_head_for_the_same_words(tmp_path):
    (tmp_path / "bilm_texts").mkdir()
    (tmp_path / "bilm_texts/shard.txt").write_text("the fox sleeps\na fox sees the dog\n" * 100)
    config = tiny_config(name="bilm")
    corpus = PreparedCorpus(prepare(config.data, tmp_path, tmp_path / "prepared"))
    trainer, source = _begin(config, corpus, tmp_path)
    assert trainer.start["words_found"] == 0  # it has no table of words
    _check_equal(trainer, source)


@pytest.fixture(scope="module")
def elmo(tmp_path_factory):
    """A corpus with a biLM, and a model that the biLM feeds."""
    folder, config = tmp_path_factory.mktemp("elmo"), with_few_operations(elmo_config())
    corpus = elmo_corpus(folder, config)
    return corpus, *_begin(config, corpus, folder)


def test_the_mix_of_a_bilm_is_taken(elmo):
    _, trainer, source = elmo
    _check_equal(trainer, source)


@pytest.mark.parametrize(
    "options, error",
    [
        ({"words": True}, r"embedding\.words=False, and the config has True"),
        ({"bilm": "elmo/other"}, "embedding.bilm=elmo/tiny, and the config has elmo/other"),
    ],
)
def test_another_use_of_a_bilm_is_named(elmo, tmp_path, options, error):
    corpus, trainer, source = elmo
    initial = InitialModel("earlier", lambda: load_bundle(corpus.directory.parents[1] / "model"))
    with pytest.raises(UserError, match=error):
        initial.check_fits(with_few_operations(elmo_config(elmo=options)))


def test_other_weights_of_a_fixed_bilm_are_refused(elmo, tmp_path):
    corpus, trainer, source = elmo
    source.embedding.bilm.forward[0].kernel.assign_add(
        np.ones_like(source.embedding.bilm.forward[0].kernel)
    )
    save_bundle(tmp_path / "model", source, trainer.config, corpus, {"step": 1})
    initial = InitialModel("earlier", lambda: load_bundle(tmp_path / "model"))
    with pytest.raises(UserError, match="reads another biLM than the files of --config.data.bilm"):
        make_loop(trainer.config.tree, corpus, tmp_path / "run", initial=initial)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return corpus_of(tiny_config(), tmp_path_factory.mktemp("corpus"))


def test_words_are_found_by_name_in_a_model_of_another_order(corpus, tmp_path):
    config = with_few_operations(tiny_config())
    _random_model(make_loop(config, corpus, tmp_path / "one"), tmp_path / "model")
    path, info_path = tmp_path / "model/vocabulary.txt", tmp_path / "model/model.json"
    words = path.read_text().splitlines()[::-1]  # the first rows are now the last words
    path.write_text("\n".join(words) + "\n")
    info = json.loads(info_path.read_text())
    info["sha256"]["vocabulary.txt"] = sha256(path)
    info_path.write_text(json.dumps(info))
    source = load_bundle(tmp_path / "model")
    initial = InitialModel("m", lambda: source)
    trainer = make_loop(config, corpus, tmp_path / "two", initial=initial)
    vectors, others = (
        np.concatenate([model.embedding.trained.numpy(), model.embedding.fixed.numpy()])
        for model in (trainer.model, source.model)
    )
    assert corpus.vocabulary == words[::-1] and initial.record["words_found"] == len(words)
    np.testing.assert_array_equal(vectors, others[::-1])
