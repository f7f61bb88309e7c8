"""The logistic regression on word counts."""

import sys
from random import Random

import pytest

from data_prep import bag_of_words
from data_prep.bag_of_words import bag_of_words_accuracy
from data_prep.synthetic.treebank import write_treebank

pytest.importorskip("sklearn")


def test_a_word_counts_as_often_as_it_occurs():
    examples = [(("a", "a", "b"), 0), (("a", "b", "b"), 1)] * 20
    assert bag_of_words_accuracy(examples, examples) == 1.0


def test_a_bag_of_words_solves_what_needs_no_order():
    random = Random(0)

    def draw(size):
        fillers = [random.choices("abcdefgh", k=6) for _ in range(size)]
        labels = [random.randrange(3) for _ in range(size)]
        return [(words + [f"label{label}"], label) for words, label in zip(fillers, labels)]

    assert bag_of_words_accuracy(draw(200), draw(100)) == 1.0


def test_a_bag_of_words_is_no_better_than_the_majority_on_unknown_words():
    train = [(("a",), 0), (("a",), 0), (("a",), 0), (("b",), 1)] * 10
    assert bag_of_words_accuracy(train, [(("z",), 0), (("z",), 0), (("z",), 1)]) == 2 / 3


def test_the_command_prints_the_accuracy_of_a_treebank(tmp_path, capsys):
    write_treebank(tmp_path, 0, {"train": 300, "dev": 10, "test": 100})
    assert bag_of_words.main([f"--data_dir={tmp_path}"]) == 0
    accuracy = float(capsys.readouterr().out.split()[-1])
    assert 0.4 < accuracy < 0.75


def test_the_command_names_a_missing_treebank(tmp_path, capsys):
    assert bag_of_words.main([f"--data_dir={tmp_path}"]) == 2
    assert "sst/trees" in capsys.readouterr().err


def test_the_command_names_what_it_lacks(tmp_path, capsys, monkeypatch):
    write_treebank(tmp_path, 0, {"train": 30, "dev": 10, "test": 10})
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    assert bag_of_words.main([f"--data_dir={tmp_path}"]) == 2
    assert "a bag of words needs scikit-learn; install it with pip" in capsys.readouterr().err
