"""Wrong requests to `--mode=serve`, of six kinds, drawn at random."""

import json
import random
from typing import Callable

VALID = {"texts": ["the plot is superb , but the acting is awful .", "dull"], "top_k": 1}
VALUES = [None, True, 0, -1, 1.5, 1e308, 2**64, 10**300, "", "3", "texts", [], {}, [[]], [{}]]
SURROGATES = (0xD800, 0xDFFF)
ODD = [  # ranges of characters: controls, spaces, marks, direction, private, the last
    (0x00, 0x1F), (0x7F, 0xA0), (0x300, 0x36F), (0x5D0, 0x700), (0x2000, 0x206F), (0x3040, 0x30FF),
    (0xE000, 0xE0FF), (0xFB00, 0xFFFF), (0x1F300, 0x1F9FF), (0xE0000, 0xE01FF),
    (0x10FFF0, 0x10FFFF),
]  # fmt: skip
METHODS = ["GET", "PUT", "HEAD", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "post", "X" * 99]
PATHS = ["/predict", "/encode", "/", "/health", "/ready", "/metrics", "/docs", "/openapi.json"]
TYPES = ["", "text/plain", "application/json; charset=utf-16", "application/jsonp", "a/b/c; =", "é"]


def post(body: bytes, path: str = "/predict", *headers: str) -> bytes:
    """Returns a request; further headers come first."""
    kind = [] if any(it.lower().startswith("content-type") for it in headers) else [
        "Content-Type: application/json"
    ]  # fmt: skip
    lines = [f"POST {path} HTTP/1.1", "Host: x", *headers, *kind, f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogatepass") + body


def broken(draw: random.Random) -> bytes:
    """Returns JSON of which bytes were removed, added, repeated or changed."""
    body = bytearray(json.dumps(VALID, ensure_ascii=draw.random() < 0.5).encode())
    for _ in range(draw.randint(1, 6)):
        place, end = sorted(draw.randrange(len(body) + 1) for _ in range(2))
        change = draw.choice(["remove", "add", "repeat", "cut", "mark"])
        if change == "remove":
            del body[place : min(end, place + 4)]
        elif change == "add":
            body[place:place] = draw.randbytes(draw.randint(1, 4))
        elif change == "repeat":
            body[place:place] = body[place:end]
        elif change == "cut":
            del body[end:]
        else:
            body[place:place] = draw.choice(
                [b'"', b"\\", b"NaN", b"{", b"]", b"\\u12", b"/*", b","]
            )
    return post(bytes(body))


def types(draw: random.Random) -> bytes:
    """Returns JSON with values of other types, and other fields."""
    content = json.loads(json.dumps(VALID))
    for _ in range(draw.randint(1, 3)):
        value = draw.choice([*VALUES, VALID, [draw.choice(VALUES)] * draw.choice([1, 300])])
        place = draw.randrange(4)
        if place == 0:
            content["texts"] = value
        elif place == 1 and isinstance(content.get("texts"), list):
            content["texts"].append(value)
        elif place == 2:
            content["top_k"] = value
        else:
            content[draw.choice(["topk", "text", "", "x" * 999, "__class__", "Texts"])] = value
    if draw.random() < 0.1:
        content = draw.choice(VALUES)
    return post(json.dumps(content).encode(), draw.choice(["/predict", "/encode"]))


def unicode(draw: random.Random) -> bytes:
    """Returns JSON with strange characters, escaped, in UTF-8 or in another encoding."""
    ranges = [*ODD, SURROGATES] if draw.random() < 0.2 else ODD

    def text() -> str:
        odd = [chr(draw.randint(*draw.choice(ranges))) for _ in range(draw.randint(0, 40))]
        return "".join(character + draw.choice(["", " ", "a", "'"]) for character in odd)

    content = {"texts": [text() for _ in range(draw.randint(1, 4))]}
    if draw.random() < 0.2:
        content[text()] = text()
    body = json.dumps(content, ensure_ascii=draw.random() < 0.5)
    coding = draw.choice(["utf-8"] * 12 + ["utf-16", "utf-32", "utf-7", "utf-8-sig"])
    return post(body.encode(coding, "surrogatepass" if coding != "utf-7" else "replace"))


def nested(draw: random.Random) -> bytes:
    """Returns deep and large JSON, up to 2 MiB."""
    size = int(10 ** draw.uniform(1, 6.3))
    content = draw.choice([
        lambda: b"[" * size,
        lambda: b"[" * (size // 2) + b"]" * (size // 2),
        lambda: b'{"texts":' * (size // 9) + b"1" + b"}" * (size // 9),
        lambda: b'{"texts": ' + b"[" * (size // 2) + b"]" * (size // 2) + b"}",
        lambda: b'{"texts": ["' + b"a " * (size // 2) + b'"]}',
        lambda: b'{"texts": ["' + b"a" * size + b'"]}',
        lambda: b'{"texts": ["' + b"\\u0027" * (size // 6) + b'"]}',
        lambda: json.dumps({"texts": ["a"] * (size // 5)}).encode(),
        lambda: json.dumps({str(number): number for number in range(size // 12)}).encode(),
        lambda: b'{"texts": ["a"], "top_k": ' + b"9" * size + b"}",
        lambda: b'{"texts": ["a"], "top_k": 1e' + b"9" * size + b"}",
        lambda: b'{"texts": ["a"], "' + b"x" * size + b'": 1}',
        lambda: draw.randbytes(size),
        lambda: b" " * size,
    ])  # fmt: skip
    return post(content(), draw.choice(["/predict", "/encode"]))


def headers(draw: random.Random) -> bytes:
    """Returns requests with wrong methods, paths, headers, lengths and versions."""
    body = json.dumps(VALID).encode()
    length = draw.choice(["-1", "x", "1e3", "9" * 20, "5", "0", "999"])
    path = draw.choice([*PATHS, "/%00", "/é", "/" + "a" * draw.choice([1, 9999, 99999]), "*", "//"])
    other = draw.choice([
        f"Content-Type: {draw.choice(TYPES)}",
        "Transfer-Encoding: chunked",
        f"Content-Length: {length}",
        f"X-{draw.randint(0, 9)}: {'y' * draw.choice([1, 5000, 99999])}",
        "Connection: upgrade\r\nUpgrade: websocket",
        "Expect: 100-continue",
        "Content-Encoding: gzip",
        "no colon",
        f"Host: {draw.choice(['', 'a' * 999, 'é'])}",
        "\x00: \x01",
    ])  # fmt: skip
    request = post(body, path, other)
    if draw.random() < 0.5:
        request = request.replace(b"POST", draw.choice(METHODS).encode(), 1)
    if draw.random() < 0.2:
        version = draw.choice([b"HTTP/1.0", b"HTTP/2.0", b"HTTP/9", b"", b"ICY/1.1"])
        request = request.replace(b"HTTP/1.1", version, 1)
    if draw.random() < 0.1:
        request = request.replace(b"\r\n", b"\n")
    return request


def values(draw: random.Random) -> bytes:
    """Returns requests with numbers and sizes at the limits and far outside of them."""
    most = draw.choice([1, 2, 128, 255, 256, 257, 1000])
    words = draw.choice([0, 1, 15, 16, 17, 2047, 2048, 2049, 4096, 4097])
    most = min(most, max(1, 9000 // max(1, words)))
    top_k = draw.choice([-(2**63), -1, 0, 1, 2, 3, 2**31, 2**63, 10**300, 1.0, 1e308, -0.0])
    content = {"texts": [" ".join(["a"] * words)] * most, "top_k": top_k}
    if draw.random() < 0.7:
        del content["top_k"]
    return post(json.dumps(content).encode(), draw.choice(["/predict", "/encode"]))


KINDS: dict[str, Callable[[random.Random], bytes]] = {
    function.__name__: function for function in (broken, types, unicode, nested, headers, values)
}
