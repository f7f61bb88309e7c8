"""The synthetic grammars: labels, files, and what words without their order give away."""

import hashlib
import json
from collections import Counter, defaultdict
from random import Random

import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from data_prep.corpora.nli_files import CLASSES
from data_prep.synthetic import pairs as pair_grammar
from data_prep.synthetic import treebank as tree_grammar
from data_prep.synthetic.pairs import Sentence, bracketed, leaves, relation
from data_prep.synthetic.treebank import Tree, comparison, conjunction, contrast, operate

SMALL = {"train": 30, "dev": 9, "test": 12}
GOOD, SUPERB = Tree(1, "good"), Tree(2, "superb")
DULL, AWFUL = Tree(-1, "dull"), Tree(-2, "awful")
MAN = Sentence("man", "chasing", "dog", "in the park")
PERSON = Sentence("person", "chasing", "dog", "")
FILES = {tree_grammar: "sst/trees/{}.txt", pair_grammar: "snli_1.0/snli_1.0_{}.jsonl"}
WRITERS = {
    tree_grammar: tree_grammar.write_treebank,
    pair_grammar: pair_grammar.write_pairs,
}


def read(grammar, folder, split):
    return (folder / FILES[grammar].format(split)).read_text().splitlines()


def drawn(grammar, draw):
    """The default corpus: split -> trees or pairs."""
    seen: set = set()
    return {split: draw(Random(f"0/{split}"), n, seen) for split, n in grammar.SIZES.items()}


@pytest.fixture(scope="module")
def treebank():
    return drawn(tree_grammar, tree_grammar.draw_trees)


@pytest.fixture(scope="module")
def pairs():
    return drawn(pair_grammar, pair_grammar.draw_pairs)


def bag_of_words_accuracy(train, test):
    """The test accuracy of a logistic regression on word counts, from (tokens, label)."""
    (words, labels), (test_words, test_labels) = zip(*train), zip(*test)
    counter = CountVectorizer(analyzer=list)
    regression = LogisticRegression(max_iter=1000).fit(counter.fit_transform(words), labels)
    return regression.score(counter.transform(test_words), test_labels)


