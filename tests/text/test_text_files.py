"""disan_tf/text/text_files.py: formats by name, compression, encodings, line ends, arrays."""

import codecs
import gzip
import io
import json

import pytest

from disan_tf.common import files
from disan_tf.text import text_files
from disan_tf.text.text_files import TextLines, format_of
from tests.support.errors import user_error

TEXT = "a film\nété ; \u2028 new\n"
ROWS = ["a film", "été ; \u2028 new"]


def texts(content, input_format="text", encoding="utf-8"):
    lines = TextLines(io.BytesIO(content).read1, "a", input_format, encoding, "--encoding")
    return [lines.decode(line, 1) for chunk in lines.chunks() for line in chunk]


@pytest.mark.parametrize(
    "name, input_format",
    [
        ("a.CSV", "csv"),
        ("a.b.Json", "jsonl"),
        ("a.jsonl.gz", "jsonl"),
        ("a.NDJSON", "jsonl"),
        ("a.tsv.GZ", "tsv"),
        ("a.tab", "tsv"),
        ("folder.csv/a.txt", None),
        ("csv", None),
        ("a.gz", None),
    ],
)
def test_a_name_ends_with_its_format(name, input_format):
    assert format_of(name) == input_format


STORED = {
    "plain": TEXT.encode(),
    "utf-8 mark": codecs.BOM_UTF8 + TEXT.encode(),
    "utf-16-le mark": codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
    "utf-16-be mark": codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
    "utf-32-le mark": codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"),
    "utf-32-be mark": codecs.BOM_UTF32_BE + TEXT.encode("utf-32-be"),
    "gzip": gzip.compress(TEXT.encode()),
    "two gzip files": gzip.compress(TEXT[:7].encode()) + gzip.compress(TEXT[7:].encode()),
    "crlf": TEXT.replace("\n", "\r\n").encode(),
    "cr": TEXT.replace("\n", "\r").encode(),
    "cr without end": TEXT.replace("\n", "\r").encode()[:-1],
    "without end": TEXT.encode()[:-1],
}


@pytest.mark.parametrize("name", STORED)
def test_lines_are_equal_however_they_are_stored(name):
    assert texts(STORED[name]) == ROWS


def test_carriage_returns_end_the_lines_of_a_long_file(monkeypatch):
    monkeypatch.setattr(text_files, "CHUNK_BYTES", 10)
    chunks = TextLines(io.BytesIO(b"a film\r" * 100).read1, "a", "text").chunks()
    assert max(map(len, chunks)) < 5
    assert texts(b"a film\r" * 100) == ["a film"] * 100


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le", "utf-16-be"])
def test_another_encoding_is_read_on_request(encoding):
    assert texts("caf\xe9\nnew".encode(encoding), encoding=encoding) == ["caf\xe9", "new"]


def test_bytes_of_another_encoding_are_named_with_the_option():
    message = user_error(texts, b"caf\xe9\n")
    assert message == (
        "a, line 1: byte 0xe9 at column 4 is not UTF-8; save the text as UTF-8, or name its "
        "encoding, as in --encoding=cp1252."
    )
    message = user_error(texts, b"new\nna\x81ve\n", encoding="cp1252")
    assert message.startswith("a, line 2: byte 0x81 is not CP1252; save the text as UTF-8, or")


def test_controls_of_latin_1_and_halves_of_characters_are_refused():
    message = user_error(texts, b"new\nisn\x92t\n", encoding="latin-1")
    assert message == (
        "a, line 2: byte 0x92 is a control character in latin-1; name the file's encoding, often "
        "--encoding=cp1252."
    )
    message = user_error(texts, b"\x80", encoding="iso8859-15")
    assert "byte 0x80 is a control character in iso8859-15" in message
    message = user_error(texts, b"new\n+2AA-\n", encoding="utf-7")
    assert message.startswith("a, line 2: U+D800 is half of a character; save the text as UTF-8, ")


