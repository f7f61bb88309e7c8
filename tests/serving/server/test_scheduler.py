"""The queue: chunks, whose turn it is, clients that left, and its limit."""

import asyncio
import time

import pytest

from disan_tf.serving.server import scheduler
from disan_tf.serving.server.scheduler import QueueFull, Scheduler


class Recorder:
    """Returns ten times the items; `chunks` has the kind and the items of each chunk."""

    def __init__(self, seconds=0.0):
        self.seconds, self.chunks = seconds, []

    def __call__(self, kind, items):
        self.chunks.append((kind, list(items)))
        time.sleep(self.seconds)
        if "fail" in items:
            raise ValueError("fail")
        return [item * 10 for item in items]


def run(queue, *requests, before=None):
    """Returns the results of concurrent requests (kind, items, sizes)."""

    async def gather():
        task = asyncio.create_task(queue.run())
        await asyncio.sleep(0)
        waiting = [asyncio.create_task(queue(*request)) for request in requests]
        await asyncio.sleep(0)
        if before:
            before(waiting)
        found = await asyncio.gather(*waiting, return_exceptions=True)
        task.cancel()
        return found

    return asyncio.run(gather())


def test_requests_that_wait_are_computed_together_and_keep_their_order():
    compute = Recorder()
    found = run(Scheduler(compute, 4, 100), ("a", [1, 2], [1, 1]), ("a", [3], [1]), ("a", [4], [1]))
    assert found == [[10, 20], [30], [40]] and compute.chunks == [("a", [3, 4, 1, 2])]


def test_kinds_are_computed_apart():
    compute = Recorder()
    assert run(Scheduler(compute, 9, 100), ("a", [1], [1]), ("b", [2], [1])) == [[10], [20]]
    assert compute.chunks == [("a", [1]), ("b", [2])]


@pytest.mark.parametrize(
    ("sizes", "chunks"),
    [
        ([1, 1, 1, 1, 1], [[0, 1, 2, 3], [4]]),
        ([2, 1, 2, 1, 1], [[1, 3, 4], [0, 2]]),  # with a 2 there may be two
        ([9, 1, 1], [[1, 2], [0]]),  # longer than a chunk
        ([3, 3], [[0], [1]]),
    ],
)
def test_a_chunk_has_few_positions_with_the_padding(sizes, chunks):
    compute, places = Recorder(), [*range(len(sizes))]
    (found,) = run(Scheduler(compute, 4, 100), ("a", places, sizes))
    assert found == [10 * place for place in places]
    assert [items for _, items in compute.chunks] == chunks


@pytest.mark.parametrize("kind", ["a", "b"])
def test_a_short_request_is_served_between_the_chunks_of_a_long_one(kind):
    compute = Recorder(seconds=0.05)

    async def run_both():
        queue = Scheduler(compute, 4, 1000)
        task = asyncio.create_task(queue.run())
        await asyncio.sleep(0)
        long = asyncio.create_task(queue("a", ["long"] * 8, [4] * 8))
        while not compute.chunks:
            await asyncio.sleep(0.001)
        assert await queue(kind, ["short"], [1]) == ["short" * 10] and not long.done()
        await long
        task.cancel()

    asyncio.run(run_both())
    assert compute.chunks.index((kind, ["short"])) <= 2 and len(compute.chunks) == 9


def test_the_oldest_request_is_never_passed_over_for_long(monkeypatch):
    monkeypatch.setattr(scheduler, "PATIENCE", 2)
    compute = Recorder()
    short = [("a", [f"s{number}"], [2]) for number in range(5)]
    run(Scheduler(compute, 2, 1000), ("a", ["long"], [9]), *short)
    assert [items for _, items in compute.chunks] == [
        ["s0"], ["s1"], ["long"], ["s2"], ["s3"], ["s4"]
    ]  # fmt: skip


def test_the_rest_of_a_cancelled_request_is_not_computed():
    compute = Recorder()
    requests = ("a", ["gone"] * 3, [4] * 3), ("a", [1], [9])
    found = run(Scheduler(compute, 4, 100), *requests, before=lambda tasks: tasks[0].cancel())
    assert isinstance(found[0], asyncio.CancelledError) and found[1] == [10]
    assert compute.chunks == [("a", [1])]


def test_a_failure_reaches_the_requests_of_its_chunk_alone():
    requests = ("a", ["fail"], [1]), ("a", [3], [2])
    first, second = run(Scheduler(Recorder(), 1, 100), *requests)
    assert isinstance(first, ValueError) and second == [30]


@pytest.mark.parametrize("sizes", [(4, 4), (5, 3)])
def test_long_requests_fill_half_of_the_queue_and_short_ones_the_rest(sizes):
    long = [("a", [number], [size]) for number, size in enumerate(sizes)]
    short = [("a", [number], [1]) for number in range(9)]
    *found, refused, first = run(Scheduler(Recorder(), 2, 16), *long, ("a", [0], [3]), short[0])
    assert isinstance(refused, QueueFull) and first == [0] and found == [[0], [10]]
    *found, last = run(Scheduler(Recorder(), 2, 16), *long, *short)
    assert isinstance(last, QueueFull) and found[2:] == [[10 * number] for number in range(8)]