@pytest.mark.parametrize("grammar", FILES)
def test_the_files_are_a_function_of_the_seed_and_the_command_may_be_repeated(
    grammar, tmp_path, capsys, monkeypatch
):
    for name, seed in (("first", 1), ("other", 2)):
        WRITERS[grammar](tmp_path / name, seed, SMALL)
    monkeypatch.setattr(grammar, "SIZES", SMALL)
    monkeypatch.setattr(WRITERS[grammar], "__defaults__", (SMALL,))
    for _ in range(2):
        assert grammar.main([f"--data_dir={tmp_path}/again", "--seed=1"]) == 0
    for split, size in SMALL.items():
        first, again, other = (
            read(grammar, tmp_path / name, split) for name in ("first", "again", "other")
        )
        assert first == again != other and len(first) == size
    assert grammar.main([f"--data_dir={tmp_path}/again", "--seed=6"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("grammar", FILES)
def test_another_corpus_is_not_overwritten(grammar, tmp_path, capsys):
    real = tmp_path / FILES[grammar].format("dev")
    real.parent.mkdir(parents=True)
    real.write_text("real\n")
    assert grammar.main([f"--data_dir={tmp_path}", "--seed=0"]) == 2
    assert f"{real} holds another " in capsys.readouterr().err
    assert [path.name for path in real.parent.iterdir()] == [real.name]
    assert real.read_text() == "real\n"


# Trees


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


def test_seed_0_writes_the_treebank_that_the_demo_was_trained_on(treebank):
    text = "".join(f"{tree}\n" for tree in treebank["train"])
    assert (
        hashlib.sha256(text.encode()).hexdigest()
        == "d15a049f7d5a158088eb62e58802c4c4cb7dc2b9aeec662113a6918f0d7ce9fc"
    )


def binary(trees):
    """(tokens, is positive) of the trees that are not neutral."""
    return [(tree.tokens(), int(tree.sentiment > 0)) for tree in trees if tree.sentiment]


def test_sentences_are_distinct_and_balanced_and_order_matters_in_a_third(treebank):
    sentences = [tree.tokens() for trees in treebank.values() for tree in trees]
    assert len(set(sentences)) == len(sentences) == sum(tree_grammar.SIZES.values())
    assert {len(tokens) for tokens in sentences} <= set(range(5, 17))
    assert 60 <= len({token for tokens in sentences for token in tokens}) < 100
    for trees in treebank.values():
        positive = sum(tree.sentiment > 0 for tree in trees) / len(trees)
        assert all(tree.sentiment for tree in trees) and 0.45 < positive < 0.55
    signs = defaultdict(set)
    for tokens, label in binary(treebank["test"]):
        signs[tuple(sorted(tokens))].add(label)
    assert sum(2 for labels in signs.values() if len(labels) == 2) > len(treebank["test"]) / 3


def test_a_bag_of_words_learns_something_but_stays_under_three_quarters(treebank):
    accuracy = bag_of_words_accuracy(binary(treebank["train"]), binary(treebank["test"]))
    assert 0.55 < accuracy < 0.75


# Pairs


@pytest.mark.parametrize(
    ("premise", "hypothesis", "label"),
    [
        (MAN, MAN, "entailment"),
        (MAN, Sentence("person", "chasing", "animal", ""), "entailment"),
        (MAN, Sentence("dog", "chasing", "man", "in the park"), "contradiction"),
        (MAN, Sentence("man", "feeding", "dog", ""), "contradiction"),
        (MAN, Sentence("man", "chasing", "dog", "on the beach"), "contradiction"),
        (MAN, Sentence("woman", "chasing", "dog", ""), "contradiction"),
        (PERSON, Sentence("man", "chasing", "dog", ""), "neutral"),
        (PERSON, Sentence("person", "chasing", "dog", "in the park"), "neutral"),
        (PERSON, Sentence("man", "feeding", "dog", ""), "contradiction"),
        (MAN, Sentence("man", "chasing", "dog", "", denied=True), "contradiction"),
        (MAN, Sentence("man", "feeding", "dog", "", denied=True), "entailment"),
        (PERSON, Sentence("man", "chasing", "dog", "", denied=True), "neutral"),
    ],
)
def test_the_label_follows_from_the_parts(premise, hypothesis, label):
    assert relation(premise, hypothesis) == label


def test_rows_have_the_official_columns_a_text_and_a_binary_parse(tmp_path):
    sentence = Sentence("fire-fighter", "feeding", "dog", "on the beach", denied=True)
    assert sentence.text() == "The fire-fighter isn't feeding the dog on the beach."
    assert bracketed(sentence.tree()) == (
        "( ( The fire-fighter ) ( ( ( is n't ) "
        "( ( feeding ( the dog ) ) ( on ( the beach ) ) ) ) . ) )"
    )
    pair_grammar.write_pairs(tmp_path, 3, SMALL)
    columns = {"gold_label", "pairID", "sentence1", "sentence2"}
    for number, line in enumerate(read(pair_grammar, tmp_path, "dev"), start=1):
        row = json.loads(line)
        assert {*row} == columns | {"sentence1_binary_parse", "sentence2_binary_parse"}
        assert row["gold_label"] in CLASSES and row["pairID"] == f"dev-{number}"


def test_pairs_are_distinct_and_one_sentence_alone_tells_little_of_the_label(pairs):
    every = [pair[:2] for split in pairs.values() for pair in split]
    assert len(set(every)) == len(every) == sum(pair_grammar.SIZES.values())
    for split, size in pair_grammar.SIZES.items():
        counts = Counter(label for _, _, label in pairs[split])
        assert counts == dict.fromkeys(CLASSES, size // 3)
    for place, most in ((0, 0.52), (1, 0.45)):
        train, test = (
            [(tuple(leaves(pair[place].tree())), CLASSES.index(pair[2])) for pair in pairs[split]]
            for split in ("train", "test")
        )
        assert bag_of_words_accuracy(train, test) < most
