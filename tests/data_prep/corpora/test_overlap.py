"""data_prep/corpora/overlap.py: examples that stand in two splits."""

from data_prep.corpora import Corpus, Example
from data_prep.corpora.overlap import overlap_warnings
from data_prep.manifest import describe_counts
from data_prep.prepare import prepare
from disan_tf.common.files import read_json
from tests.support.corpora.nli import options, row, write


def warnings_of(**splits):
    """The warnings about splits of (sentence, label) pairs."""
    examples = {
        split: [Example(f"{split}-{k}", (tuple(text.split()),), label) for k, (text, label) in rows]
        for split, rows in ((split, enumerate(rows)) for split, rows in splits.items())
    }
    return overlap_warnings(Corpus("invented", ("sentence",), ("no", "yes"), examples, {}, []))


def test_splits_without_a_common_example_are_no_warning():
    assert warnings_of(train=[("hot soup", 0)], dev=[("soup hot", 0)], test=[("hot", 0)]) == []


def test_two_splits_that_share_examples_are_named_with_the_count():
    rows = [("hot soup", 0), ("okra", 1)]
    assert warnings_of(train=[*rows, ("tea", 1)], test=rows) == [
        "train and test share 2 examples (2 with the same label)."
    ]


def test_every_two_splits_are_compared():
    warnings = warnings_of(train=[("tea", 0)], dev=[("tea", 0)], test=[("tea", 0)])
    pairs = [" ".join(warning.split()[:3]) for warning in warnings]
    assert pairs == ["train and dev", "train and test", "dev and test"]


def test_labels_are_told_apart():
    train, test = [("tea", 0), ("okra", 0), ("soup", 1)], [("tea", 1), ("okra", 0), ("soup", 0)]
    (warning,) = warnings_of(train=train, test=test)
    assert warning == "train and test share 3 examples (1 with the same label)."


def test_repetitions_within_a_split_count_once():
    train, test = [("tea", 0), ("tea", 1)], [("tea", 1), ("tea", 1)]
    (warning,) = warnings_of(train=train, test=test)
    assert warning == "train and test share 1 example (1 with the same label)."


def test_an_example_with_both_labels_in_both_splits_counts_once():
    rows = [("tea", 0), ("tea", 1)]
    (warning,) = warnings_of(train=rows, test=rows)
    assert warning == "train and test share 1 example (1 with the same label)."


def test_both_sentences_of_a_pair_must_be_equal(tmp_path):
    same, other = row(), row(sentence2_binary_parse="( Soup ( is cold ) )")
    write(tmp_path, train=[same], dev=[other], test=[same])
    folder = prepare(options(), tmp_path, tmp_path / "prepared")
    manifest = read_json(folder / "manifest.json", "")
    shared = [warning for warning in manifest["warnings"] if "share" in warning]
    assert shared == ["train and test share 1 example (1 with the same label)."]
    assert f"  warning: {shared[0]}" in describe_counts(manifest)
