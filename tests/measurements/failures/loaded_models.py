"""`disan_tf.load`: bundles that somebody forged, odd arguments, and memory that a call keeps."""

import gc
import json
import math
import random
import shutil
import sys
import time
from pathlib import Path
from typing import Callable

import numpy as np
import tensorflow as tf

import disan_tf
from disan_tf.common.errors import UserError, explain
from disan_tf.common.files import sha256

SLOW = 45  # seconds of a call, after which it counts as a failure
LEAK = 2 << 20  # bytes that a process may grow by in the counted calls
TENSORS = 16  # at most, which go into functions and come out of them in a call
WARM_UP = 1000  # calls, in which caches fill
EVIL = """from pathlib import Path

from disan_tf.encoders import DiSAN as X

Path(__file__).with_suffix(".ran").write_text("")
"""
ENCODERS = ["evil:X", "evil:Y", "evil.X", "evil:", ":X", ":", "..evil:X", "evil", "./evil:X", ""]
ENCODERS += ["this:s", "antigravity:x", "os:system", "lib2to3.__main__:x", "evil\0:X", "disan "]
_MODULES = {"evil", "this", "antigravity", "lib2to3", "lib2to3.__main__"}
NAMES = ("a\0b", "a\nb", "../x", "/x", "", ".", "é", "a" * 3000, "a b", 5, None, ["a"])
CLASSES = ([], ["a"], ["a", "a"], ["a", "b", "c"], ["a", 5], "ab", {"a": 1, "b": 2}, [["a"], "b"])
TEXTS = ["The film is good .", "", "zzz okra", "good " * 150, "\0\u2028 \\ -LRB- 😀", "a\nb"]
ARGUMENTS = [TEXTS, [], "The film", [None], [b"film"], [5], [["a", "b"]], [("a",)], [()], None, 7]
ARGUMENTS += [np.array(TEXTS[:3]), {"film": 1}, (it for it in TEXTS[:2]), ["\ud800"], [TEXTS]]
BATCH_SIZES = (1, 3, 10**9, 0, -1, -(2**63), 2**70, 2.5, 1e308, math.nan, None, "3", [2], True)
REFUSALS = (UserError, TypeError, ValueError)


def run_forged(model: Path, scratch: Path, seed: int, cases: int) -> list[str]:
    """What went wrong with `cases` forged copies of a bundle: one line each.

    A bundle is read and answers, or is refused in a sentence, and imports nothing.

    Args:
      model: the folder of a bundle.
      scratch: for the copies; it is importable while this runs.
      seed: of the cases.
      cases: their number.
    """
    scratch.mkdir(parents=True)
    (scratch / "evil.py").write_text(EVIL)
    sys.path.insert(0, str(scratch))
    try:
        forged = (_forge(model, scratch, seed, number) for number in range(cases))
        return [f"forged bundle {number}: {it}" for number, it in enumerate(forged) if it]
    finally:
        sys.path.remove(str(scratch))


def _forge(model: Path, scratch: Path, seed: int, number: int) -> str:
    draw = random.Random(f"{seed} forged {number}")
    folder = scratch / "model"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(model, folder)
    (folder / "evil.py").write_text(EVIL)
    info = json.loads((folder / "model.json").read_text())
    draw.choice(FORGERIES)(folder, info, draw)
    info["sha256"] = {name: sha256(folder / name) for name in info["sha256"]}
    (folder / "model.json").write_text(json.dumps(info))
    wrong = _answers(folder)
    imported = sorted(_MODULES & sys.modules.keys())
    return f"imports {imported}" if imported or any(scratch.rglob("*.ran")) else wrong


def _answers(folder: Path) -> str:
    """What is wrong with the answers of a bundle; "" where it is refused in a sentence."""
    try:
        loaded = disan_tf.load(folder)
        rows = loaded.predict(["the film is good .", "okra"])
    except Exception as error:
        sentence = explain(error)
        if sentence is None or "\n" in sentence:
            return f"{type(error).__name__}: {str(error)[:300]}"
        return ""
    sums = [sum(row["probabilities"].values()) for row in rows]
    if len(rows) != 2 or not np.allclose(sums, 1.0, atol=1e-4):
        return f"answers {rows}"
    return ""


def _forge_encoder(folder, info, draw):
    info["config"]["encoder"]["name"] = draw.choice(ENCODERS)


def _forge_name(folder, info, draw):
    places = info, info["config"], info["config"]["embedding"], info["config"]["task"]
    draw.choice(places)["name"] = draw.choice(NAMES)


def _forge_classes(folder, info, draw):
    info["classes"] = draw.choice(CLASSES)


