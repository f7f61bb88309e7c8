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
    before, after = content[:place], content[place:]
    flipped = bytearray(content)
    for _ in range(draw.choice((1, 1, 3, 50)) if content else 0):
        flipped[draw.randrange(len(flipped))] ^= 1 << draw.randrange(8)
    filler = draw.choice((b"", b"\n", content * 2, bytes(len(content)), draw.randbytes(300)))
    zeros, put_in = bytes(draw.choice((1, 512, 4096))), draw.choice(BYTES)
    return draw.choice(
        (
            before,
            after,
            bytes(flipped),
            before + zeros + after,
            before + put_in * draw.choice((1, 1, 40)) + after,
            before + after[draw.choice((1, 16, 512)) :],
            content + after,
            filler,
        )
    )


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
        cell, value = draw.randrange(len(cells)), str(draw.choice(VALUES)).encode()
        new = {4: [], 5: [value], 6: [draw.choice(cells), cells[cell]], 7: [cells[cell]]}
        cells[cell : cell + 1] = new[kind]
        lines[number] = separator.join(draw.sample(cells, len(cells)) if kind == 7 else cells)
    return b"\n".join(lines)


def damage_json(content: bytes, draw: random.Random) -> bytes:
    """JSON, or JSON lines, with a value removed, renamed, repeated or replaced.

    Values near the top and values of any depth are alike likely.
    """
    try:
        whole = [json.loads(content)]
    except ValueError:
        whole = [json.loads(line) for line in content.splitlines() if line.strip()]
    places = list(_places(whole))
    if draw.random() < 0.5:
        places = [(parent, key) for parent, key in places if parent is whole] or places
        parent, key = draw.choice(places)
        while isinstance(parent[key], (dict, list)) and parent[key] and draw.random() < 0.85:
            parent = parent[key]
            key = draw.choice([*(parent if isinstance(parent, dict) else range(len(parent)))])
    else:
        parent, key = draw.choice(places)
    _change(parent, key, draw)
    return "\n".join(json.dumps(value) for value in whole).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container below a value, with each of its keys."""
    if isinstance(value, (dict, list)):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def _change(parent: Any, key: Any, draw: random.Random) -> None:
    kind = draw.random()
    if kind < 0.15:
        del parent[key]
    elif kind < 0.25 and isinstance(parent, dict):
        parent[f"{key}x"] = parent.pop(key)
    elif kind < 0.3 and isinstance(parent, list):
        parent.append(parent[key])
    else:
        parent[key] = draw.choice(VALUES)
