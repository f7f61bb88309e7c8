"""`--mode=serve`: responses, limits, and requests that are refused."""

import json

import numpy as np
import pytest

from disan_tf.serving.inference.model import LoadedModel, load_reader
from tests.support.http import call, running
from tests.support.models.slow_texts import SlowTexts

for module in ("fastapi", "uvicorn", "prometheus_client"):
    pytest.importorskip(module)

from disan_tf.serving.server import app  # noqa: E402
from disan_tf.serving.server.app import Application  # noqa: E402
from disan_tf.serving.server.guard import MAX_BYTES  # noqa: E402
from disan_tf.serving.server.service import Limits  # noqa: E402
from disan_tf.serving.server.texts import TextModel  # noqa: E402

TEXTS = ["the film is not dull .", "the plot is superb , but the acting is awful .", "", "zzzz"]
MARK = "do-not-repeat"  # stands in bodies that are refused


@pytest.fixture(scope="module")
def model(loaded):
    return loaded("demo")


@pytest.fixture(scope="module")
def address():
    with running(Application(TextModel(load_reader("demo")), "demo", Limits())) as address:
        yield address


@pytest.fixture(scope="module")
def words():
    """The address of a model whose tokens are words, with low limits."""
    with running(Application(SlowTexts(), "words", Limits(10, 6, 30.0))) as address:
        yield address


def test_predictions_and_vectors_are_those_of_the_model(address, model):
    status, found = call(address, "/predict", {"texts": TEXTS})
    assert status == 200 and found == {"predictions": model.predict(TEXTS)}
    assert found["predictions"][2]["blank"] and found["predictions"][3]["no_known_word"]
    _, found = call(address, "/encode", {"texts": TEXTS})
    np.testing.assert_allclose(found["vectors"], model.encode(TEXTS), atol=1e-6)


def test_the_most_probable_classes_are_those_of_the_model(address, model):
    _, found = call(address, "/predict", {"texts": TEXTS, "top_k": 1})
    assert found["predictions"] == model.predict(TEXTS, top_k=1)


def test_results_of_many_texts_of_all_lengths_keep_their_order(address, model):
    texts = [" ".join(["good", "film"] * (number * 7 % 23)) for number in range(100)]
    _, found = call(address, "/predict", {"texts": texts})
    labels = [prediction["label"] for prediction in found["predictions"]]
    assert labels == [prediction["label"] for prediction in model.predict(texts)]
    _, found = call(address, "/encode", {"texts": texts})
    np.testing.assert_allclose(found["vectors"], model.encode(texts), atol=1e-5)


def test_a_model_of_pairs_reads_objects(sick_bundle):
    pair = {"sentence_a": "a good film", "sentence_b": "boring"}
    with running(Application(TextModel(sick_bundle), "sick", Limits(8, 4, 30))) as address:
        _, found = call(address, "/predict", {"texts": [pair]})
        assert found == {"predictions": LoadedModel(sick_bundle).predict([pair])}
        for wrong, place in (
            (["a", "b"], "texts[0]: Input should be an object with the fields that /health names."),
            ("a", "texts[0]: Input should be an object with the fields that /health names."),
            ({**pair, "text": "c"}, "texts[0].text"),
            ({"sentence_a": "a"}, "texts[0].sentence_b"),
        ):
            status, found = call(address, "/predict", {"texts": [wrong]})
            assert status == 422 and found["detail"].startswith(place)
        pair["sentence_b"] = "very boring"
        status, found = call(address, "/predict", {"texts": [pair]})
        assert found["detail"] == "texts[0] has 5 tokens, and may have at most 4."
        status, found = call(address, "/encode", {"texts": [pair["sentence_a"]]})
        assert status == 200 and len(found["vectors"]) == 1


def test_the_pages_for_operators_and_the_description(address, model):
    health = {"status": "ok", "model": "demo", "fields": ["text"], "classes": list(model.classes)}
    assert call(address, "/health") == (200, health)
    assert call(address, "/ready") == (200, {"status": "ready"})
    for path in ("/health", "/ready", "/metrics"):
        assert call(address, path, method="HEAD") == (200, None)
    _, described = call(address, "/openapi.json")
    assert set(described["paths"]) == {"/health", "/ready", "/metrics", "/predict", "/encode"}
    for path in ("/predict", "/encode"):
        post = described["paths"][path]["post"]
        assert set(post["responses"]) == {"200", "413", "415", "422", "503"} and post["description"]


@pytest.mark.parametrize("path", ["/predict", "/encode"])
@pytest.mark.parametrize(
    ("lengths", "reason"),
    [
        ([6, 4], None),
        ([1] * 10, None),
        ([6, 5], "The request has 11 tokens, and may have at most 10."),
        ([1] * 11, "The request has 11 tokens, and may have at most 10."),
        ([1, 7, 2], "texts[1] has 7 tokens, and may have at most 6."),
        ([11], "The request has 11 tokens, and may have at most 10."),
    ],
)
def test_the_tokens_of_a_request_and_of_a_text_are_limited(words, path, lengths, reason):
    status, found = call(words, path, {"texts": [" ".join(["a"] * it) for it in lengths]})
    assert (status, found.get("detail")) == (422 if reason else 200, reason)


def test_a_text_without_a_word_counts_as_a_token(words):
    assert call(words, "/predict", {"texts": [""] * 10})[0] == 200
    assert call(words, "/predict", {"texts": [""] * 11})[0] == 422


