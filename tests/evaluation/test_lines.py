"""Reading lines and JSON objects: nothing is dropped, and every mistake names its line."""

import io
import json
import os
from types import SimpleNamespace

import pytest

from disan_tf.errors import UserError
from disan_tf.evaluation import lines
from disan_tf.evaluation.lines import look_up, read_chunks, tokenise
from disan_tf.text import TextToIds


def read(path, input_format=None):
    return [record for chunk in read_chunks(path, input_format) for record in chunk]


def write(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.fixture(scope="module")
def text_to_ids():
    return TextToIds(["a", "film", "is", "n't", "-lrb-"], "treebank", lowercase=True)


def test_lines_end_with_a_newline_alone(tmp_path):
    path = write(tmp_path / "a.txt", "one\r\n\n t\u2028w\x0co\x85 \n\rthree\r\nlast")
    texts = ["one", "", " t\u2028w\x0co\x85 ", "\rthree", "last"]
    assert read(path) == [{"text": text} for text in texts]


def test_an_empty_file_has_no_lines(tmp_path):
    assert read(write(tmp_path / "a.txt", "")) == []


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1 << 18])
def test_lines_are_whole_however_they_are_read(tmp_path, monkeypatch, size):
    monkeypatch.setattr(lines, "CHUNK_BYTES", size)
    path = write(tmp_path / "a.txt", "\nété film\r\n\n\nx\n\nlonger than a chunk\n")
    texts = ["", "été film", "", "", "x", "", "longer than a chunk"]
    assert [record["text"] for record in read(path)] == texts


def test_memory_holds_one_chunk(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "CHUNK_BYTES", 64)
    path = write(tmp_path / "a.txt", "a good film\n" * 1000)
    assert max(len(chunk) for chunk in read_chunks(path)) <= 6


def test_a_byte_order_mark_is_no_text(tmp_path):
    assert read(write(tmp_path / "a.txt", "\ufeffa\n\ufeffb")) == [
        {"text": "a"}, {"text": "\ufeffb"}
    ]  # fmt: skip
    assert read(write(tmp_path / "a.jsonl", '\ufeff{"text": "a"}')) == [{"text": "a"}]


def test_json_objects_keep_their_fields(tmp_path):
    records = [{"id": 7, "text": "a\nb", "more": [None, {"x": 1.5}]}, {"tokens": ["a", "b c"]}]
    text = "".join(json.dumps(record) + "\r\n" for record in records)
    assert read(write(tmp_path / "a.jsonl", text)) == records


def test_the_format_can_be_given(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"text": "a"}')
    assert read(path, "text") == [{"text": '{"text": "a"}'}]
    assert read(path.rename(tmp_path / "a.data"), "jsonl") == [{"text": "a"}]


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(UserError, match="'csv'; choose text or jsonl"):
        read(tmp_path / "a.txt", "csv")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"text": "a"', r"not JSON \(Expecting ',' delimiter, column 13\)"),
        (b"", "not JSON"),
        (b'{"text": "a", "p": NaN}', "not JSON"),
        (b'{"text": "a", "p": 1e999}', "not JSON"),
        (b'{"text": "\\ud83d"}', "not JSON .*surrogates"),
        (b"[" * 100_000, "not JSON"),
        (b'{"id": 1}', 'not a JSON object with "text" or "tokens"'),
        (b'["text"]', 'not a JSON object with "text" or "tokens"'),
        (b'{"text": null}', '"text" is not a string'),
        (b'{"tokens": "a b"}', '"tokens" is not a list of strings'),
        (b'{"tokens": ["a", 1]}', '"tokens" is not a list of strings'),
        (b'{"text": "\xff"}', "byte 0xff at column 11 is not UTF-8"),
    ],
)
def test_a_broken_line_is_named(tmp_path, line, message):
    path = write(tmp_path / "a.jsonl", b'{"text": "a"}\n{"text": ""}\n' + line + b"\n")
    with pytest.raises(UserError, match=rf"a\.jsonl, line 3: {message}") as error:
        read(path)
    assert str(error.value).endswith(".") and "\n" not in str(error.value)


def test_a_byte_that_is_not_utf8_is_named(tmp_path):
    path = write(tmp_path / "a.txt", b"a\nb\nfilm\xe9\n")
    with pytest.raises(UserError, match=r"a\.txt, line 3: byte 0xe9 at column 5 is not UTF-8"):
        read(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"none\.txt cannot be opened \(No such file"):
        read(tmp_path / "none.txt")


def test_standard_input_is_read_and_named(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"a\nb\xff")))
    with pytest.raises(UserError, match="standard input, line 2"):
        read("-")


def test_a_pipe_is_read_as_it_speaks(monkeypatch):
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as sink:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=source))
        chunks = read_chunks("-")
        for text in ("first", "second"):
            sink.write(text.encode() + b"\n")
            assert next(chunks) == [{"text": text}]


def test_text_is_tokenised_and_tokens_are_taken_as_they_are(text_to_ids):
    records = [{"text": "A film isn't ("}, {"tokens": ["isn't", "("], "text": "x"}, {"text": "a"}]
    tokens = tokenise(records, text_to_ids)
    assert tokens == [["A", "film", "is", "n't", "-LRB-"], ["isn't", "("], ["a"]]
    ids = look_up(tokens, text_to_ids).numpy().tolist()
    assert ids == [[2, 3, 4, 5, 6], [1, 1, 0, 0, 0], [2, 0, 0, 0, 0]]


def test_a_record_without_tokens_is_one_unknown_token(text_to_ids):
    tokens = tokenise([{"text": ""}, {"text": " \t"}, {"tokens": []}], text_to_ids)
    assert tokens == [[""], [""], [""]]
    assert look_up(tokens, text_to_ids).numpy().tolist() == [[1], [1], [1]]
