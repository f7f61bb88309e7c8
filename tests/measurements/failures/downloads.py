"""Downloads from servers that lie, garble, cut short, redirect and fail, by seed."""

import random
import shutil
from pathlib import Path

from data_prep.download.fetch import install
from disan_tf.common.errors import explain
from tests.measurements.failures.mutators import damage
from tests.support.corpora.downloads import BYTES, Server, files, pinned, unpinned

STATUSES = (200, 200, 200, 206, 206, 204, 301, 302, 304, 307, 400, 403, 404, 416, 429, 500, 503)
RANGES = (
    "bytes 0-9/10",
    "bytes */7",
    "bytes 5-1/3",
    "items 0-1/2",
    "bytes 0-9/*",
    "",
    "x" * 70_000,
)
PLACES = ("/mirror/small.zip", "ftp://127.0.0.1/x", "file:///etc/passwd", "//", "http://[", "\x7f")


def run_downloads(folder: Path, seed: int, cases: int) -> list[str]:
    """What went wrong in `cases` downloads, one line each."""
    return [wrong for number in range(cases) if (wrong := run_download(folder, seed, number))]


def run_download(folder: Path, seed: int, number: int) -> str:
    """What is wrong with the outcome of one download, "" for nothing."""
    draw, server = random.Random(f"{seed} {number}"), Server()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    archive = draw.choice((pinned(), unpinned(megabytes=1)))
    if draw.random() < 0.4:
        (folder / "archives").mkdir()
        left = draw.choice((BYTES[:50], b"x" * 50, BYTES, BYTES + b"more"))
        (folder / "archives" / "small.zip.part").write_bytes(left)
    server.respond = lambda handler: _respond(handler, draw)
    try:
        install(archive, folder, server.url)
        text = (folder / "sst" / "trees" / "train.txt").read_bytes()
        is_right = text == b"(3 (2 we) (3 smile))\n" * 40
        return "" if is_right or not archive.sha256 else f"case {number}: wrong bytes are unpacked"
    except Exception as error:
        sentence = explain(error)
        if sentence is None or "\n" in sentence:
            return f"case {number}: {type(error).__name__}: {str(error)[:300]}"
        unpacked = [name for name in files(folder) if not name.startswith("archives/")]
        return f"case {number}: a refusal leaves {unpacked}" if unpacked else ""
    finally:
        server.http.shutdown()
        server.http.server_close()


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
