"""Writes `index.html`: the attention in many lines, on a page that needs no network.

Weights are stored as bytes, scaled so that a tensor's largest weight is 255. A page has at most
`MAX_BYTES`: every line's means over the features, and as many single features as fit. The page
says what it leaves out.
"""

import base64
import hashlib
import json
from pathlib import Path

import numpy as np

from disan_tf.common.atomic import write_atomically
from disan_tf.common.checks import count
from disan_tf.serving.attention_page.attention_files import LineAttention, read_lines
from disan_tf.serving.inference.attend import WEIGHT_VECTORS

NAME = "index.html"
MAX_BYTES = 10_000_000
MAX_LINES = 1000  # in the list of sentences
MAX_FEATURES = 32
_SAMPLE = 16  # lines that decide which features are on the page
_PARTS = Path(__file__).parent


def write_page(folder: Path, title: str) -> None:
    """Writes a page for the lines that `attend` has written into a folder, if there are any."""
    lines = list(read_lines(folder))
    if not lines:
        return
    style, script, page = (
        (_PARTS / f"page.{kind}").read_text(encoding="utf-8") for kind in ("css", "js", "html")
    )
    left = MAX_BYTES - len(style.encode()) - len(script.encode()) - len(page.encode()) - 10_000
    kept = []
    for line in lines:
        size = len(as_data(_line(line, {})).encode())
        if size <= left and len(kept) < MAX_LINES:
            kept.append(line)
            left -= size
    cells = [line.mean(name).size for line in kept for name in _names(line)]
    feature_bytes = sum(-(-size // 3) * 4 + 12 for size in cells)  # base64, the largest weight
    most = min(MAX_FEATURES, left // max(feature_bytes, 1))
    features = choose_features(kept, most)
    content = {
        "title": title,
        "about": _describe(lines, kept, most),
        "features": {name: numbers.tolist() for name, numbers in features.items()},
        "lines": [_line(line, features) for line in kept],
    }
    parts = {
        "%SCRIPT_HASH%": _digest(script),
        "%STYLE_HASH%": _digest(style),
        "%STYLE%": style,
        "%SCRIPT%": script,
        "%DATA%": as_data(content),
    }
    for name, part in parts.items():  # the data last: no sentence is searched for placeholders
        page = page.replace(name, part)
    write_atomically(folder / NAME, page)


def as_data(content) -> str:
    """Returns JSON that is safe within <script>: it ends no script and begins no comment."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def choose_features(lines: list[LineAttention], most: int) -> dict[str, np.ndarray]:
    """Returns the features to display: tensor name -> their indices in ascending order.

    Their weights vary most between tokens, in the first lines with the tensor. Gates get the
    features that are chosen for attention between tokens, if both have equally many.
    """
    spread = {}
    for line in lines[:_SAMPLE] if most > 0 else ():
        for name, tensor in line.tensors().items():
            within = tuple(range(tensor.ndim - 1))
            spread[name] = spread.get(name, 0.0) + tensor.std(axis=within, dtype=np.float64)
    chosen = {}
    for name, values in spread.items():
        if len(values) > 1:
            attention = [peer for peer in spread if peer.endswith("_attention")]
            peers = [spread[peer] for peer in attention if len(spread[peer]) == len(values)]
            order = np.argsort(-sum(peers or [values]), kind="stable")
            chosen[name] = np.sort(order[:most])
    return chosen


def _names(line):
    return [name for name in line.record["axes"] if not name.endswith(WEIGHT_VECTORS)]


def _line(line: LineAttention, features) -> dict:
    """Builds the page's record for one line."""
    whole = line.tensors() if features else {}
    tensors = [
        _tensor(line, name, whole[name][..., features[name]] if name in features else None)
        for name in _names(line)
    ]
    shares = [[name, round(share, 4)] for name, share in line.probabilities.items()]
    if not line.is_score:
        shares.sort(key=lambda pair: -pair[1])
    return {
        "number": line.number,
        "text": line.texts,
        "prediction": line.prediction,
        "isScore": line.is_score,
        "gold": line.gold,
        "probabilities": shares,
        "fields": [
            {"name": field.replace("_", " "), "tokens": tokens}
            for field, tokens in zip(line.fields, line.tokens)
        ],
        "tensors": tensors,
        "views": _views(tensors),
    }


def _tensor(line, name, features) -> dict:
    """Returns a tensor's mean and, unless `features` is None, its <float32>[..., feature]."""
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
    """Converts weights from 0 to `high` to <uint8>; a weight above 0 becomes at least 1."""
    if not high:
        return np.zeros(weights.shape, np.uint8)
    steps = np.rint(weights * (255.0 / high))
    return np.where(weights > 0.0, np.maximum(steps, 1.0), 0.0).astype(np.uint8)


def _views(tensors) -> list[dict]:
    """Returns the page's views: all attention within sentences, or one function between them.

    A view of a function between sentences draws both sentences.
    """
    views = {}
    for index, tensor in enumerate(tensors):
        if tensor["kind"] != "token":
            name = "within the sentence" if tensor["kind"] == "own" else tensor["short"]
            views.setdefault(name, []).append(index)
    return [{"name": name, "tensors": indices} for name, indices in views.items()]


def _describe(lines, kept, features) -> str:
    """Describes what the page displays and what it leaves out."""
    texts = [f"{count(len(lines), 'line')}."]
    if len(kept) < len(lines):
        texts = [f"{len(kept):,} of {texts[0]}"]
        texts.append(
            "The other lines do not fit on this page; see their .npz files in this folder."
        )
    tensors = kept[0].tensors().values() if kept else ()
    widest = max((tensor.shape[-1] for tensor in tensors), default=1)
    if widest > 1:
        single = "a single feature's."
        if features < widest:
            single = (
                f"one of the {max(features, 0)} features that vary most; the other features are in "
                "the .npz files."
            )
        texts.append(f"A weight is the mean of up to {widest:,} features, or {single}")
    return " ".join(texts)
