"""Hold-outs and folds, examples that stand in two splits, and the mark of synthetic corpora."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_prep.corpora import READERS, TEST_FILES, Corpus, Example, read_test
from data_prep.corpora.corpus import overlap_warnings
from data_prep.corpora.held_out import fold_numbers, held_out, hold_out_dev
from data_prep.corpora.official_files import is_synthetic
from data_prep.manifest import describe_counts
from data_prep.prepare import prepare
from data_prep.synthetic.pairs import write_pairs
from data_prep.synthetic.treebank import write_treebank
from disan_tf.common.files import read_json
from tests.support.corpora.nli import options, row, write
from tests.support.corpora.raw import OPTIONS, write_raw
from tests.support.errors import user_error

LABELS = st.lists(st.integers(0, 4), min_size=1, max_size=200)
SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=30)
@given(LABELS, st.floats(0.0, 1.0), SEEDS)
def test_a_hold_out_takes_its_share_of_each_class_within_one_example(labels, share, seed):
    labels, taken = np.array(labels), held_out(labels, share, seed)
    assert taken.dtype == bool and taken.shape == labels.shape
    for label in np.unique(labels):
        chosen, size = taken[labels == label].sum(), (labels == label).sum()
        assert abs(chosen - share * size) <= 1 + 1e-9
    assert abs(taken.sum() - share * len(labels)) <= 1


@settings(max_examples=30)
@given(LABELS, st.integers(1, 12), SEEDS)
def test_folds_and_classes_within_folds_differ_by_at_most_one_example(labels, folds, seed):
    labels, numbers = np.array(labels), fold_numbers(labels, folds, seed)
    for group in [numbers] + [numbers[labels == label] for label in np.unique(labels)]:
        sizes = np.bincount(group, minlength=folds)
        assert len(sizes) == folds and sizes.max() - sizes.min() <= 1


def test_the_chosen_examples_stay_the_same_ones():
    """Scores of a fold are only comparable with earlier ones while the folds are the same."""
    labels = [0, 1, 1, 0, 1, 0, 0, 1, 1, 1]
    assert np.flatnonzero(held_out(labels, 0.4, 1)).tolist() == [1, 6, 7, 9]
    assert fold_numbers(labels, 3, 1).tolist() == [1, 0, 2, 0, 0, 0, 2, 1, 2, 1]
    assert held_out(["no", "yes", "no", "yes"], 0.5, 1).sum() == 2  # labels may be names
    numbers = fold_numbers([0] * 100, 10, 3)
    assert np.mean(np.diff(numbers) % 10 == 1) < 0.5  # neighbours are not taken in turn
    assert np.any(numbers != fold_numbers([0] * 100, 10, 4))


def test_the_dev_part_and_what_stays_are_all_examples_in_their_order():
    examples = [Example(str(number), (("soup",),), number % 3) for number in range(30)]
    train, dev = hold_out_dev(examples, SimpleNamespace(dev_share=0.2, split_seed=1))
    assert len(dev) == 6 and [example.label for example in dev].count(2) == 2
    assert sorted(train + dev, key=examples.index) == examples
    assert [part == sorted(part, key=examples.index) for part in (train, dev)] == [True, True]


TEA, OKRA, SOUP = ("tea", 0), ("okra", 0), ("soup", 1)
SAME = "train and test share 1 example (1 with the same label)."


@pytest.mark.parametrize(
    "splits, warnings",
    [
        ({"train": [("hot soup", 0)], "dev": [("soup hot", 0)], "test": [("hot", 0)]}, []),
        (
            {"train": [TEA, OKRA, SOUP], "test": [("tea", 1), OKRA, ("soup", 0)]},
            ["train and test share 3 examples (1 with the same label)."],
        ),
        ({"train": [TEA, ("tea", 1)], "test": [("tea", 1), ("tea", 1)]}, [SAME]),
        ({"train": [TEA, ("tea", 1)], "test": [TEA, ("tea", 1)]}, [SAME]),
        (
            {"train": [TEA], "dev": [TEA], "test": [TEA]},
            [SAME.replace("test", "dev"), SAME, SAME.replace("train", "dev")],
        ),
    ],
)
def test_two_splits_that_share_examples_are_named_with_the_counts(splits, warnings):
    examples = {
        split: [Example("", (tuple(text.split()),), label) for text, label in rows]
        for split, rows in splits.items()
    }
    corpus = Corpus("invented", ("sentence",), ("no", "yes"), examples, {}, [])
    assert overlap_warnings(corpus) == warnings


def test_both_sentences_of_a_pair_must_be_equal(tmp_path):
    same, other = row(), row(sentence2_binary_parse="( Soup ( is cold ) )")
    write(tmp_path, train=[same], dev=[other], test=[same])
    manifest = read_json(prepare(options(), tmp_path, tmp_path / "out") / "manifest.json", "")
    assert [warning for warning in manifest["warnings"] if "share" in warning] == [SAME]
    assert f"  warning: {SAME}" in describe_counts(manifest)


WITH_TEST_FILES = [name for name, options in OPTIONS.items() if options.corpus in TEST_FILES]


@pytest.mark.parametrize("name", WITH_TEST_FILES)
def test_the_test_split_is_read_without_the_files_of_the_others(name, tmp_path):
    options = OPTIONS[name]
    data_dir = write_raw(tmp_path) / (name if name in ("text", "columns") else "")
    whole = READERS[options.corpus].read(data_dir, options)
    for path in whole.inputs:
        if "test" not in path.name and path.name != "TREC_10.label":
            path.unlink()
    user_error(READERS[options.corpus].read, data_dir, options)
    found = read_test(data_dir, options)
    assert found.splits["test"] == whole.splits["test"]
    assert (found.fields, found.classes, found.scores) == (
        whole.fields,
        whole.classes,
        whole.scores,
    )
    assert {*found.splits} == {"test"} and len(found.inputs) == 1
    assert found.counts["test"] == whole.counts["test"]
    assert {*found.warnings} <= {*whole.warnings}


def test_a_corpus_without_a_test_file_is_read_completely(tmp_path):
    found = read_test(write_raw(tmp_path), OPTIONS["polarity"])
    assert {*found.splits} == {"train", "dev", "test"}


SIZES = {"train": 30, "dev": 20, "test": 20}


@pytest.mark.parametrize("name, make", [("sst", write_treebank), ("snli_1.0", write_pairs)])
def test_a_synthetic_corpus_is_compared_with_no_official_count(tmp_path, name, make):
    make(tmp_path, 0, SIZES)
    corpus = READERS[OPTIONS[name].corpus].read(tmp_path, OPTIONS[name])
    assert corpus.warnings == []
    assert {counts["expected"] for counts in corpus.counts.values()} == {None}


@pytest.mark.parametrize("change", ["corpus", "mark", "no mark"])
def test_another_corpus_in_the_place_of_a_synthetic_one_is_compared(tmp_path, change):
    write_treebank(tmp_path, 0, SIZES)
    folder = tmp_path / "sst" / "trees"
    if change == "corpus":
        (folder / "dev.txt").write_text((folder / "dev.txt").read_text() * 2)
    elif change == "mark":
        (folder / "synthetic.json").write_text("{")
    else:
        (folder / "synthetic.json").unlink()
    assert not is_synthetic([folder / f"{split}.txt" for split in SIZES])
    assert len(READERS["sst"].read(tmp_path, OPTIONS["sst"]).warnings) == 3
