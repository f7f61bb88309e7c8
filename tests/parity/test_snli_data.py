"""SNLI's preparation against the authors' code: examples, ids, vectors."""

import json

import numpy as np
import pytest

from data_prep.corpora import snli
from data_prep.corpora.nli_files import CLASSES, length_limit
from data_prep.prepare import prepare
from disan_tf.text.lookup import UNKNOWN_ID
from tests.support.corpora.nli import options, write
from tests.support.golden.official import golden_json

AUTHORS = golden_json("snli_data")
VECTORS = {word: np.float32(vector) for word, vector in AUTHORS["glove"].items()}
LOWERED = [word.lower() for word in VECTORS]
KEPT = {word.lower() for pair in AUTHORS["train"] for word in pair["s1"] + pair["s2"]}
SHARE = 0.97  # of the sentences, as in the authors' code


@pytest.mark.parametrize(("lengths", "share", "limit"), AUTHORS["dynamic_length"])
def test_the_length_limit_is_the_authors(lengths, share, limit):
    assert length_limit(lengths, share) == limit


def write_authors_corpus(data_dir):
    """The golden rows, with the pairIDs and the dev split that they lack."""
    train, test = (
        [{**row, "pairID": str(number)} for number, row in enumerate(AUTHORS[f"{split}_rows"])]
        for split in ("train", "test")
    )
    return write(data_dir, train=train, test=test)


def read_authors_corpus(data_dir, **changed):
    return snli.read(
        write_authors_corpus(data_dir),
        options(length_percentile=SHARE, split_words=True, **changed),
    )


@pytest.mark.parametrize("split", ["train", "test"])
def test_pairs_tokens_and_labels_are_the_authors(tmp_path, split):
    examples = read_authors_corpus(tmp_path, empty_tokens=True).splits[split]
    ours = [(*example.sentences, CLASSES[example.label]) for example in examples]
    theirs = [(tuple(pair["s1"]), tuple(pair["s2"]), pair["gold"]) for pair in AUTHORS[split]]
    assert ours == theirs


def test_the_default_lacks_the_authors_empty_strings_alone(tmp_path):
    examples = read_authors_corpus(tmp_path).splits["train"]
    theirs = [
        [[word for word in pair[s] if word] for s in ("s1", "s2")] for pair in AUTHORS["train"]
    ]
    assert [list(map(list, example.sentences)) for example in examples] == theirs


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """The golden rows and vectors, prepared: manifest, vocabulary, and arrays by name."""
    data_dir = write_authors_corpus(tmp_path_factory.mktemp("authors"))
    lines = (f"{word} {' '.join(map(str, row))}\n" for word, row in AUTHORS["glove"].items())
    (data_dir / "glove.txt").write_text("".join(lines), encoding="utf-8")
    dim = len(next(iter(VECTORS.values())))
    chosen = {"vectors": "glove.txt", "embedding_dim": dim, "fixed_words": "all"}
    chosen.update(empty_tokens=True, split_words=True, length_percentile=SHARE)
    folder = prepare(options(**chosen), data_dir, data_dir / "prepared")
    arrays = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    words = (folder / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[:-1]
    return json.loads((folder / "manifest.json").read_text()), words, arrays


@pytest.fixture(scope="module")
def trained(prepared):
    """Trained word -> its vector."""
    manifest, words, arrays = prepared
    return dict(zip(words[: manifest["trainable_words"]], arrays["embeddings"]))


def test_the_known_words_are_the_authors(prepared):
    _, words, _ = prepared
    theirs = AUTHORS["token_vocab_trainable_sorted"] + AUTHORS["glove_fixed_vocab_sorted"]
    known_by_dropped_pairs_alone = set(theirs) - KEPT - set(LOWERED)
    assert sorted(words) == sorted(set(theirs) - known_by_dropped_pairs_alone)


def test_the_trained_words_are_the_authors_but_for_words_of_dropped_pairs(trained):
    assert set(trained) == KEPT
    lines = " ".join(map(str, AUTHORS["train_rows"])).lower()
    theirs = set(AUTHORS["token_vocab_trainable_sorted"])
    assert theirs >= KEPT and all(word in lines for word in theirs - KEPT)


@pytest.mark.parametrize("split", ["train", "test"])
def test_ids_tell_apart_what_the_authors_ids_tell_apart(prepared, split):
    """Words are ordered otherwise, so each of our ids stands for one of theirs; 1 is unknown."""
    _, _, arrays = prepared
    pairs = set()
    for field, sentence in (("premise", "s1_ids"), ("hypothesis", "s2_ids")):
        theirs = [number for pair in AUTHORS[split] for number in pair[sentence]]
        ours = arrays[f"{split}.{field}.ids"].tolist()
        assert len(ours) == len(theirs)
        pairs |= set(zip(ours, theirs))
    assert len(pairs) == len({ours for ours, _ in pairs}) == len({theirs for _, theirs in pairs})
    assert all((ours == UNKNOWN_ID) == (theirs == UNKNOWN_ID) for ours, theirs in pairs)


def test_vectors_are_the_authors_where_one_spelling_has_a_vector(trained):
    """Of several spellings they keep the last one of the file, we the exact one."""
    for word, row in trained.items():
        if LOWERED.count(word) == 1:
            np.testing.assert_array_equal(row, np.float32(AUTHORS["emb_rows"][word]))
        elif word in VECTORS:
            np.testing.assert_array_equal(row, VECTORS[word])


def test_vectors_that_the_file_lacks_are_drawn_as_the_authors_are(trained):
    for word in trained.keys() - set(LOWERED):
        assert 0 < np.abs(trained[word]).max() <= 0.05
        assert 0 < np.abs(AUTHORS["emb_rows"][word]).max() <= 0.05


def test_fixed_vectors_are_those_of_the_file(prepared):
    _, words, arrays = prepared
    fixed = dict(zip(words, arrays["embeddings"]))
    for word in AUTHORS["glove_fixed_vocab_sorted"]:
        candidates = [row for name, row in VECTORS.items() if name.lower() == word]
        candidates = [VECTORS[word]] if word in VECTORS else candidates
        assert any(np.array_equal(fixed[word], row) for row in candidates), word
