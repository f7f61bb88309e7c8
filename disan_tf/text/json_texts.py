"""JSON objects, one a line, and the items of JSON arrays."""

import json
import math
import re
from collections.abc import Iterator
from typing import NoReturn

from disan_tf.common.errors import UserError
from disan_tf.common.files import DEEPEST_JSON, check_depth, distinct_keys

_DEEP = f"JSON with more than {DEEPEST_JSON} levels of lists and objects"
_SPACE = re.compile(r"[ \t\n\r]*")


def parse_json(line: str) -> dict:
    """Parses a line as a JSON object that can be written as JSON again.

    Raises:
      ValueError: the line is not such an object, or is nested too deeply, see `check_depth`. NaN,
        1e999 and half of a surrogate pair, and repeated keys, which Python's parser accepts, are
        rejected.
    """
    try:
        row = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg}, column {error.colno})") from None
    except RecursionError:
        raise ValueError(_DEEP) from None
    except ValueError as error:
        raise ValueError(f"not JSON ({error})") from None
    try:
        check_depth(row)
    except ValueError:
        raise ValueError(_DEEP) from None
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    if "\\u" in line:
        text = json.dumps(row, ensure_ascii=False)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            half = f"\\u{ord(text[error.start]):04x}"
            raise ValueError(f"not JSON ({half} is half of a surrogate pair)") from None
    return row


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


_DECODER = json.JSONDecoder(
    object_pairs_hook=distinct_keys, parse_float=_finite, parse_constant=_refuse
)


def array_items(text: str, name) -> Iterator[bytes]:
    """Yields the items of a JSON array, each on one line."""
    decoder, place, ending = json.JSONDecoder(), text.index("[") + 1, ""
    try:
        while ending != "]":
            start = _SPACE.match(text, place).end()
            if not ending and text.startswith("]", start):  # an empty array
                place = start + 1
                break
            _, place = decoder.raw_decode(text, start)
            yield text[start:place].replace("\n", " ").replace("\r", " ").encode("utf-8")
            place = _SPACE.match(text, place).end()
            ending, place = text[place : place + 1], place + 1
            if ending not in (",", "]"):
                raise json.JSONDecodeError("Expecting ',' delimiter", text, place - 1)
        place = _SPACE.match(text, place).end()
        if place < len(text):
            raise json.JSONDecodeError("Extra data after the array", text, place)
    except json.JSONDecodeError as error:
        raise UserError(
            f"{name}, line {error.lineno}: not a JSON array ({error.msg}, column "
            f"{error.colno}); write the file again."
        ) from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{name} is not a JSON array ({error}); write it again.") from None
