"""Word vectors for TensorBoard's embedding projector."""

import numpy as np

from disan_tf.models.factory import build_model
from disan_tf.training.monitoring import projector
from disan_tf.training.monitoring.projector import LABELS, VECTORS, write_projector
from tests.support.runs.training import corpus_of, tiny_config, with_few_operations


def _read(folder):
    words = (folder / LABELS).read_text(encoding="utf-8").splitlines()
    return words, np.loadtxt(folder / VECTORS, delimiter="\t", ndmin=2)


def test_vectors_have_the_words_as_labels_the_most_frequent_first(tmp_path, monkeypatch):
    monkeypatch.setattr(projector, "WORDS", 4)
    config = with_few_operations(tiny_config())
    corpus = corpus_of(config, tmp_path)
    model = build_model(config, corpus.words, 5)
    write_projector(tmp_path, model, corpus)
    words, vectors = _read(tmp_path)
    ids = np.asarray(corpus.split("train").ids["sentence"])
    counts = [int(np.sum(ids == corpus.vocabulary.index(word) + 2)) for word in words]
    assert len(words) == 4 and counts == sorted(counts, reverse=True)
    assert counts[-1] >= max(
        np.sum(ids == number + 2)
        for number, word in enumerate(corpus.vocabulary[: corpus.words[0]])
        if word not in words
    )
    table = model.embedding.trained.numpy()
    expected = [table[corpus.vocabulary.index(word)] for word in words]
    np.testing.assert_allclose(vectors, expected, rtol=1e-4)
    settings = (tmp_path / "projector_config.pbtxt").read_text()
    assert VECTORS in settings and LABELS in settings


def test_words_that_would_break_a_line_are_labelled_all_the_same():
    assert projector.label("a\tb\nc") == "a b c" and projector.label(" ") == "(empty)"
