"""ELMo-fed DiSAN on pairs and on questions: cached, live, resumed, exported."""

from functools import partial

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.runs.bundle import load_bundle
from disan_tf.serving.export.saved_model import export_saved_model
from tests.support.corpora.elmo import other_elmo_config, other_elmo_corpus
from tests.support.runs.training import (
    check_resumes,
    records_of,
    run_trainer,
    with_few_operations,
)

NAMES = (
    pytest.param("disan_snli", marks=pytest.mark.slow),
    pytest.param("disan_sick", marks=pytest.mark.slow),
    pytest.param("disan_trec", marks=pytest.mark.slow),
)
FIRST = ["The man isn't chasing the dog.", "", "Where is the oven?"]
SECOND = ["An unheard-of animal sleeps.", "When?", ""]


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def corpus(name, tmp_path_factory):
    return other_elmo_corpus(tmp_path_factory.mktemp("elmo"), other_elmo_config(name))


def _train(name, corpus, workdir, callbacks=(), **embedding):
    config = with_few_operations(other_elmo_config(name, **embedding))
    return run_trainer(config, corpus, workdir, callbacks)


@pytest.fixture(scope="module")
def unbroken(name, corpus, tmp_path_factory):
    return _train(name, corpus, tmp_path_factory.mktemp("unbroken"))


@pytest.fixture(scope="module")
def live(name, corpus, tmp_path_factory):
    return _train(name, corpus, tmp_path_factory.mktemp("live"), cached=False)


@pytest.mark.slow
def test_a_killed_training_resumes_bit_for_bit(name, corpus, tmp_path):
    train = partial(_train, name, corpus)
    check_resumes(train, tmp_path, 7)


def test_a_live_training_is_that_from_the_cache_within_fp16(unbroken, live):
    fields = unbroken.model.fields
    assert unbroken.model.reads == (*fields, *(f"{field}_layers" for field in fields))
    assert live.model.reads == (*fields, *(f"{field}_characters" for field in fields))
    for one, other in zip(records_of(live), records_of(unbroken)):
        assert one["loss"] == pytest.approx(other["loss"], rel=2e-3, abs=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["unbroken", "live"])
def test_an_export_answers_raw_text(request, name, kind, tmp_path):
    bundle = load_bundle(request.getfixturevalue(kind).workdir / "best")
    path, ids_path = export_saved_model(bundle.directory, tmp_path)
    texts = [tf.constant(FIRST), tf.constant(SECOND)][: len(bundle.model.fields)]
    text_to_ids = bundle.text_to_ids()
    inputs = text_to_ids.inputs(*map(text_to_ids.tokens, texts))
    expected = tf.nn.softmax(bundle.model(*inputs))
    signatures = tf.saved_model.load(str(path)).signatures
    names = bundle.model.fields if len(texts) == 2 else ["text"]
    answers = signatures["serving_default"](**dict(zip(names, texts)))
    np.testing.assert_allclose(answers["probabilities"], expected, atol=1e-5)
    ids, *features = inputs[:: len(texts)]
    vectors = signatures["encode"](text=texts[0])["vectors"]
    np.testing.assert_allclose(vectors, bundle.model.encode(ids, *features), atol=1e-5)
    of_ids = tf.saved_model.load(str(ids_path)).signatures["encode"]
    vectors = of_ids(ids=ids, characters=features[0])["vectors"]
    np.testing.assert_allclose(vectors, bundle.model.encode(ids, *features), atol=1e-5)


@pytest.mark.slow
def test_hard_attention_is_trained_on_elmo_vectors(tmp_path):
    config = other_elmo_config("resan_sick")
    config.train.steps, config.policy.pretrain_steps, config.policy.policy_steps = 6, 2, 2
    trainer = run_trainer(config, other_elmo_corpus(tmp_path, config), tmp_path / "run")
    phases = [it["phase"] for it in records_of(trainer, "train")]
    assert list(dict.fromkeys(phases)) == ["pretrain", "policy", "both"]
    assert np.isfinite([it["loss"] for it in records_of(trainer)]).all()