REFUSED = [
    ({"texts": []}, 422, "texts: List should have at least 1 item"),
    ({"texts": ["a"] * (app.MAX_TEXTS + 1)}, 422, "texts: List should have at most 256 items"),
    ({"texts": [MARK * 300]}, 422, "The request has 3,900 characters, and may have at most 160."),
    ({"texts": ["a"], "top_k": 0}, 422, "top_k: Input should be greater than or equal to 1"),
    ({"texts": ["a"], "top_k": "1"}, 422, "top_k: Input should be a valid integer."),
    ({"texts": ["a"], "top_k": True}, 422, "top_k: Input should be a valid integer."),
    ({"texts": ["a"], "topk": 1}, 422, "topk is no field of this request; did you mean top_k?"),
    ({"texts": ["a"], "x" * 10**5: 1}, 422, f"{'x' * 80} ... is no field"),
    ({"texts": MARK}, 422, "texts: Input should be a valid list."),
    ({"texts": ["a", 3, MARK]}, 422, "texts[1]: Input should be a valid string."),
    ({"texts": [None]}, 422, "texts[0]: Input should be a valid string."),
    ({}, 422, "texts: Field required."),
    ([MARK], 422, "The body is not a JSON object."),
    (b"", 422, "The body is not JSON (Expecting value, column 1)."),
    (b'{"texts": ["a"], "texts": ["b"]}', 422, "the key 'texts' is repeated"),
    (b'{"texts": ["a"], "x": NaN}', 422, "NaN is not a number of JSON"),
    (b'{"texts": ["a"], "top_k": -Infinity}', 422, "-Infinity is not a number of JSON"),
    (b'{"texts": ["a"], "top_k": 1e999}', 422, "1e999 is not a number of JSON"),
    (b'{"texts": ["a"], "top_k": 1%se999}' % (b"0" * 10**5), 422, "The body is not JSON"),
    (b'{"texts": ["a"], "top_k": %s}' % (b"9" * 10**5), 422, "The body is not JSON"),
    (b'{"texts": ["\\u0041"], "x": %s}' % (b"[" * 977 + b"]" * 977), 422, "more than 100 levels"),
    (rb'{"texts": ["\ud800"]}', 422, r"\ud800 is half of a surrogate pair"),
    (rb'{"\udfff": 1}', 422, r"\udfff is half of a surrogate pair"),
    ('{"texts": ["é"]}'.encode("latin-1"), 422, "The body is not UTF-8 at byte 12."),
    ('{"texts": ["a"]}'.encode("utf-16"), 422, "The body is not UTF-8 at byte 0."),
    (b"[" * 10**5, 422, "The body is JSON with more than 100 levels"),
    (b'{"texts": ' + b"[" * 99 + b"]" * 99 + b"}", 422, "texts[0]"),
    (b" " * (MAX_BYTES + 1), 413, "A request may have at most 1,048,576 bytes."),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status", "reason"), REFUSED, ids=map(str, range(len(REFUSED))))
def test_a_refusal_is_one_short_sentence_that_does_not_repeat_the_body(words, body, status, reason):
    found = call(words, "/predict", body)
    assert found[0] == status and [*found[1]] == ["detail"] and reason in found[1]["detail"]
    assert len(json.dumps(found[1])) < 300 and MARK not in found[1]["detail"]


def test_a_field_of_another_request_is_not_suggested(words):
    found = call(words, "/encode", {"texts": ["a"], "top_k": 1})
    assert found == (422, {"detail": "top_k is no field of this request."})


@pytest.mark.parametrize("sent", ["", "text/plain", "application/x-www-form-urlencoded"])
def test_a_body_of_another_type_is_refused(words, sent):
    found = call(words, "/predict", {"texts": ["a"]}, {"Content-Type": sent})
    assert found == (415, {"detail": "The header Content-Type must be application/json."})


@pytest.mark.parametrize("sent", ["application/json; charset=utf-8", "Application/JSON"])
def test_json_has_parameters_and_capitals(words, sent):
    assert call(words, "/predict", {"texts": ["a"]}, {"Content-Type": sent})[0] == 200


def test_an_error_of_the_model_is_no_page_of_html(words):
    found = call(words, "/predict", {"texts": ["fail"]})
    assert found == (500, {"detail": "Internal error; the server's log describes it."})
    assert call(words, "/predict", {"texts": ["a"]})[0] == 200


UNKNOWN = {f"k{number}": 0 for number in range(50_000)}


@pytest.mark.parametrize(
    ("fields", "body", "place"),
    [
        (["text"], {"texts": ["a"], **UNKNOWN}, "k0"),
        (["one", "two"], {"texts": [{"one": "a", "two": "b", **UNKNOWN}]}, "texts[0].k0"),
    ],
)
def test_many_unknown_fields_are_one_error(fields, body, place, monkeypatch):
    counts, errors = [], app.RequestValidationError.errors

    def counted(error):
        counts.append(len(errors(error)))
        return errors(error)

    monkeypatch.setattr(app.RequestValidationError, "errors", counted)
    model = SlowTexts()
    model.fields = fields
    with running(Application(model, "slow", Limits())) as address:
        status, found = call(address, "/predict", body)
    assert status == 422 and found["detail"].startswith(f"{place} is no field of this request")
    assert counts == [1]
