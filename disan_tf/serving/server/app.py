"""The HTTP application of a model: its pages, and what a request may contain."""

from typing import Annotated, Optional

from fastapi import FastAPI, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from disan_tf.common.checks import suggestion
from disan_tf.common.installation import VERSION
from disan_tf.serving.server.guard import MAX_BYTES, STOPPING, Guard, refusal, shorten
from disan_tf.serving.server.monitor import Monitor
from disan_tf.serving.server.service import Limits, Service
from disan_tf.serving.server.texts import ENCODE, PREDICT, TextModel

MAX_TEXTS = 256  # in a request


class Refusal(BaseModel):
    """The body of a response that refuses a request."""

    detail: str


class _Strict(BaseModel):
    """Base of a request and of a pair of texts; refuses unknown fields.

    Only the first unknown field is kept before validation, because pydantic would create an error
    for each, which takes long for a body with many.
    """

    model_config = ConfigDict(strict=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def keep_one_unknown_field(cls, values):
        if not isinstance(values, dict):
            return values
        unknown = next((name for name in values if name not in cls.model_fields), None)
        return {name: values[name] for name in (*cls.model_fields, unknown) if name in values}


_FIELDS = ("texts", "top_k")
_TopK = Optional[
    Annotated[int, Field(ge=1, description="number of most probable classes (default: all)")]
]


_REFUSALS = {
    status: {"model": Refusal, "description": description}
    for status, description in {
        413: f"A request may have at most {MAX_BYTES:,} bytes.",
        415: "The header Content-Type must be application/json.",
        422: "A request must be JSON with the fields above, and within the limits.",
        503: "Too many texts wait, the request took too long, or the server is stopping.",
    }.items()
}


class Application:
    """The ASGI application of a model, whose page `/docs` describes requests and responses.

    A text is a string, or for models of pairs an object with the two texts. Models that read only
    pairs lack `/encode`.

    Attributes:
      service: computes the requests.
      guard: knows the requests that run.
    """

    def __init__(self, model: TextModel, name: str, limits: Limits):
        self.service = Service(model, limits)
        registry = CollectorRegistry()
        app = FastAPI(title=name, version=VERSION, lifespan=self.service.running)
        self.guard = Guard(app, limits.timeout)
        paths = _add_pages(app, name, model, self.guard, registry)
        paths += _add_computations(app, model, self.service)
        _add_refusals(app)
        self._app = Monitor(self.guard, self.service.queue, paths, registry)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def _add_pages(app: FastAPI, name: str, model: TextModel, guard: Guard, registry) -> list[str]:
    """Adds the pages for operators; returns their paths."""

    async def health() -> dict:
        """Names the model, the fields of a text, and the classes."""
        return {"status": "ok", "model": name, "fields": model.fields, "classes": model.classes}

    async def ready() -> Response:
        """Responds with the status 503 after the server has received a signal to stop."""
        if guard.is_stopping:
            return refusal(503, STOPPING)
        return JSONResponse({"status": "ready"})

    async def metrics() -> Response:
        """Returns metrics for Prometheus: requests, latency, waiting tokens and memory."""
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    pages = {"/health": health, "/ready": ready, "/metrics": metrics}
    for path, page in pages.items():
        app.get(path)(page)
        app.head(path, include_in_schema=False)(page)
    return [*pages]


def _add_computations(app: FastAPI, model: TextModel, service: Service) -> list[str]:
    """Adds a path for each kind of request that the model has; returns the paths."""
    pair = create_model("Pair", __base__=_Strict, **dict.fromkeys(model.fields, (str, ...)))
    one = str if len(model.fields) == 1 else pair
    Predict = create_model("Predict", __base__=_Strict, texts=_texts(one), top_k=(_TopK, None))
    Encode = create_model("Encode", __base__=_Strict, texts=_texts(str))

    async def predict(request: Predict) -> dict:
        """Returns `predictions`: for each text its label and probabilities, or its score."""
        predictions = await service(PREDICT, request.texts)
        return {"predictions": [_first(it, request.top_k) for it in predictions]}

    async def encode(request: Encode) -> Response:
        """Returns `vectors`, a list of numbers for each text."""
        vectors = await service(ENCODE, request.texts)
        return Response(f'{{"vectors": [{", ".join(vectors)}]}}', media_type="application/json")

    functions = {PREDICT: predict, ENCODE: encode}
    for kind in model.kinds:
        app.post(f"/{kind}", responses=_REFUSALS)(functions[kind])
    return [f"/{kind}" for kind in model.kinds]


def _texts(kind):
    return (Annotated[list[kind], Field(min_length=1, max_length=MAX_TEXTS)], ...)


def _first(prediction: dict, top_k: Optional[int]) -> dict:
    """Returns a prediction with its `top_k` most probable classes, see `LoadedModel.predict`."""
    if not top_k:
        return prediction
    known = {} if "blank" in prediction else prediction["probabilities"]
    ranked = sorted(known.items(), key=lambda item: -item[1])
    return {**prediction, "probabilities": dict(ranked[:top_k])}


def _add_refusals(app: FastAPI) -> None:
    """Makes every error a short `Refusal` that does not repeat the request."""

    @app.exception_handler(HTTPException)
    async def refuse(_, error: HTTPException) -> Response:
        response = refusal(error.status_code, error.detail)
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(RequestValidationError)
    async def refuse_fields(_, error: RequestValidationError) -> Response:
        return refusal(422, _sentence(error.errors()[0]))

    @app.exception_handler(Exception)
    async def fail(_, error: Exception) -> Response:
        return refusal(500, "Internal error; the server's log describes it.")


def _sentence(error: dict) -> str:
    """Describes the first error in a request's fields."""
    _, *path = error["loc"]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    place = shorten(place.lstrip("."), 80)
    if error["type"] == "extra_forbidden":
        known = _FIELDS if place not in _FIELDS else ()  # "top_k" is a field of other requests
        return f"{place} is no field of this request{suggestion(place, known)}"
    if error["type"] == "model_attributes_type":
        return f"{place}: Input should be an object with the fields that /health names."
    return f"{place or 'The body'}: {error['msg']}."
