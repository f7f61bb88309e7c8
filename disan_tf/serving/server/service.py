"""Predictions and vectors for concurrent requests, within limits."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import NamedTuple

from fastapi import FastAPI
from starlette.exceptions import HTTPException

from disan_tf.serving.server.scheduler import QueueFull, Scheduler
from disan_tf.serving.server.texts import TextModel

CHARACTERS = 16  # characters that a request may have for each token that it may have
CHUNK = 1024  # tokens of short texts that are computed together, in some 0.05 seconds
MAX_WAITING = 1 << 16  # tokens that wait for the model, which takes some ten seconds


class Limits(NamedTuple):
    """The tokens that a request and a text may have, and the seconds that a request may take."""

    request_tokens: int = 4096
    text_tokens: int = 2048
    timeout: float = 30.0


class Service:
    """Predictions and vectors of a model, within limits."""

    def __init__(self, model: TextModel, limits: Limits):
        self._model, self._limits = model, limits
        waiting = max(MAX_WAITING, 2 * limits.request_tokens)
        self._tokens = Scheduler(model.tokens, CHARACTERS * CHUNK, CHARACTERS * waiting)
        self.queue = Scheduler(model.compute, CHUNK, waiting)

    @property
    def is_computing(self) -> bool:
        """Whether a thread computes, which nothing can interrupt."""
        return self._tokens.is_computing or self.queue.is_computing

    @contextlib.asynccontextmanager
    async def running(self, _: FastAPI) -> AsyncIterator[None]:
        """Computes requests while the application runs."""
        tasks = [asyncio.create_task(queue.run()) for queue in (self._tokens, self.queue)]
        await asyncio.sleep(0)  # they begin
        yield
        for task in tasks:
            task.cancel()

    async def __call__(self, kind: str, texts: list) -> list:
        """Returns the results of a request's texts; raises HTTPException if it is refused."""
        (field, *others), limits = self._model.fields_of(kind), self._limits
        records = [text.model_dump() if others else {field: text} for text in texts]
        sizes = [sum(map(len, record.values())) for record in records]
        _check("The request", sum(sizes), CHARACTERS * limits.request_tokens, "characters")
        try:
            tokens = await self._tokens(kind, records, [max(1, size) for size in sizes])
            sizes = [sum(map(len, sentences)) for sentences in tokens]
            _check("The request", sum(sizes), limits.request_tokens, "tokens")
            place = max(range(len(sizes)), key=lambda place: sizes[place])
            _check(f"texts[{place}]", sizes[place], limits.text_tokens, "tokens")
            return await self.queue(kind, tokens, sizes)
        except QueueFull:
            raise HTTPException(503, "Too many texts wait; try again later.") from None


def _check(what: str, size: int, most: int, unit: str) -> None:
    if size > most:
        raise HTTPException(422, f"{what} has {size:,} {unit}, and may have at most {most:,}.")