@pytest.mark.parametrize("encoding, order", [("utf-16", "le"), ("utf-16", "be"), ("UTF-32", "le")])
def test_an_encoding_that_needs_a_mark_is_refused_without_one(encoding, order):
    content = "caf\xe9\nnew".encode(f"{encoding}-{order}")
    message = user_error(texts, content, encoding=encoding)
    name = encoding.lower()
    assert message == (
        f"a has no byte order mark, which {encoding.upper()} needs; name the byte order, as in "
        f"--encoding={name}-le or {name}-be."
    )


@pytest.mark.parametrize(
    "head, kind",
    [
        (b"PK\x03\x04", "an Excel workbook or another zip archive"),
        (b"PAR1", "a Parquet file"),
        (b"\x80\x04\x95", "a pickle"),
        (b"%PDF-1.4", "a PDF file"),
        (b"BZh9", "compressed with bzip2"),
        (
            "text\n".encode("utf-16-le"),
            "binary data, or UTF-16 without a byte order mark (encoding utf-16-le or utf-16-be)",
        ),
    ],
)
def test_what_is_no_text_is_named_with_the_remedy(head, kind):
    message = user_error(texts, head + b"\n" * 9)
    assert (
        message
        == f"a is {kind}, and no text; write the texts to a CSV file in UTF-8, plain or gzipped."
    )


_WHOLE = gzip.compress("".join(f"line {number}\n" for number in range(999)).encode())
DAMAGED = {
    "cut at its end": _WHOLE[:-9],
    "cut in its first block": _WHOLE[:20],
    "cut in its header": _WHOLE[:5],
    "of two bytes": _WHOLE[:2],
    "with a wrong byte in its first block": _WHOLE[:12] + b"\xff\xff" + _WHOLE[14:],
    "with a wrong checksum": _WHOLE[:-8] + b"\0\0\0\0" + _WHOLE[-4:],
    "with a wrong length": _WHOLE[:-4] + b"\xff\xff\xff\xff",
    "with an unknown method": _WHOLE[:2] + b"\x07" + _WHOLE[3:],
    "followed by other bytes": _WHOLE + b"other",
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_gzip_file_is_named(content, tmp_path):
    message = "is a damaged gzip file; restore or compress it again."
    assert user_error(texts, content) == f"a {message}"
    path = tmp_path / "vectors.txt.gz"
    path.write_bytes(content)
    for read in (list_lines, read_file):
        assert user_error(read, path) == f"{path} {message}"


def list_lines(path):
    return list(files.read_lines(path, "latin-1"))


def read_file(path):
    with files.open_bytes(path) as file:
        return file.read()


def test_a_gzip_file_of_several_members_is_read(tmp_path):
    path = tmp_path / "texts.gz"
    path.write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n"))
    file = files.open_bytes(path)
    assert file.read() == b"one\ntwo\n"
    compressed = file.raw._compressed
    file.close()
    assert compressed.closed


@pytest.mark.parametrize("indent", [None, 1])
def test_the_objects_of_an_array_are_lines(indent):
    rows = [{"text": "a"}, {"text": "b"}]
    content = json.dumps(rows, indent=indent).encode()
    for input_format in ("jsonl", None):
        assert list(map(json.loads, texts(content, input_format))) == rows
    lines = TextLines(io.BytesIO(content).read1, "a", "jsonl")
    assert next(lines.chunks()) and lines.place(2) == "a, object 2"
    assert len(texts(content, "text")) == content.count(b"\n") + 1


def test_an_array_that_is_too_long_is_named_with_the_limit(monkeypatch):
    monkeypatch.setattr(text_files, "LONGEST_ARRAY", 20)
    message = user_error(texts, b'[{"text": "a"}, {"text": "b"}]', "jsonl")
    assert message.startswith("a is a JSON array of more than 20 bytes, and is read as a whole")


def test_lines_are_there_as_soon_as_they_are_read():
    blocks = iter([b"first\nsec", b"ond\n"])
    chunks = TextLines(lambda _: next(blocks), "a").chunks()
    assert next(chunks) == [b"first"]
    assert next(chunks) == [b"second"]
