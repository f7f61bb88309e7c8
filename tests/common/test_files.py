"""disan_tf/common/files.py: errors name the line and the byte."""

import hashlib
import json

import pytest

from disan_tf.common import atomic, files
from disan_tf.common.errors import UserError


def test_json_comes_back_as_written(tmp_path):
    value = {"name": "naïve", "list": [1, 2.5, None]}
    atomic.write_json(tmp_path / "a.json", value)
    assert files.read_json(tmp_path / "a.json", "") == value
    assert "naïve" in (tmp_path / "a.json").read_text(encoding="utf-8")


def test_missing_json_is_named_with_the_remedy(tmp_path):
    with pytest.raises(UserError, match=r"a\.json does not exist: do this\.$"):
        files.read_json(tmp_path / "a.json", "do this")


def test_json_with_a_repeated_key_or_too_long_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_text('{"a": {"b": 1, "c": 2, "b": 3}}')
    with pytest.raises(UserError, match=r"a.json is not readable JSON \(the key 'b' is repeated\)"):
        files.read_json(path, "do this")
    monkeypatch.setattr(files, "LONGEST_JSON", 20)
    path.write_text(json.dumps({"a": "b" * 11}))
    assert len(files.read_json(path, "do this")["a"]) == 11
    path.write_text(json.dumps({"a": "b" * 12}))
    with pytest.raises(UserError, match="a.json has more than 20 bytes of JSON: do this"):
        files.read_json(path, "do this")


def _lines(tmp_path, content, **options):
    path = tmp_path / "lines.txt"
    path.write_bytes(content)
    return list(files.read_lines(path, **options))


def test_lines_are_numbered_from_one_and_lose_their_ends(tmp_path):
    found = _lines(tmp_path, b"one\r\n\n two \nlast")
    assert found == [*enumerate(["one", "", " two ", "last"], start=1)]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r"])
def test_only_a_newline_ends_a_line(tmp_path, separator):
    text = f"left{separator}right"
    assert _lines(tmp_path, f"{text}\nnext\n".encode()) == [(1, text), (2, "next")]


def test_a_byte_that_does_not_decode_is_named_with_line_and_column(tmp_path):
    with pytest.raises(UserError) as refusal:
        _lines(tmp_path, b"good\nbad \xe9t\xe9\n")
    message = str(refusal.value)
    assert f"{tmp_path / 'lines.txt'}, line 2: byte 0xe9 at column 5 is not UTF-8" in message
    assert "convert the file" in message


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b'{"a": "\xff"}', b"[]", b"null"),
        pytest.param(b"[" * 100_000, id="nested a lot"),
        pytest.param(b'{"a": ' + b"[" * 100 + b"]" * 100 + b"}", id="nested"),
        pytest.param(b'{"a": ' + b"1" * 400 + b"}", id="a long number"),
    ],
)
def test_broken_json_is_named_with_the_remedy(tmp_path, content):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(UserError, match=r"a\.json.*(an object|not readable JSON).*train again\.$"):
        files.read_json(tmp_path / "a.json", "train again")


def test_another_encoding_can_be_asked_for(tmp_path):
    assert _lines(tmp_path, b"caf\xe9\n", encoding="latin-1") == [(1, "café")]


@pytest.mark.parametrize("size", [0, 3, (1 << 20) + 1])
def test_sha256_is_the_digest_of_all_bytes(tmp_path, size):
    data = bytes(number % 251 for number in range(size))
    (tmp_path / "a").write_bytes(data)
    assert files.sha256(tmp_path / "a") == hashlib.sha256(data).hexdigest()


def test_a_byte_order_mark_at_the_start_is_not_text(tmp_path):
    (tmp_path / "lines.txt").write_bytes(b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\n")
    assert list(files.read_lines(tmp_path / "lines.txt")) == [(1, "one"), (2, "\ufefftwo")]


def test_a_line_without_end_is_refused_with_its_number(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\n" + b"x" * files.LONGEST_LINE + b"\ntwo")
    with pytest.raises(UserError, match="a.txt, line 2: a line may have 4,194,304 bytes, and"):
        list(files.read_lines(path))
    path.write_bytes(b"one\n" + b"x" * (files.LONGEST_LINE - 1) + b"\ntwo")
    assert [number for number, _ in files.read_lines(path)] == [1, 2, 3]