def _forge_vocabulary(folder, info, draw):
    path = folder / "vocabulary.txt"
    lines = path.read_bytes().splitlines(keepends=True)
    place, bad = draw.randrange(len(lines)), (b"\n", b"\xff\n", b"\0\n", b"a b\n", b"\r\n")
    line, new = lines[place], draw.choice((b"new\n", b"\n", b""))
    changed = (line.rstrip(b"\n"), line * 2, new + line, b"", draw.choice(lines), draw.choice(bad))
    lines[place] = draw.choice(changed)
    if draw.random() < 0.1:
        draw.shuffle(lines)
    path.write_bytes(b"".join(lines))


def _forge_counts(folder, info, draw):
    change = draw.choice((-1, 1, 10**9, -(10**6)))
    info["words"][draw.randrange(len(info["words"]))] += change


FORGERIES = (_forge_encoder, _forge_name, _forge_classes, _forge_vocabulary, _forge_counts)


def run_arguments(model: Path, seed: int, cases: int) -> list[str]:
    """What went wrong in `cases` calls of a loaded model with odd arguments: one line each."""
    loaded = disan_tf.load(model)
    return [
        wrong
        for number in range(cases)
        if (wrong := _call(loaded, random.Random(f"{seed} {number}")))
    ]


def _call(loaded, draw: random.Random) -> str:
    name = draw.choice(("encode", "predict", "similarity", "attend"))
    texts = draw.choice(ARGUMENTS)
    if name == "attend":
        texts = draw.choice((*texts, texts) if isinstance(texts, (list, tuple)) else (texts, ""))
    options = {}
    if name in ("encode", "predict") and draw.random() < 0.6:
        options = {"batch_size": draw.choice(BATCH_SIZES)}
    arguments = [texts, draw.choice(ARGUMENTS)] if name == "similarity" else [texts]
    started = time.monotonic()
    try:
        found = getattr(loaded, name)(*arguments, **options)
    except REFUSALS as error:
        wrong = "" if str(error) else f"{type(error).__name__} without a word"
    except Exception as error:
        wrong = f"{type(error).__name__}: {str(error)[:200]}"
    else:
        wrong = _check(name, found, arguments)
    if time.monotonic() - started > SLOW:
        wrong = "takes too long"
    return f"{name}({repr(arguments)[:200]}, {options}): {wrong}" if wrong else ""


def _check(name: str, found, arguments: list) -> str:
    if name == "attend":
        return "" if len(found["tokens"]) < 1000 else "too many tokens"
    sizes = [len(it) for it in arguments if hasattr(it, "__len__")]
    if name == "predict":
        return "" if [len(found)] == sizes[:1] or not sizes else f"{len(found)} answers"
    if not np.isfinite(found).all():
        return "is not finite"
    if name == "encode" and isinstance(arguments[0], str):
        return "" if found.ndim == 1 else f"has shape {found.shape}"
    expected = sizes if name == "similarity" else sizes[:1]
    is_right = len(expected) < len(arguments) or list(found.shape[: len(expected)]) == expected
    return "" if is_right else f"has shape {found.shape}"


def run_leaks(model: Path, calls: int) -> list[str]:
    """The functions of a loaded model after whose `calls` calls the process is larger by `LEAK`.

    TensorFlow 2.15 under Python 3.11 frees no tensor whole (its issue 62551): there the limit is
    higher by what `TENSORS` of its own tensors keep in each call.
    """
    loaded = disan_tf.load(model)
    texts = [f"the film number {n} is {'very ' * (n % 9)}good ." for n in range(97)]

    def text(number: int) -> str:
        return texts[number % len(texts)]

    functions = {
        "encode": lambda number: loaded.encode([text(number)]),
        "predict": lambda number: loaded.predict([text(number)]),
        "attend": lambda number: loaded.attend(text(number)),
        "similarity": lambda number: loaded.similarity([text(number)], [text(7 * number)]),
    }
    limit = LEAK + TENSORS * calls * _kept_by_a_tensor()
    grown = {name: growth(function, calls) for name, function in functions.items()}
    return [
        f"{name} keeps {size / calls / 1000:.2f} kB a call ({size / 1e6:.1f} MB of {calls} calls)"
        for name, size in grown.items()
        if size > limit
    ]


def _kept_by_a_tensor() -> int:
    """The bytes that TensorFlow keeps of each tensor, 0 where it frees it whole."""
    tensor = tf.constant(1.0)
    before = sys.getallocatedblocks()
    for _ in range(1000):
        tf.identity(tensor)
    return 64 if sys.getallocatedblocks() - before > 500 else 0


def growth(function: Callable[[int], object], calls: int) -> int:
    """By how many bytes the process' resident memory grows in some calls, after `WARM_UP`."""
    for number in range(WARM_UP):
        function(number)
    gc.collect()
    before = _resident()
    for number in range(calls):
        function(number)
    gc.collect()
    return _resident() - before


def _resident() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return 1024 * int(line.split()[1])
    raise RuntimeError("/proc/self/status has no VmRSS")
