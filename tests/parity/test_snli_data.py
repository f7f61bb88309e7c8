"""SNLI's preparation against the authors' code: examples, ids, vectors."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from data_prep.corpora import snli
from data_prep.corpora.nli_files import length_limit
from data_prep.corpora.nli_rows import CLASSES
from data_prep.prepare import prepare
from tests.support.nli import options, write

ROOT = Path(__file__).parents[2]
GOLDEN = Path(os.environ.get("DISAN_TF_GOLDEN", ROOT / "tests/golden/official"))
AUTHORS = json.loads((GOLDEN / "snli_data.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("lengths", "share", "limit"), AUTHORS["dynamic_length"])
def test_the_length_limit_is_the_authors(lengths, share, limit):
    assert length_limit(lengths, share) == limit


def authors_corpus(data_dir, **changed):
    """The golden rows, with the pairIDs and the dev split that they lack."""
    train, test = (
        [{**each, "pairID": str(number)} for number, each in enumerate(AUTHORS[f"{split}_rows"])]
        for split in ("train", "test")
    )
    write(data_dir, train=train, test=test)
    return snli.read(data_dir, options(length_percentile=0.97, **changed))


@pytest.mark.parametrize("split", ["train", "test"])
def test_pairs_tokens_and_labels_are_the_authors(tmp_path, split):
    examples = authors_corpus(tmp_path, empty_tokens=True).splits[split]
    ours = [(*example.sentences, CLASSES[example.label]) for example in examples]
    theirs = [(tuple(pair["s1"]), tuple(pair["s2"]), pair["gold"]) for pair in AUTHORS[split]]
    assert ours == theirs


def test_the_default_lacks_the_authors_empty_strings_alone(tmp_path):
    examples = authors_corpus(tmp_path).splits["train"]
    theirs = [
        [[word for word in pair[s] if word] for s in ("s1", "s2")] for pair in AUTHORS["train"]
    ]
    assert [list(map(list, example.sentences)) for example in examples] == theirs


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """The golden rows and vectors, prepared: manifest, vocabulary, and arrays by name."""
    data_dir = tmp_path_factory.mktemp("authors")
    authors_corpus(data_dir)
    lines = (f"{word} {' '.join(map(str, row))}\n" for word, row in AUTHORS["glove"].items())
    (data_dir / "glove.txt").write_text("".join(lines), encoding="utf-8")
    chosen = {"vectors": "glove.txt", "embedding_dim": 6, "fixed_words": "all"}
    chosen.update(empty_tokens=True, length_percentile=0.97)
    folder = prepare(options(**chosen), data_dir, data_dir / "prepared")
    arrays = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    words = (folder / "vocabulary.txt").read_text().split("\n")[:-1]
    return json.loads((folder / "manifest.json").read_text()), words, arrays


def test_the_known_words_are_the_authors(prepared):
    _, words, _ = prepared
    theirs = AUTHORS["token_vocab_trainable_sorted"] + AUTHORS["glove_fixed_vocab_sorted"]
    assert sorted(words) == sorted(theirs)


def test_the_trained_words_are_the_authors_but_for_words_of_dropped_pairs(prepared):
    manifest, words, _ = prepared
    kept = {word.lower() for pair in AUTHORS["train"] for word in pair["s1"] + pair["s2"]}
    assert set(words[: manifest["trainable_words"]]) == kept
    assert kept < set(AUTHORS["token_vocab_trainable_sorted"])


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
    assert {theirs for ours, theirs in pairs if ours == 1} == ({1} if split == "test" else set())


def test_vectors_are_the_authors_where_one_spelling_has_a_vector(prepared):
    """Of several spellings they keep the last one of the file, we the exact one."""
    manifest, words, arrays = prepared
    spellings = [word.lower() for word in AUTHORS["glove"]]
    compared = 0
    for word, row in list(zip(words, arrays["embeddings"]))[: manifest["trainable_words"]]:
        if spellings.count(word) == 1:
            np.testing.assert_array_equal(row, np.float32(AUTHORS["emb_rows"][word]))
            compared += 1
        elif word in AUTHORS["glove"]:
            np.testing.assert_array_equal(row, np.float32(AUTHORS["glove"][word]))
    assert compared == 15


def test_vectors_that_the_file_lacks_are_drawn_as_the_authors_are(prepared):
    manifest, words, arrays = prepared
    spellings = {word.lower() for word in AUTHORS["glove"]}
    trained = dict(zip(words[: manifest["trainable_words"]], arrays["embeddings"]))
    drawn = trained.keys() - spellings
    assert "" in drawn
    for word in drawn:
        assert 0 < np.abs(trained[word]).max() <= 0.05
        assert 0 < np.abs(AUTHORS["emb_rows"][word]).max() <= 0.05


def test_fixed_vectors_are_those_of_the_file(prepared):
    manifest, words, arrays = prepared
    fixed = dict(zip(words, arrays["embeddings"]))
    for word in AUTHORS["glove_fixed_vocab_sorted"]:
        vector = AUTHORS["glove"].get(word) or AUTHORS["glove"][word.capitalize()]
        np.testing.assert_array_equal(fixed[word], np.float32(vector))
