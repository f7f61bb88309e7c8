"""Seeded damage to the content of a file."""

import json
import random
from collections.abc import Iterator
from typing import Any

# Of wrong types, and at the ends of ranges.
VALUES = [None, True, [], {}, "", "x", -1, 0, 2**31, 2**63, 10**30, -0.5, 1e308]
VALUES += [float("nan"), float("inf"), "é" * 300, "a/b", "../x", "\0", [[]], {"a": 1}, ["x", 1]]
BYTES = (b"\0", b"\xff\xfe", b"\xc3", b"\r", b"\x1a", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b'"')
HUGE = (b"nan", b"x", b"( ", b"(2 ", b"x ", b'"', b"[", b"1", b"\xc3\xa9 ")


def damage(content: bytes, draw: random.Random) -> bytes:
    """The content, cut, flipped, filled, emptied, doubled or with bytes put in."""
    place = draw.randrange(len(content) + 1)
    kind = draw.randrange(8)
    if kind == 0:
        return content[:place]
    if kind == 1:
        return content[place:]
    if kind == 2 and content:
        changed = bytearray(content)
        for _ in range(draw.choice((1, 1, 3, 50))):
            changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
        return bytes(changed)
    if kind == 3:
        return content[:place] + bytes(draw.choice((1, 512, 4096))) + content[place:]
    if kind == 4:
        return content[:place] + draw.choice(BYTES) * draw.choice((1, 1, 40)) + content[place:]
    if kind == 5:
        end = min(len(content), place + draw.choice((1, 16, 512)))
        return content[:place] + content[end:]
    if kind == 6:
        return content + content[place:]
    return draw.choice((b"", b"\n", content * 2, bytes(len(content)), draw.randbytes(300)))


def damage_lines(content: bytes, draw: random.Random) -> bytes:
    """The content with a line dropped, doubled, swapped, made huge, or with another column."""
    lines = content.split(b"\n")
    number, kind = draw.randrange(len(lines)), draw.randrange(8)
    if kind == 0:
        del lines[number]
    elif kind == 1:
        lines.insert(number, draw.choice(lines))
    elif kind == 2:
        other = draw.randrange(len(lines))
        lines[number], lines[other] = lines[other], lines[number]
    elif kind == 3:
        lines[number] += draw.choice(HUGE) * draw.choice((300, 70_000, 400_000))
    else:
        separator = draw.choice((b"\t", b",", b" "))
        cells = lines[number].split(separator)
        lines[number] = separator.join(_change_cells(cells, kind, draw))
    return b"\n".join(lines)


def _change_cells(cells: list[bytes], kind: int, draw: random.Random) -> list[bytes]:
    cell = draw.randrange(len(cells))
    if kind == 7:
        return draw.sample(cells, len(cells))
    new = {4: [], 5: [str(draw.choice(VALUES)).encode()], 6: [draw.choice(cells), cells[cell]]}
    return [*cells[:cell], *new[kind], *cells[cell + 1 :]]


def damage_json(content: bytes, draw: random.Random) -> bytes:
    """JSON, or JSON lines, with a value of another type or range, without one, or with another."""
    try:
        values = [json.loads(content)]
    except ValueError:
        values = [json.loads(line) for line in content.splitlines() if line.strip()]
    number = draw.randrange(len(values))
    values[number] = _change(values[number], draw)
    return "\n".join(json.dumps(value) for value in values).encode()


def damage_value(content: bytes, draw: random.Random) -> bytes:
    """JSON with one value of any depth, all alike likely, removed or replaced."""
    whole = json.loads(content)
    parent, key = draw.choice(list(_places(whole)))
    if draw.random() < 0.2:
        del parent[key]
    else:
        parent[key] = draw.choice(VALUES)
    return json.dumps(whole).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container below a value, with each of its keys."""
    if not isinstance(value, (dict, list)):
        return
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        yield from _places(value[key])


def _change(value: Any, draw: random.Random) -> Any:
    """The value with something changed at a place anywhere in it."""
    if not isinstance(value, (dict, list)) or not value or draw.random() < 0.15:
        return draw.choice(VALUES)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key, kind = draw.choice(keys), draw.random()
    if kind < 0.15:
        del value[key]
    elif kind < 0.25 and isinstance(value, dict):
        value[str(key) + "x"] = value.pop(key)
    elif kind < 0.3 and isinstance(value, list):
        value.append(value[key])
    else:
        value[key] = _change(value[key], draw)
    return value
