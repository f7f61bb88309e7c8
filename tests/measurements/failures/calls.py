"""Forged bundles, odd calls of loaded and exported models, leaks, and hostile servers.

A function returns where a call is answered rightly, and raises what the package raises.
"""

import gc
import json
import math
import random
import resource
import shutil
import sys
from typing import Callable

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401 (registers the tokenizer's operations)

import disan_tf
from data_prep.download.fetch import install
from disan_tf.common.errors import UserError
from disan_tf.common.files import sha256
from tests.measurements.failures.damage import damage
from tests.measurements.failures.world import Case, World, fresh
from tests.support.corpora.downloads import BYTES, Server, files, pinned, unpinned

LEAK = 2 << 20  # bytes that a process may grow by in the counted calls
TENSORS = 16  # at most, which go into functions and come out of them in a call
WARM_UP = 1000  # calls, in which caches fill
EVIL = """from pathlib import Path

from disan_tf.encoders import DiSAN as X

Path(__file__).with_suffix(".ran").write_text("")
"""
ENCODERS = ["evil:X", "evil:Y", "evil.X", "evil:", ":X", ":", "..evil:X", "evil", "./evil:X", ""]
ENCODERS += ["this:s", "antigravity:x", "os:system", "lib2to3.__main__:x", "evil\0:X", "disan "]
MODULES = {"evil", "this", "antigravity", "lib2to3", "lib2to3.__main__"}
NAMES = ("a\0b", "a\nb", "../x", "/x", "", ".", "é", "a" * 3000, "a b", 5, None, ["a"])
CLASSES = ([], ["a"], ["a", "a"], ["a", "b", "c"], ["a", 5], "ab", {"a": 1, "b": 2}, [["a"], "b"])
TEXTS = ["The film is good .", "", "zzz okra", "good " * 150, "\0\u2028 \\ -LRB- 😀", "a\nb"]
ARGUMENTS = [TEXTS, [], "The film", [None], [b"film"], [5], [["a", "b"]], [("a",)], [()], None, 7]
ARGUMENTS += [np.array(TEXTS[:3]), {"film": 1}, (it for it in TEXTS[:2]), ["\ud800"], [TEXTS]]
BATCH_SIZES = (1, 3, 10**9, 0, -1, -(2**63), 2**70, 2.5, 1e308, math.nan, None, "3", [2], True)
WORDS = ["film", "good", "\0", "é" * 50, "x" * 5000, "😀", "\u2028", "(", "-LRB-<pad>", "\\", " "]
STATUSES = (200, 200, 200, 206, 206, 204, 301, 302, 304, 307, 400, 403, 404, 416, 429, 500, 503)
RANGES = ("bytes 0-9/10", "bytes */7", "bytes 5-1/3", "items 0-1/2", "bytes 0-9/*", "", "x" * 70000)
PLACES = ("/mirror/small.zip", "ftp://127.0.0.1/x", "file:///etc/passwd", "//", "http://[", "\x7f")


def forge(case: Case) -> None:
    """A forged copy of a bundle is read and answers, or is refused, and imports nothing."""
    folder = fresh(case.world.folder / "forged")
    shutil.copytree(case.world.model / "best", folder / "model")
    for place in (folder, folder / "model"):
        (place / "evil.py").write_text(EVIL)
    info = json.loads((folder / "model/model.json").read_text())
    forgery = case.draw.choice(FORGERIES)
    case.told = forgery.__name__
    forgery(folder / "model", info, case.draw)
    info["sha256"] = {name: sha256(folder / "model" / name) for name in info["sha256"]}
    (folder / "model/model.json").write_text(json.dumps(info))
    sys.path.insert(0, str(folder))
    try:
        rows = disan_tf.load(folder / "model").predict(["the film is good .", "okra"])
        assert len(rows) == 2, f"answers {rows}"
        for row in rows:
            assert abs(sum(row["probabilities"].values()) - 1) < 1e-4, f"answers {rows}"
    finally:
        sys.path.remove(str(folder))
        imported = sorted(MODULES & sys.modules.keys())
        assert not imported, f"imports {imported}"
        assert not any(folder.rglob("*.ran")), "runs a module"


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


def call_oddly(case: Case) -> None:
    """Calls a loaded model with odd arguments."""
    loaded, draw = loaded_model(case.world), case.draw
    name, texts = draw.choice(("encode", "predict", "similarity", "attend")), draw.choice(ARGUMENTS)
    if name == "attend":
        texts = draw.choice((*texts, texts) if isinstance(texts, (list, tuple)) else (texts, ""))
    options = {}
    if name in ("encode", "predict") and draw.random() < 0.6:
        options = {"batch_size": draw.choice(BATCH_SIZES)}
    arguments = [texts, draw.choice(ARGUMENTS)] if name == "similarity" else [texts]
    case.told = f"{name}({repr(arguments)[:200]}, {options})"
    try:
        found = getattr(loaded, name)(*arguments, **options)
    except (UserError, TypeError, ValueError) as error:
        assert str(error), f"{type(error).__name__} without a word"
        return
    if name == "attend":
        assert len(found["tokens"]) < 1000
        return
    sizes = [len(it) for it in arguments if hasattr(it, "__len__")]
    shape = [len(found)] if name == "predict" else list(found.shape)
    assert name == "predict" or np.isfinite(found).all(), "is not finite"
    if name == "encode" and isinstance(texts, str):
        assert len(shape) == 1, f"has shape {shape}"
    elif len(sizes) == len(arguments):
        assert shape[: len(sizes)] == sizes, f"has shape {shape}"


def loaded_model(world: World):
    return world.keep("loaded", lambda: disan_tf.load(world.model))


def leak(case: Case) -> None:
    """Calls one function of a loaded model often: the process may grow by `LEAK`.

    TensorFlow 2.15 under Python 3.11 frees no tensor whole (its issue 62551): there the limit is
    higher by what `TENSORS` of its own tensors keep in each call.
    """
    loaded, calls = loaded_model(case.world), case.world.calls
    texts = [f"the film number {n} is {'very ' * (n % 9)}good ." for n in range(97)]
    functions = {
        "encode": lambda number: loaded.encode([texts[number % 97]]),
        "predict": lambda number: loaded.predict([texts[number % 97]]),
        "attend": lambda number: loaded.attend(texts[number % 97]),
        "similarity": lambda n: loaded.similarity([texts[n % 97]], [texts[7 * n % 97]]),
    }
    case.told = [*functions][case.number]
    size = growth(functions[case.told], calls)
    limit = LEAK + TENSORS * calls * _kept_by_a_tensor()
    assert size <= limit, f"keeps {size / calls / 1000:.2f} kB a call"


def _kept_by_a_tensor() -> int:
    """The bytes that TensorFlow keeps of each tensor, 0 where it frees it whole."""
    tensor, before = tf.constant(1.0), sys.getallocatedblocks()
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
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def call_export(case: Case) -> None:
    """Calls an exported model with inputs that nobody would send on purpose."""
    draw, is_text = case.draw, case.draw.random() < 0.5
    signatures = _exported(case.world)[0 if is_text else 1].signatures
    case.told = draw.choice(sorted(signatures))
    signature = signatures[case.told]
    try:
        (argument,) = signature.structured_input_signature[1]
        value = _texts(draw) if is_text else _ids(draw)
        outputs = signature(**{argument: value})
    except (tf.errors.OpError, TypeError, ValueError):
        return
    for key, output in outputs.items():
        assert output.shape[0] == value.shape[0], f"{key} has {output.shape[0]} rows"
        if output.dtype.is_floating:
            assert np.isfinite(output).all(), f"{key} is not finite"
    if "probabilities" in outputs:
        np.testing.assert_allclose(outputs["probabilities"].numpy().sum(axis=1), 1.0, atol=1e-4)


def _exported(world: World) -> list:
    def export():
        out = world.folder / "exported"
        world.run("export", fresh(out)).check()
        return [tf.saved_model.load(str(out / f"saved_model{end}/1")) for end in ("", "_ids")]

    return world.keep("exported", export)


def _texts(draw: random.Random) -> tf.Tensor:
    rows = draw.choice((0, 1, 1, 2, 7))
    texts = [" ".join(draw.choices(WORDS, k=draw.choice((0, 1, 9, 300)))) for _ in range(rows)]
    choice = draw.randrange(8)
    if choice == 0:
        return tf.zeros([rows], draw.choice((tf.int32, tf.float32)))
    if choice == 1:
        return tf.constant([[text] for text in texts], tf.string, [rows, 1])
    if choice == 2:
        return tf.constant([draw.randbytes(60) for _ in texts], tf.string, [rows])
    return tf.constant(texts, tf.string, [rows])


def _ids(draw: random.Random) -> tf.Tensor:
    shape = [draw.choice((0, 1, 3)), draw.choice((0, 1, 5, 400))]
    highest = draw.choice((2, 60, 60, 10**6, 2**31 - 1))
    lowest = draw.choice((0, 0, -1, -(2**31)))
    ids = np.random.default_rng(draw.randrange(2**32)).integers(lowest, highest, shape)
    choice = draw.randrange(6)
    if choice == 0:
        return tf.constant(np.full(shape, np.nan), tf.float32)
    return tf.constant(ids, tf.int64 if choice == 1 else tf.int32)


def download(case: Case) -> None:
    """Downloads from a server that lies, garbles, cuts short, redirects and fails."""
    draw, server, folder = case.draw, Server(), fresh(case.world.folder / "install")
    archive = draw.choice((pinned(), unpinned(megabytes=1)))
    if draw.random() < 0.4:
        (folder / "archives").mkdir()
        left = draw.choice((BYTES[:50], b"x" * 50, BYTES, BYTES + b"more"))
        (folder / "archives" / "small.zip.part").write_bytes(left)
    server.respond = lambda handler: _respond(handler, draw)
    try:
        install(archive, folder, server.url)
    except Exception:
        unpacked = [name for name in files(folder) if not name.startswith("archives/")]
        assert not unpacked, f"a refusal leaves {unpacked}"
        raise
    finally:
        server.http.shutdown()
        server.http.server_close()
    text = (folder / "sst" / "trees" / "train.txt").read_bytes()
    assert not archive.sha256 or text == b"(3 (2 we) (3 smile))\n" * 40, "wrong bytes are unpacked"


def _respond(handler, draw: random.Random) -> None:
    body = BYTES if draw.random() < 0.3 else damage(BYTES, draw)
    handler.send_response(draw.choice(STATUSES))
    if draw.random() < 0.5:
        length = draw.choice((len(body), len(body), 7, 10**12, -1, "x", "1" * 5000))
        handler.send_header("Content-Length", str(length))
        if str(length) != str(len(body)):
            handler.close_connection = True
    if draw.random() < 0.5:
        handler.send_header("Content-Range", draw.choice(RANGES))
    if draw.random() < 0.4:
        handler.send_header("Location", draw.choice(PLACES))
    handler.end_headers()
    handler.wfile.write(body)
