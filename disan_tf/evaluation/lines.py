"""Lines of text or JSON objects, from a file or from standard input, and their tokens.

A line becomes a record, a dictionary with "text" (a string, which the tokenizer splits) or
"tokens" (a list of strings, looked up as they are), and with whatever else its JSON object held.
"""

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import Optional

import tensorflow as tf

from disan_tf.errors import UserError
from disan_tf.text import TextToIds

CHUNK_BYTES = 1 << 18  # some thousand sentences


def read_chunks(path, input_format: Optional[str] = None) -> Iterator[list[dict]]:
    """Yields the records of all lines, in order, in chunks.

    A chunk is what one read of at most `CHUNK_BYTES` gives: memory is bounded, and who writes
    lines into a pipe and waits for their answers gets them.

    Args:
      path: a file, or "-" for standard input. Lines end with a newline alone; a carriage return
        before it, and a byte order mark at the start, are left out. An empty line is a line.
      input_format: "text" or "jsonl"; None = "jsonl" for names that end so, else "text".

    Raises:
      UserError: the format is unknown, the file cannot be opened, a line is not UTF-8 or not a
        JSON object with "text" or "tokens".
    """
    if input_format is None:
        input_format = "jsonl" if str(path).endswith(".jsonl") else "text"
    if input_format not in _PARSERS:
        known = " or ".join(_PARSERS)
        raise UserError(f"There is no input format {input_format!r}; choose {known}.")
    parse, name = _PARSERS[input_format], "standard input" if path == "-" else path
    number = 0
    for lines in _raw_chunks(path):
        records = []
        for line in lines:
            number += 1
            where = f"{name}, line {number}"
            text = _decode(line, where)
            records.append(parse(text[1:] if number == 1 and text[:1] == "\ufeff" else text, where))
        yield records


def tokenise(records: list[dict], text_to_ids: TextToIds) -> list[list[str]]:
    """The tokens of each record; one without any has one empty token, which is unknown."""
    texts = [record["text"] for record in records if "tokens" not in record]
    found = iter(text_to_ids.tokens(tf.constant(texts, tf.string)).to_list())
    return [
        (record["tokens"] if "tokens" in record else [token.decode() for token in next(found)])
        or [""]
        for record in records
    ]


def look_up(tokens: list[list[str]], text_to_ids: TextToIds) -> tf.Tensor:
    """Word ids of token lists, <int32>[batch, length], zero-padded."""
    flat = tf.constant([token for sentence in tokens for token in sentence], tf.string)
    lengths = tf.constant([len(sentence) for sentence in tokens], tf.int64)
    return text_to_ids.from_tokens(tf.RaggedTensor.from_row_lengths(flat, lengths))


def _raw_chunks(path) -> Iterator[list[bytes]]:
    with _open(path) as file:
        rest = b""
        while True:
            block = file.read1(CHUNK_BYTES)
            if not block:
                break
            *lines, rest = (rest + block).split(b"\n")
            if lines:
                yield lines
        if rest:
            yield [rest]


def _open(path):
    if path == "-":
        return contextlib.nullcontext(sys.stdin.buffer)
    try:
        return open(path, "rb")
    except OSError as error:
        raise UserError(f"{path} cannot be opened ({error.strerror}).") from None


def _decode(line: bytes, where: str) -> str:
    try:
        return line.rstrip(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{where}: byte 0x{line[error.start]:02x} at column {error.start + 1} is not UTF-8; "
            "convert the input to UTF-8."
        ) from None


def _parse_text(line: str, where: str) -> dict:
    return {"text": line}


def _parse_json(line: str, where: str) -> dict:
    """The record of a JSON object; it can be written as JSON again."""
    try:
        record = json.loads(line)
        # NaN, 1e999 and half of a surrogate pair are read, but no JSON file may hold them.
        json.dumps(record, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except json.JSONDecodeError as error:
        reason = f"{error.msg}, column {error.colno}"
    except (ValueError, RecursionError) as error:
        reason = str(error)
    else:
        return _check_fields(record, where)
    raise UserError(f"{where}: not JSON ({reason}); write one JSON object a line.")


def _check_fields(record, where: str) -> dict:
    if not isinstance(record, dict) or not {"text", "tokens"} & record.keys():
        raise UserError(f'{where}: not a JSON object with "text" or "tokens"; add one of them.')
    if not isinstance(record.get("text", ""), str):
        raise UserError(f'{where}: "text" is not a string; write it in quotes.')
    tokens = record.get("tokens", [])
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        raise UserError(f'{where}: "tokens" is not a list of strings; write one, or "text" alone.')
    return record


_PARSERS = {"text": _parse_text, "jsonl": _parse_json}
