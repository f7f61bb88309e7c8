"""data_prep/download: servers that lie, never end, never begin, or lead elsewhere."""

import time
import urllib.request

import pytest

from data_prep.download import web
from data_prep.download.fetch import install
from tests.support.corpora.downloads import (
    BYTES,
    archive_file,
    files,
    leave_part,
    message,
    pinned,
    unpinned,
)


def answer(status, body=b"", **headers):
    """A response to any request."""

    def respond(handler):
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return respond


@pytest.mark.parametrize(
    "status, headers",
    [
        (206, {}),
        (206, {"Content_Range": "bytes 5-9/10"}),
        (206, {"Content_Range": "bytes=50-99/100"}),
        (206, {"Content_Range": "bytes 50-99/" + "9" * 5000}),
        (206, {"Content_Range": "items 50-99/100"}),
        (416, {"Content_Range": "bytes */7"}),
    ],
)
def test_a_part_that_nobody_asked_for_is_refused_after_two_requests(
    server, tmp_path, status, headers
):
    leave_part(tmp_path, b"x" * 50)
    server.respond = answer(status, BYTES, **headers)
    text = message(pinned(), tmp_path, server.url)
    assert "status 206, but the whole file was asked for" in text or (
        status == 416 and "416" in text
    )
    assert server.asked == ["bytes=50-", None]


@pytest.mark.parametrize("archive", [pinned(), unpinned(megabytes=1)], ids=["pinned", "unpinned"])
def test_an_endless_body_ends_at_the_size_in_the_table(server, tmp_path, archive):
    sent = []

    def respond(handler):
        handler.send_response(200)
        handler.end_headers()
        while len(sent) < 5000:  # 320 MB
            handler.wfile.write(b"x" * (1 << 16))
            sent.append(0)

    server.respond = respond
    text = message(archive, tmp_path, server.url)
    assert f"sends more than the {archive.most:,} bytes that the file may have" in text
    assert len(sent) < 1000 and files(tmp_path) == []


@pytest.mark.parametrize(
    "part, response",
    [
        (BYTES[:50], answer(206, b"x" * 9999, Content_Range=f"bytes 50-99/{len(BYTES)}")),
        (
            b"x" * (len(BYTES) + 50),
            answer(206, b"x" * 50, Content_Range=f"bytes {len(BYTES) + 50}-9999/*"),
        ),
        (b"", answer(200, b"x", Content_Length=10**12)),
    ],
    ids=["part", "part_of_all", "length"],
)
def test_a_part_or_a_length_beyond_the_size_in_the_table_is_refused(
    server, tmp_path, part, response
):
    leave_part(tmp_path, part)
    server.respond = response
    assert f"sends more than the {len(BYTES):,} bytes" in message(pinned(), tmp_path, server.url)
    assert files(tmp_path) == []


@pytest.fixture
def short_patience(monkeypatch):
    monkeypatch.setattr(web, "TIMEOUT", 0.3)
    monkeypatch.setattr(web, "MIN_BYTES", 1000)


def _drip(handler):
    for _ in range(300):
        handler.wfile.write(b"x")
        time.sleep(0.05)


def _drip_after(answered):
    def respond(handler):
        answered(handler)
        _drip(handler)

    return respond


def _continue_for_ever(handler):
    for _ in range(300):
        handler.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        time.sleep(0.05)


STALLS = {
    "body": _drip_after(answer(200, Content_Length=len(BYTES))),
    "chunk": _drip_after(answer(200, Transfer_Encoding="chunked")),
    "header": _drip_after(lambda handler: handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")),
    "nothing": lambda handler: time.sleep(3),
    "body never": lambda handler: (answer(200, Content_Length=len(BYTES))(handler), time.sleep(3)),
    "continue": _continue_for_ever,
}


@pytest.mark.parametrize("respond", STALLS.values(), ids=STALLS)
def test_a_server_that_stalls_is_left(server, tmp_path, short_patience, respond):
    server.respond, started = respond, time.monotonic()
    text = message(unpinned(), tmp_path, server.url)
    assert time.monotonic() - started < 3
    assert "fewer than 60,000 bytes in 60 s" in text or "timed out" in text
    assert " stopped after 0 " not in text


def test_what_a_stalled_server_sent_is_kept_and_continued(server, tmp_path, short_patience):
    server.respond = _drip_after(answer(200, BYTES[:100], Content_Length=len(BYTES)))
    text = message(pinned(), tmp_path, server.url)
    assert "(fewer than 60,000 bytes in 60 s); run the same command again to continue" in text
    part = tmp_path / "archives/small.zip.part"
    assert part.read_bytes()[:100] == BYTES[:100]
    part.write_bytes(BYTES[:100])
    server.respond = None
    install(pinned(), tmp_path, server.url)
    assert archive_file(tmp_path).read_bytes() == BYTES


@pytest.mark.parametrize(
    "address", ["ftp://127.0.0.1/small.zip", "file:///etc/passwd", "data:,x", "//[", "javascript:0"]
)
def test_redirects_to_other_schemes_are_refused(server, tmp_path, address, monkeypatch):
    monkeypatch.setenv("ftp_proxy", server.url)  # by which urllib would follow it
    server.respond = answer(302, Location=address)
    assert "cannot be fetched" in message(pinned(), tmp_path, server.url)
    assert server.asked == [None] and files(tmp_path) == []


def test_redirects_by_http_are_followed_without_reading_their_bodies(server, tmp_path):
    def respond(handler):
        if "elsewhere" in handler.path:
            return answer(200, BYTES)(handler)
        answer(302, Location="/elsewhere/small.zip")(handler)
        while True:  # until the client hangs up
            handler.wfile.write(b"x" * (1 << 16))

    server.respond = respond
    install(pinned(), tmp_path, server.url)
    assert archive_file(tmp_path).read_bytes() == BYTES


@pytest.mark.parametrize(
    "start, target, is_followed",
    [
        ("https://a.example/x", "http://b.example/x", False),
        ("https://a.example/x", "https://b.example/x", True),
        ("http://a.example/x", "http://b.example/x", True),
        ("http://a.example/x", "https://b.example/x", True),
    ],
)
def test_redirects_do_not_leave_https(start, target, is_followed):
    request = urllib.request.Request(start)
    follow = web.Redirects().redirect_request
    if is_followed:
        assert follow(request, None, 302, "Found", {}, target).full_url == target
    else:
        with pytest.raises(ValueError, match="it redirects from https to 'http://b"):
            follow(request, None, 302, "Found", {}, target)


def test_redirects_in_a_circle_end(server, tmp_path):
    server.respond = answer(302, Location="/mirror/small.zip")
    assert "cannot be fetched" in message(pinned(), tmp_path, server.url)
    assert len(server.asked) < 20


@pytest.mark.parametrize("address", ["ftp://127.0.0.1/", "file:///data/", "nonsense"])
def test_mirrors_of_other_schemes_are_refused(tmp_path, address):
    assert "is not an address of http or https" in message(pinned(), tmp_path, address)


def test_a_reason_of_a_server_stays_on_its_line(server, tmp_path):
    def respond(handler):
        handler.wfile.write(b"HTTP/1.1 500 first\x0bsecond\x1b[31m\x85third" + b"!" * 5000)
        handler.wfile.write(b"\r\n\r\n")

    server.respond = respond
    text = message(pinned(), tmp_path, server.url)
    assert text.isprintable() and len(text) < 1000 and "first second" in text
