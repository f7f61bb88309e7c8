"""The grammar's composition, its files, and what a bag of words can make of them."""

import hashlib
import re
from collections import defaultdict
from random import Random

import pytest

from data_prep.synthetic import treebank as synthetic
from data_prep.synthetic.treebank import (
    SIZES,
    Tree,
    comparison,
    conjunction,
    contrast,
    draw_trees,
    operate,
    write_treebank,
)
from disan_tf.common.errors import UserError
from tests.support.corpora.bag_of_words import bag_of_words_accuracy

GOOD, SUPERB = Tree(1, "good"), Tree(2, "superb")
DULL, AWFUL = Tree(-1, "dull"), Tree(-2, "awful")
SMALL = {"train": 30, "dev": 10, "test": 11}


@pytest.fixture(scope="module")
def treebank():
    """The default treebank: split -> trees."""
    seen: set = set()
    return {split: draw_trees(Random(f"0/{split}"), n, seen) for split, n in SIZES.items()}


def nodes(tree):
    yield tree
    for child in tree.children:
        yield from nodes(child)


def binary(trees):
    """(tokens, is positive) of the trees that are not neutral."""
    return [(tree.tokens(), int(tree.sentiment > 0)) for tree in trees if tree.sentiment]


def read_lines(folder, split):
    return (folder / "sst" / "trees" / f"{split}.txt").read_text().splitlines()


@pytest.mark.parametrize(
    ("tree", "words", "sentiment"),
    [
        (operate("very", GOOD), "very good", 2),
        (operate("truly", DULL), "truly dull", -2),
        (operate("fairly", AWFUL), "fairly awful", -1),
        (operate("not", GOOD), "not good", -1),
        (operate("not", AWFUL), "not awful", 1),
        (operate("hardly", operate("really", GOOD)), "hardly really good", -1),
        (operate("less", operate("than", SUPERB)), "less than superb", -1),
        (operate("never", operate("less", operate("than", SUPERB))), "never less than superb", 1),
        (comparison(AWFUL, GOOD), "more awful than good", -1),
        (comparison(GOOD, AWFUL), "more good than awful", 1),
        (conjunction(AWFUL, DULL), "awful and dull", -2),
        (conjunction(GOOD, SUPERB), "good and superb", 2),
        (contrast(SUPERB, "but", DULL), "superb but dull", -1),
        (contrast(DULL, "yet", SUPERB), "dull yet superb", 2),
        (contrast(SUPERB, "though", DULL), "superb though dull", 2),
        (contrast(DULL, "although", SUPERB), "dull although superb", -1),
    ],
)
def test_a_phrase_has_its_words_and_the_sentiment_they_compose(tree, words, sentiment):
    assert " ".join(tree.tokens()) == words
    assert tree.sentiment == sentiment


def test_a_tree_is_written_in_penn_treebank_form():
    assert str(operate("very", GOOD)) == "(4 (2 very) (3 good))"


def test_the_files_are_a_function_of_the_seed(tmp_path):
    for name, seed in (("first", 1), ("again", 1), ("other", 2)):
        write_treebank(tmp_path / name, seed, SMALL)
    for split, size in SMALL.items():
        first = read_lines(tmp_path / "first", split)
        assert first == read_lines(tmp_path / "again", split)
        assert first != read_lines(tmp_path / "other", split)
        assert len(first) == size


def test_seed_0_writes_the_treebank_that_the_demo_was_trained_on(tmp_path):
    write_treebank(tmp_path, seed=0)
    train = (tmp_path / "sst/trees/train.txt").read_bytes()
    assert (
        hashlib.sha256(train).hexdigest()
        == "d15a049f7d5a158088eb62e58802c4c4cb7dc2b9aeec662113a6918f0d7ce9fc"
    )


def test_every_line_is_a_binary_tree_with_labels_from_0_to_4(tmp_path):
    write_treebank(tmp_path, 3, SMALL)
    for split in SMALL:
        for line in read_lines(tmp_path, split):
            while "(" in line[1:]:  # replace innermost brackets until a single leaf is left
                shorter = re.sub(
                    r"\(([0-4]) \([0-4] [^ ()]+\) \([0-4] [^ ()]+\)\)", r"(\1 x)", line
                )
                assert shorter != line, line
                line = shorter
            assert re.fullmatch(r"\([0-4] [^ ()]+\)", line)


def test_sentences_have_5_to_16_tokens_of_fewer_than_100_words(treebank):
    sentences = [tree.tokens() for trees in treebank.values() for tree in trees]
    assert {len(tokens) for tokens in sentences} <= set(range(5, 17))
    assert 60 <= len({token for tokens in sentences for token in tokens}) < 100


def test_no_sentence_is_neutral_and_the_two_signs_are_balanced(treebank):
    for trees in treebank.values():
        positive = sum(tree.sentiment > 0 for tree in trees) / len(trees)
        assert all(tree.sentiment for tree in trees) and 0.45 < positive < 0.55


def test_equal_words_in_equal_order_never_have_two_labels(treebank):
    labels = defaultdict(set)
    for trees in treebank.values():
        for tree in trees:
            for node in nodes(tree):
                labels[node.tokens()].add(node.sentiment)
    assert all(len(values) == 1 for values in labels.values())


def test_no_sentence_stands_twice_in_any_splits(treebank):
    sentences = [tree.tokens() for trees in treebank.values() for tree in trees]
    assert len(set(sentences)) == len(sentences) == sum(SIZES.values())


def test_order_matters_in_a_third_of_the_test_sentences(treebank):
    signs = defaultdict(set)
    for tokens, label in binary(treebank["test"]):
        signs[tuple(sorted(tokens))].add(label)
    assert sum(2 for labels in signs.values() if len(labels) == 2) > len(treebank["test"]) / 3


@pytest.mark.parametrize("level", ["sentences", "phrases"])
def test_a_bag_of_words_learns_something_but_stays_under_three_quarters(treebank, level):
    train = treebank["train"]
    if level == "phrases":
        train = [node for tree in train for node in nodes(tree)]
    accuracy = bag_of_words_accuracy(binary(train), binary(treebank["test"]))
    assert 0.55 < accuracy < 0.75


def test_another_treebank_is_not_overwritten(tmp_path):
    real = tmp_path / "sst/trees/dev.txt"
    real.parent.mkdir(parents=True)
    real.write_text("(2 real)\n")
    with pytest.raises(UserError, match="dev.txt holds another treebank"):
        write_treebank(tmp_path, 0, SMALL)
    assert [path.name for path in real.parent.iterdir()] == ["dev.txt"]
    assert real.read_text() == "(2 real)\n"


def test_the_command_may_be_repeated_and_ends_with_one_line_at_another_treebank(
    tmp_path, capsys, monkeypatch
):
    for split, size in SMALL.items():
        monkeypatch.setitem(SIZES, split, size)
    for _ in range(2):
        assert synthetic.main([f"--data_dir={tmp_path}", "--seed=5"]) == 0
    for split, size in SMALL.items():
        assert len(read_lines(tmp_path, split)) == size
    assert synthetic.main([f"--data_dir={tmp_path}", "--seed=6"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
