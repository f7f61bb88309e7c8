"""data_prep/corpora/held_out.py: seeded, stratified hold-outs and folds."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from data_prep.corpora import Example
from data_prep.corpora.held_out import fold_numbers, held_out, hold_out_dev

LABELS = st.lists(st.integers(0, 4), min_size=1, max_size=200)
SEEDS = st.integers(0, 2**32 - 1)


@given(LABELS, st.floats(0.0, 1.0), SEEDS)
def test_a_hold_out_takes_its_share_of_each_class_within_one_example(labels, share, seed):
    labels, taken = np.array(labels), held_out(labels, share, seed)
    assert taken.dtype == bool and taken.shape == labels.shape
    for label in np.unique(labels):
        chosen, size = taken[labels == label].sum(), (labels == label).sum()
        assert abs(chosen - share * size) <= 1 + 1e-9
    assert abs(taken.sum() - share * len(labels)) <= 1


@given(LABELS, st.integers(1, 12), SEEDS)
def test_folds_and_classes_within_folds_differ_by_at_most_one_example(labels, folds, seed):
    labels, numbers = np.array(labels), fold_numbers(labels, folds, seed)
    assert numbers.shape == labels.shape
    for group in [numbers] + [numbers[labels == label] for label in np.unique(labels)]:
        sizes = np.bincount(group, minlength=folds)
        assert len(sizes) == folds and sizes.max() - sizes.min() <= 1


def test_the_seed_decides_which_examples_are_taken():
    labels = [0] * 50 + [1] * 50
    for choose in (lambda seed: held_out(labels, 0.3, seed), lambda s: fold_numbers(labels, 5, s)):
        np.testing.assert_array_equal(choose(7), choose(7))
        assert np.any(choose(7) != choose(8))


def test_the_chosen_examples_stay_the_same_ones():
    """Scores of a fold are only comparable with earlier ones while the folds are the same."""
    labels = [0, 1, 1, 0, 1, 0, 0, 1, 1, 1]
    assert np.flatnonzero(held_out(labels, 0.4, 1)).tolist() == [1, 6, 7, 9]
    assert fold_numbers(labels, 3, 1).tolist() == [1, 0, 2, 0, 0, 0, 2, 1, 2, 1]


def test_labels_may_be_names():
    assert held_out(["no", "yes", "no", "yes"], 0.5, 1).sum() == 2


def test_neighbours_in_the_corpus_are_not_taken_in_turn():
    numbers = fold_numbers([0] * 100, 10, 3)
    assert np.mean(np.diff(numbers) % 10 == 1) < 0.5


EXAMPLES = [Example(str(number), (("soup",),), number % 3) for number in range(30)]


def options(**changed):
    return SimpleNamespace(**{"dev_share": 0.2, "split_seed": 1, **changed})


def test_the_dev_part_and_what_stays_are_all_examples_in_their_order():
    train, dev = hold_out_dev(EXAMPLES, options())
    assert len(dev) == 6 and [example.label for example in dev].count(2) == 2
    assert sorted(train + dev, key=EXAMPLES.index) == EXAMPLES
    assert [part == sorted(part, key=EXAMPLES.index) for part in (train, dev)] == [True, True]
