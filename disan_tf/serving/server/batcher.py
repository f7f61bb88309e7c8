"""Batches of concurrent requests."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Callable

MAX_WAITING = 1000  # requests that wait for the model; later ones are refused


class Busy(Exception):
    """Too many requests wait for the model."""


class Batcher:
    """Computes all waiting requests in one call: the longer a call takes, the more come next.

    Nothing waits on purpose: a request that finds the model free is computed alone.

    Args:
      compute: a list of items -> a sequence with a result for each; it runs in a thread.
      most: the most items in a call; a request may have up to as many.
    """

    def __init__(self, compute: Callable[[list], Sequence], most: int):
        self._compute, self._most = compute, most
        self._waiting: list[tuple[list, asyncio.Future]] = []
        self._has_waiting = asyncio.Event()
        self._thread = ThreadPoolExecutor(1)

    async def __call__(self, items: list) -> Sequence:
        """Returns the results of a request's items, in their order.

        Raises:
          Busy: see there.
        """
        if len(self._waiting) >= MAX_WAITING:
            raise Busy
        result = asyncio.get_running_loop().create_future()
        self._waiting.append((items, result))
        self._has_waiting.set()
        return await result

    async def run(self) -> None:
        """Computes the requests until it is cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await self._has_waiting.wait()
            batch = self._take()
            items = [item for items, _ in batch for item in items]
            try:
                rows = iter(await loop.run_in_executor(self._thread, self._compute, items))
                results = [[next(rows) for _ in items] for items, _ in batch]
            except Exception as error:
                results = [error] * len(batch)
            for (_, future), result in zip(batch, results):
                if future.done():  # its client has gone
                    continue
                if isinstance(result, Exception):
                    future.set_exception(result)
                else:
                    future.set_result(result)

    def _take(self) -> list[tuple[list, asyncio.Future]]:
        """Removes and returns the first requests, with at most `most` items."""
        size, count = 0, 0
        for items, _ in self._waiting:
            size += len(items)
            if count and size > self._most:
                break
            count += 1
        batch, self._waiting = self._waiting[:count], self._waiting[count:]
        if not self._waiting:
            self._has_waiting.clear()
        return batch
