"""One queue for all requests, whose texts are computed in chunks by one thread."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

PATIENCE = 8  # chunks of other requests, after which the oldest request is next


class QueueFull(Exception):
    """The error if the queue has no room for a request."""


class _Request:
    """A request: the indices of waiting items, from large to small, and the results."""

    def __init__(self, kind: str, items: Sequence, sizes: Sequence[int]):
        self.kind, self.items, self.sizes = kind, items, sizes
        self.waiting = sorted(range(len(items)), key=lambda place: (-sizes[place], -place))
        self.size = sum(sizes)  # sum over the items that wait
        self.results: list = [None] * len(items)
        self.missing = len(items)
        self.future = asyncio.get_running_loop().create_future()

    def take(self) -> int:
        """Removes the smallest item that waits; returns its index in the request."""
        place = self.waiting.pop()
        self.size -= self.sizes[place]
        return place

    def put(self, place: int, result: Any) -> None:
        """Sets a result; the last one completes the request."""
        self.results[place] = result
        self.missing -= 1
        if not self.missing and not self.future.done():
            self.future.set_result(self.results)

    def fail(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)


class Scheduler:
    """Computes the items of concurrent requests in chunks, so that no request blocks the others.

    A chunk has items of one kind, from one request or several. The request with the least work left
    is next, but after `PATIENCE` chunks without an item of the oldest request, the oldest is next.
    Requests whose future is cancelled are dropped before their next chunk. A call returns the
    results in the order of the items.

    Args:
      compute: a function (kind, list of items) -> a sequence with a result for each item. It runs
        in a thread.
      chunk: the largest product of a chunk's number of items and their largest size, since texts
        are padded; a larger item is a chunk by itself.
      most: the largest sum of sizes that may wait. A request larger than a chunk may fill only half
        of it, so that large requests never keep small ones out.

    Raises:
      QueueFull: a call would exceed `most`.
    """

    def __init__(self, compute: Callable[[str, list], Sequence], chunk: int, most: int):
        self._compute, self._chunk, self._most = compute, chunk, most
        self._requests: list[_Request] = []  # the oldest first
        self._passed = 0  # chunks without an item of the oldest request
        self._thread = ThreadPoolExecutor(1)
        self._wakes: asyncio.Event
        self.is_computing = False

    def size(self) -> int:
        """Returns the sum of sizes that wait."""
        return sum(request.size for request in self._requests if not request.future.done())

    def count(self) -> int:
        """Returns the number of requests that wait or are computed."""
        return sum(not request.future.done() for request in self._requests)

    async def __call__(self, kind: str, items: Sequence, sizes: Sequence[int]) -> list:
        request = _Request(kind, items, sizes)
        most = self._most if request.size <= self._chunk else self._most // 2
        if self.size() + request.size > most:
            raise QueueFull
        self._requests.append(request)
        self._wakes.set()
        return await request.future

    async def run(self) -> None:
        """Computes chunks until it is cancelled; call this before any request."""
        self._wakes = asyncio.Event()  # of this event loop
        while True:
            self._requests = [it for it in self._requests if it.waiting and not it.future.done()]
            if not self._requests:
                self._wakes.clear()
                await self._wakes.wait()
            elif chunk := self._take():
                await self._compute_chunk(chunk)

    def _take(self) -> list[tuple[_Request, int]]:
        """Removes and returns the items of the next chunk: their requests and indices."""
        oldest = self._requests[0]
        order = sorted(self._requests, key=lambda request: request.size)
        if self._passed >= PATIENCE:
            order.insert(0, oldest)
        chunk: list[tuple[_Request, int]] = []
        largest = 0
        for request in order:
            while request.waiting and request.kind == order[0].kind:
                size = max(largest, request.sizes[request.waiting[-1]])
                if chunk and (len(chunk) + 1) * size > self._chunk:
                    break
                largest = size
                chunk.append((request, request.take()))
        has_oldest = any(request is oldest for request, _ in chunk)
        self._passed = 0 if has_oldest else self._passed + 1
        return chunk

    async def _compute_chunk(self, chunk: list[tuple[_Request, int]]) -> None:
        kind, items = chunk[0][0].kind, [request.items[place] for request, place in chunk]
        loop = asyncio.get_running_loop()
        try:
            results = await loop.run_in_executor(self._thread, self._compute_marked, kind, items)
            for (request, place), result in zip(chunk, results):
                request.put(place, result)
        except Exception as error:
            for request, _ in chunk:
                request.fail(error)

    def _compute_marked(self, kind: str, items: list) -> Sequence:
        self.is_computing = True
        try:
            return self._compute(kind, items)
        finally:
            self.is_computing = False
