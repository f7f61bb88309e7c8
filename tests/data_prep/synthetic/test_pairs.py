"""The grammar of sentence pairs: labels, files, and what half of a pair gives away."""

import json
from collections import Counter
from random import Random

import pytest

from data_prep.corpora.nli_rows import CLASSES
from data_prep.synthetic import pairs as synthetic_pairs
from data_prep.synthetic.pairs import (
    SIZES,
    Sentence,
    bracketed,
    draw_pairs,
    leaves,
    relation,
    write_pairs,
)
from disan_tf.common.errors import UserError
from tests.support.corpora.bag_of_words import bag_of_words_accuracy

SMALL = {"train": 30, "dev": 9, "test": 12}
PREMISE = Sentence("man", "chasing", "dog", "in the park")
SILENT = Sentence("person", "chasing", "dog", "")


@pytest.fixture(scope="module")
def pairs():
    """The default corpus: split -> pairs."""
    seen: set = set()
    return {split: draw_pairs(Random(f"0/{split}"), n, seen) for split, n in SIZES.items()}


def rows(folder, split):
    text = (folder / f"snli_1.0/snli_1.0_{split}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(
    ("premise", "hypothesis", "label"),
    [
        (PREMISE, PREMISE, "entailment"),
        (PREMISE, Sentence("person", "chasing", "animal", ""), "entailment"),
        (PREMISE, Sentence("dog", "chasing", "man", "in the park"), "contradiction"),
        (PREMISE, Sentence("man", "feeding", "dog", ""), "contradiction"),
        (PREMISE, Sentence("man", "chasing", "dog", "on the beach"), "contradiction"),
        (PREMISE, Sentence("woman", "chasing", "dog", ""), "contradiction"),
        (SILENT, Sentence("man", "chasing", "dog", ""), "neutral"),
        (SILENT, Sentence("person", "chasing", "dog", "in the park"), "neutral"),
        (SILENT, Sentence("man", "feeding", "dog", ""), "contradiction"),
        (PREMISE, Sentence("man", "chasing", "dog", "", denied=True), "contradiction"),
        (PREMISE, Sentence("man", "feeding", "dog", "", denied=True), "entailment"),
        (SILENT, Sentence("man", "chasing", "dog", "", denied=True), "neutral"),
    ],
)
def test_the_label_follows_from_the_parts(premise, hypothesis, label):
    assert relation(premise, hypothesis) == label


def test_a_sentence_has_a_text_and_a_binary_parse():
    sentence = Sentence("fire-fighter", "feeding", "dog", "on the beach", denied=True)
    assert sentence.text() == "The fire-fighter isn't feeding the dog on the beach."
    assert bracketed(sentence.tree()) == (
        "( ( The fire-fighter ) ( ( ( is n't ) "
        "( ( feeding ( the dog ) ) ( on ( the beach ) ) ) ) . ) )"
    )


def test_the_files_have_the_official_layout(tmp_path):
    write_pairs(tmp_path, 3, SMALL)
    for split, size in SMALL.items():
        lines = rows(tmp_path, split)
        assert len(lines) == size
        assert [row["pairID"] for row in lines] == [f"{split}-{k + 1}" for k in range(size)]
        for row in lines:
            assert row.keys() == {
                "gold_label",
                "pairID",
                "sentence1",
                "sentence2",
                "sentence1_binary_parse",
                "sentence2_binary_parse",
            }
            assert row["gold_label"] in CLASSES


def test_the_files_are_a_function_of_the_seed(tmp_path):
    for name, seed in (("first", 1), ("again", 1), ("other", 2)):
        write_pairs(tmp_path / name, seed, SMALL)
    for split in SMALL:
        first = rows(tmp_path / "first", split)
        assert first == rows(tmp_path / "again", split) != rows(tmp_path / "other", split)


def test_no_pair_stands_twice_in_any_splits(pairs):
    every = [pair[:2] for split in pairs.values() for pair in split]
    assert len(set(every)) == len(every) == sum(SIZES.values())


def test_the_labels_are_equally_frequent(pairs):
    for split, size in SIZES.items():
        counts = Counter(label for _, _, label in pairs[split])
        assert counts == dict.fromkeys(CLASSES, size // 3)


def accuracy(pairs, words):
    train, test = (
        [(words(*pair), CLASSES.index(label)) for *pair, label in pairs[split]]
        for split in ("train", "test")
    )
    return bag_of_words_accuracy(train, test)


def test_one_sentence_alone_tells_little_of_the_label(pairs):
    assert accuracy(pairs, lambda premise, hypothesis: tuple(leaves(premise.tree()))) < 0.52
    assert accuracy(pairs, lambda premise, hypothesis: tuple(leaves(hypothesis.tree()))) < 0.45


def test_another_corpus_is_not_overwritten(tmp_path):
    real = tmp_path / "snli_1.0/snli_1.0_dev.jsonl"
    real.parent.mkdir()
    real.write_text("{}\n")
    with pytest.raises(UserError, match="dev.jsonl holds another corpus"):
        write_pairs(tmp_path, 0, SMALL)
    assert [path.name for path in real.parent.iterdir()] == ["snli_1.0_dev.jsonl"]


def test_the_command_may_be_repeated_and_refuses_another_corpus(tmp_path, monkeypatch):
    for split, size in SMALL.items():
        monkeypatch.setitem(SIZES, split, size)
    for _ in range(2):
        assert synthetic_pairs.main([f"--data_dir={tmp_path}", "--seed=5"]) == 0
    assert {split: len(rows(tmp_path, split)) for split in SIZES} == SMALL
    assert synthetic_pairs.main([f"--data_dir={tmp_path}", "--seed=6"]) == 2
