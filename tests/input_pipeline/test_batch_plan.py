"""Batch plans: every example once, the same plan for the same seed and epoch."""

import numpy as np
import pytest

from disan_tf.input_pipeline import (
    Batches,
    BatchPlan,
    draw_examples,
    evaluation_batches,
    padding_share,
    plan_batches,
)

SIZE = 16
LENGTHS = np.random.default_rng(2).geometric(0.12, size=1000)
PAIRS = np.stack([LENGTHS, np.random.default_rng(3).geometric(0.2, size=1000)], axis=1)


def _plan(lengths=LENGTHS, size=SIZE, window=10, seed=1, epoch=0, batch_tokens=0):
    return plan_batches(lengths, size, window, seed, epoch, batch_tokens)


def test_the_same_arguments_give_the_same_plan():
    first = _plan(seed=4, epoch=7)
    np.random.default_rng(0).random(5)
    np.random.seed(3)
    np.testing.assert_array_equal(first, _plan(seed=4, epoch=7))


@pytest.mark.parametrize("size", [1, 7, 1000, 1001])
@pytest.mark.parametrize("window", [1, 3])
def test_every_example_comes_exactly_once(window, size):
    batches = _plan(window=window, size=size)
    assert batches.dtype == np.int64
    assert batches.shape == (-(-1000 // size), size)
    np.testing.assert_array_equal(np.sort(batches[batches >= 0]), np.arange(1000))


@pytest.mark.parametrize("window", [1, 10])
def test_only_one_batch_is_smaller_and_its_fill_comes_last(window):
    sizes = np.sum(_plan(window=window) >= 0, axis=1)
    assert sorted(sizes) == [1000 % SIZE] + [SIZE] * (1000 // SIZE)
    smaller = _plan(window=window)[np.argmin(sizes)]
    np.testing.assert_array_equal(smaller[1000 % SIZE :], -1)


def test_no_examples_make_no_batch():
    assert _plan(np.zeros(0, np.int64)).shape == (0, SIZE)
    assert evaluation_batches(np.zeros(0, np.int64), SIZE).shape == (0, SIZE)


def test_windows_of_batches_waste_little_padding():
    unsorted = padding_share(LENGTHS, _plan(window=1))
    assert unsorted > 0.5  # a window of one batch is a plain shuffle
    assert padding_share(LENGTHS, _plan(window=10)) < unsorted / 2
    assert padding_share(LENGTHS, _plan(window=60)) < unsorted / 4


def test_padding_share_of_a_plan_counted_by_hand():
    lengths = np.array([1, 3, 2, 5])
    batches = np.array([[0, 1, 2], [3, -1, -1]])  # 6 of 9 positions, 5 of 5
    assert padding_share(lengths, batches) == pytest.approx(3 / 14)


def test_a_batch_mixes_other_examples_in_the_next_epoch():
    pairs = []
    for epoch in (0, 1):
        batches = _plan(window=4, epoch=epoch)
        full = batches[np.all(batches >= 0, axis=1)]
        pairs.append({tuple(sorted(pair)) for batch in full for pair in zip(batch, batch[1:])})
    assert len(pairs[0] & pairs[1]) < 0.1 * len(pairs[0])


def test_evaluation_takes_every_example_once_by_length():
    batches = evaluation_batches(LENGTHS, SIZE)
    taken = batches[batches >= 0]
    np.testing.assert_array_equal(np.sort(taken), np.arange(1000))
    np.testing.assert_array_equal(LENGTHS[taken], np.sort(LENGTHS))
    assert padding_share(LENGTHS, batches) < 0.05


def test_sentences_of_one_field_are_planned_like_their_lengths():
    np.testing.assert_array_equal(_plan(LENGTHS[:, None]), _plan(LENGTHS))


def test_pairs_run_up_and_down_through_the_hypotheses_of_each_premise_length():
    lengths = np.array([[2, 1], [3, 1], [2, 9], [3, 5], [4, 2], [2, 4], [4, 8]])
    (batch,) = evaluation_batches(lengths, 7)
    assert lengths[batch].tolist() == [[2, 1], [2, 4], [2, 9], [3, 5], [3, 1], [4, 2], [4, 8]]


def _padded_tokens(lengths, batches):
    return [
        np.sum(batch >= 0) * lengths[batch[batch >= 0]].reshape(np.sum(batch >= 0), -1).max(0).sum()
        for batch in batches
    ]


@pytest.mark.parametrize("lengths", [LENGTHS, PAIRS], ids=["sentences", "pairs"])
def test_a_token_budget_is_kept_but_for_examples_longer_than_it(lengths):
    batches = _plan(lengths, batch_tokens=40)
    for batch, tokens in zip(batches, _padded_tokens(lengths, batches)):
        assert tokens <= 40 or np.sum(batch >= 0) == 1
    assert max(_padded_tokens(lengths, batches)) > 40  # the longest examples stand alone


@pytest.mark.parametrize("batch_tokens", [1, 100, 10**6])
@pytest.mark.parametrize("window", [1, 7])
def test_a_token_budget_takes_every_example_exactly_once(window, batch_tokens):
    batches = _plan(PAIRS, window=window, batch_tokens=batch_tokens)
    np.testing.assert_array_equal(np.sort(batches[batches >= 0]), np.arange(1000))
    assert np.all(np.any(batches >= 0, axis=1))


def test_a_token_budget_is_used_up():
    lengths = np.array([2, 2, 2, 2, 2, 3, 3, 5, 8])
    batches = _plan(lengths, size=9, batch_tokens=10)
    actual = sorted(sorted(lengths[batch[batch >= 0]].tolist()) for batch in batches)
    assert actual == [[2, 2, 2, 2, 2], [3, 3], [5], [8]]


def test_a_step_is_found_in_epochs_of_equal_batches():
    plan = BatchPlan(PAIRS, Batches(SIZE, 10, 0, 0), 1)
    count = -(-1000 // SIZE)
    assert plan.locate(0) == (0, 0)
    assert plan.locate(3 * count + 5) == (3, 5)
    assert plan.locate(count - 1) == (0, count - 1)
    assert plan.locate(count) == (1, 0)
    assert plan.epochs(2 * count + count // 3) == pytest.approx(2 + (count // 3) / count)


def test_a_step_is_found_where_epochs_differ_in_their_batches():
    plan = BatchPlan(PAIRS, Batches(SIZE, 10, 200, 0), 1)
    counts = [plan.count(epoch) for epoch in range(4)]
    assert len(set(counts)) > 1
    steps = [(epoch, done) for epoch in range(4) for done in range(counts[epoch])]
    assert [plan.locate(step) for step in range(len(steps))] == steps
    fresh = BatchPlan(PAIRS, Batches(SIZE, 10, 200, 0), 1)  # as after a kill
    assert fresh.locate(len(steps) - 1) == steps[-1]
    assert fresh.epochs(counts[0] + 1) == pytest.approx(1 + 1 / counts[1])


def test_past_epochs_are_counted_once(monkeypatch):
    plan = BatchPlan(PAIRS, Batches(SIZE, 10, 200, 0), 1)
    plan.locate(500)
    monkeypatch.setattr(plan, "batches", None)
    assert plan.locate(499)[0] <= plan.locate(500)[0]


@pytest.mark.parametrize("batch_tokens", [0, 200])
def test_a_draw_of_examples_is_the_same_in_every_epoch_and_for_every_seed(batch_tokens):
    drawn = None
    for seed, epoch in ((1, 0), (1, 3), (2, 0)):
        plan = BatchPlan(PAIRS, Batches(SIZE, 10, batch_tokens, 150), seed)
        batches = plan.batches(epoch)
        actual = np.sort(batches[batches >= 0])
        np.testing.assert_array_equal(actual, plan.rows)
        assert len(set(actual.tolist())) == 150 and plan.count(epoch) == len(batches)
        drawn = plan.rows if drawn is None else drawn
        np.testing.assert_array_equal(plan.rows, drawn)


def test_a_small_draw_is_a_part_of_a_larger_one_from_all_places():
    small, large = (BatchPlan(PAIRS, Batches(SIZE, 1, 0, n), 1).rows for n in (100, 400))
    assert set(small.tolist()) <= set(large.tolist())
    assert draw_examples(9, 3).tolist() == [2, 4, 5]  # NumPy draws 4 5 2 6 3 8 7 0 1
    assert np.histogram(small, bins=4, range=(0, 1000))[0].min() > 10


def test_batches_do_not_come_sorted_by_length():
    first = LENGTHS[_plan(window=1000)[:, 0]]
    assert abs(np.corrcoef(first, np.arange(len(first)))[0, 1]) < 0.5
