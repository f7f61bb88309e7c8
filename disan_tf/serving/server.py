"""`--mode=serve`: predictions and vectors of a trained model over HTTP."""

import asyncio
import contextlib
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Callable, Optional

import uvicorn
from fastapi import FastAPI, HTTPException
from pydantic import Field, create_model

from disan_tf.common.errors import Stopped, UserError
from disan_tf.common.installation import VERSION
from disan_tf.encoders.base import SentenceEncoder
from disan_tf.serving.inference.model import LoadedModel

MAX_BYTES = 1 << 20  # of a request's body
MAX_TEXTS = 256  # of a request, and of a batch
MAX_CHARACTERS = 10_000  # of a text
MAX_WAITING = 1000  # requests that wait for the model; later ones are refused
_STOPPING = 30  # seconds that running requests have after SIGTERM

Text = Annotated[str, Field(max_length=MAX_CHARACTERS)]
_TopK = Optional[
    Annotated[int, Field(ge=1, description="number of most probable classes (default: all)")]
]
_REFUSED = {  # status -> its description; a request that does not fit the schema has 422
    413: {"description": f"A request may have at most {MAX_BYTES:,} bytes."},
    503: {"description": "Too many requests wait; try again later."},
}


def make_app(model: LoadedModel, name: str) -> FastAPI:
    """Makes the application of a model, whose page `/docs` describes requests and responses.

    A text is a string, or for models of pairs an object with the two texts. Models that read only
    pairs lack `/encode`.
    """
    predictions = Batcher(model.predict, MAX_TEXTS)
    vectors = Batcher(lambda texts: model.encode(texts).tolist(), MAX_TEXTS)

    @contextlib.asynccontextmanager
    async def computing(_):
        running = [asyncio.create_task(batcher.run()) for batcher in (predictions, vectors)]
        yield
        for task in running:
            task.cancel()

    app = FastAPI(title=name, version=VERSION, lifespan=computing)
    app.add_middleware(BodyLimit)
    pair = create_model("Pair", **dict.fromkeys(model.fields, (Text, ...)))
    one = Text if len(model.fields) == 1 else pair
    Predict = create_model("Predict", texts=_texts(one), top_k=(_TopK, None))
    Encode = create_model("Encode", texts=_texts(Text))

    @app.get("/health")
    async def health() -> dict:
        """Names the model, the fields of a text, and the classes."""
        return {"status": "ok", "model": name, "fields": model.fields, "classes": model.classes}

    @app.post("/predict", responses=_REFUSED)
    async def predict(request: Predict) -> dict:
        """Returns `predictions`: for each text its label and probabilities, or its score."""
        texts = [text if isinstance(text, str) else text.model_dump() for text in request.texts]
        predicted = await predictions(texts)
        return {"predictions": [_first(prediction, request.top_k) for prediction in predicted]}

    async def encode(request: Encode) -> dict:
        """Returns `vectors`, a list of numbers for each text."""
        return {"vectors": await vectors(request.texts)}

    if isinstance(model.encoder, SentenceEncoder):
        app.post("/encode", responses=_REFUSED)(encode)
    return app


def _texts(kind):
    return (Annotated[list[kind], Field(min_length=1, max_length=MAX_TEXTS)], ...)


def _first(prediction: dict, top_k: Optional[int]) -> dict:
    """Returns a prediction with its `top_k` most probable classes, see `LoadedModel.predict`."""
    if not top_k or "blank" in prediction:
        return prediction
    ranked = sorted(prediction["probabilities"].items(), key=lambda item: -item[1])
    return {**prediction, "probabilities": dict(ranked[:top_k])}


class Batcher:
    """Computes all waiting requests in one call: the longer a call takes, the more come next.

    Nothing waits on purpose. A call returns the results of a request's items; if too many requests
    wait, it raises a response of the status 503.

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
        if len(self._waiting) >= MAX_WAITING:
            raise HTTPException(503, _REFUSED[503]["description"])
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


class BodyLimit:
    """Refuses bodies of more than `MAX_BYTES` while they are read."""

    def __init__(self, app):
        self._app = app

    async def __call__(self, scope, receive, send):
        read = 0

        async def receive_some():
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > MAX_BYTES:
                raise HTTPException(413, _REFUSED[413]["description"])
            return message

        await self._app(scope, receive_some, send)


def serve(model: LoadedModel, name: str, host: str, port: int) -> None:
    """Serves a model until SIGTERM or Control-C; running requests are finished first.

    Raises:
      UserError: the address cannot be used.
    """
    if not 0 <= port < 1 << 16:
        raise UserError(f"--port={port} must be from 0 to 65535.")
    example = "A text." if len(model.fields) == 1 else dict.fromkeys(model.fields, "A text.")
    model.predict([example])  # compiles it
    app = make_app(model, name)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=_STOPPING)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        bound = socket.create_server((host, port), family=family)
    except OSError as error:
        raise UserError(f"--host={host} --port={port}: {error}; choose another address.") from None
    print(f"{name}: http://{host}:{bound.getsockname()[1]}/docs", flush=True)
    with contextlib.suppress(Stopped, KeyboardInterrupt):  # raised again after the shutdown
        uvicorn.Server(config).run([bound])
