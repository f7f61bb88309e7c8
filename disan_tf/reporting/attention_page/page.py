"""Writes `index.html`: the attention of many lines on a page that needs no network.

Weights are stored in bytes, 0 to 255 of the largest of a tensor, so that a page has at most
`MAX_BYTES`: the means over the features of all lines, and as many single features as there is room
for. What is left out is said on the page.
"""

import base64
import hashlib
import json
from pathlib import Path

import numpy as np

from disan_tf.common.files import write_atomically
from disan_tf.reporting.attended import AttendedLine, read_lines

NAME = "index.html"
MAX_BYTES = 10_000_000
MAX_LINES = 1000  # in the list of sentences
MAX_FEATURES = 32
_SAMPLE = 16  # lines that decide which features are shown
_PARTS = Path(__file__).parent


def write_page(folder: Path, title: str) -> None:
    """Writes the page of the lines that `attend` has written into a folder, if there are any.

    Args:
      folder: see `disan_tf.serving.inference.attend`.
      title: name of the model.
    """
    lines = list(read_lines(folder))
    if lines:
        write_atomically(folder / NAME, render_page(lines, title))


def render_page(lines: list[AttendedLine], title: str) -> str:
    """The page as HTML; see `write_page`."""
    style, script, page = (
        (_PARTS / f"page.{kind}").read_text(encoding="utf-8") for kind in ("css", "js", "html")
    )
    room = MAX_BYTES - len(style.encode()) - len(script.encode()) - len(page.encode()) - 10_000
    shown = _lines_that_fit(lines, room)
    count = min(MAX_FEATURES, _features_that_fit(shown, room))
    features = choose_features(shown, count)
    content = {
        "title": title,
        "about": _describe(lines, shown, count),
        "features": {name: numbers.tolist() for name, numbers in features.items()},
        "lines": [_line(line, features) for line in shown],
    }
    parts = {
        "%SCRIPT_HASH%": _digest(script),
        "%STYLE_HASH%": _digest(style),
        "%STYLE%": style,
        "%SCRIPT%": script,
        "%DATA%": as_data(content),
    }
    for name, part in parts.items():  # the data last: no text of a sentence is replaced
        page = page.replace(name, part)
    return page


def as_data(content) -> str:
    """JSON that can stand in a <script>: nothing in it ends that or begins a comment."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _lines_that_fit(lines, room) -> list[AttendedLine]:
    """The first lines whose means the page has room for."""
    shown, left = [], room
    for line in lines:
        size = len(as_data(_line(line, {})).encode())
        if size <= left and len(shown) < MAX_LINES:
            shown.append(line)
            left -= size
    return shown


def _features_that_fit(shown, room) -> int:
    """How many features of each tensor the page has room for beside the means."""
    used = sum(len(as_data(_line(line, {})).encode()) for line in shown)
    each = 0
    for line in shown:
        for name in _names(line):
            cells = np.asarray(line.record[f"{name}_mean"]).size
            each += -(-cells // 3) * 4 + 12  # base64, and the largest weight
    return (room - used) // max(each, 1)


def choose_features(lines: list[AttendedLine], count: int) -> dict[str, np.ndarray]:
    """Name of each tensor -> the numbers of the features that are shown, in their order.

    These are the features whose weights vary most between tokens, in the first lines that have the
    tensor; tensors of as many features that are attention between tokens decide for the gates too.
    """
    spread = {}
    for line in lines[:_SAMPLE] if count > 0 else ():
        for name, tensor in line.tensors().items():
            within = tuple(range(tensor.ndim - 1))
            spread[name] = spread.get(name, 0.0) + tensor.std(axis=within, dtype=np.float64)
    chosen = {}
    for name, values in spread.items():
        if len(values) > 1:
            peers = [spread[peer] for peer in spread if _decides(peer, name, spread)]
            order = np.argsort(-sum(peers or [values]), kind="stable")
            chosen[name] = np.sort(order[:count])
    return chosen


def _decides(peer, name, spread):
    return peer.endswith("_attention") and len(spread[peer]) == len(spread[name])


def _names(line):
    return [name for name in line.record["axes"] if not name.endswith("weight_vectors")]


def _line(line: AttendedLine, features) -> dict:
    """What the page holds of a line."""
    whole = line.tensors() if features else {}
    tensors = [
        _tensor(line, name, whole[name][..., features[name]] if name in features else None)
        for name in _names(line)
    ]
    return {
        "number": line.number,
        "text": line.texts,
        "answer": line.answer,
        "isScore": "label" not in line.record,
        "probabilities": [
            [name, round(share, 4)] for name, share in line.record["probabilities"].items()
        ],
        "fields": [
            {"name": field.replace("_", " "), "tokens": tokens}
            for field, tokens in zip(line.fields, line.tokens)
        ],
        "tensors": tensors,
        "views": _views(tensors),
    }


def _tensor(line, name, features) -> dict:
    """A tensor's mean and, unless they are None, its features <float32>[..., feature]."""
    mean = line.mean(name)
    parts = [mean, *(() if features is None else np.moveaxis(features, -1, 0))]
    high = [float(part.max(initial=0.0)) for part in parts]
    data = b"".join(quantise(part, most).tobytes() for part, most in zip(parts, high))
    return {
        "name": name,
        "short": line.short(name),
        "kind": line.kind(name),
        "field": line.field(name),
        "shape": list(mean.shape),
        "high": [float(f"{most:.5g}") for most in high],
        "values": base64.b64encode(data).decode(),
    }


def quantise(weights: np.ndarray, high: float) -> np.ndarray:
    """Weights from 0 to `high` as <uint8>; one that is not 0 is at least 1."""
    if not high:
        return np.zeros(weights.shape, np.uint8)
    steps = np.rint(weights * (255.0 / high))
    return np.where(weights > 0.0, np.maximum(steps, 1.0), 0.0).astype(np.uint8)


def _views(tensors) -> list[dict]:
    """What is drawn at a time: all attention within sentences, or one function towards the other.

    Of the latter both sentences are drawn together.
    """
    views = {}
    for index, tensor in enumerate(tensors):
        if tensor["kind"] != "token":
            name = "within the sentence" if tensor["kind"] == "own" else tensor["short"]
            views.setdefault(name, []).append(index)
    return [{"name": name, "tensors": indices} for name, indices in views.items()]


def _describe(lines, shown, count) -> str:
    """What the page shows, and what it leaves out."""
    text = f"{len(shown):,} of {len(lines):,} lines. "
    if len(shown) < len(lines):
        text += "The others found no room on this page; their .npz files lie beside it. "
    widest = max(
        (tensor.shape[-1] for line in shown[:1] for tensor in line.tensors().values()), default=1
    )
    if widest > 1 and count >= widest:
        text += f"A weight is the mean of up to {widest:,} features, or that of a single one. "
    elif widest > 1:
        text += (
            f"A weight is the mean of up to {widest:,} features, or that of one of the "
            f"{max(count, 0)} that vary most; the others stand in the .npz files. "
        )
    return text + "Weights are in steps of 1/255 of the largest."
