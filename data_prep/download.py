"""Fetches the official archives and unpacks them into the layout that the readers expect.

Run as `python -m data_prep.download sst --data_dir=data` (or `snli`, `glove.6B`, `glove.840B`).
Archives lie in `<data_dir>/archives`; one that was put there by hand is used after the same checks.
A broken download continues where it stopped when the command is run again.
"""

import argparse
import http.client
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Optional

from data_prep.unpacking import unpack
from disan_tf.errors import UserError, exit_status
from disan_tf.files import read_lines, sha256, write_atomically

BLOCK = 1 << 20  # bytes read at a time
TIMEOUT = 60  # seconds without a byte before the server counts as gone


class Archive(NamedTuple):
    """An official archive.

    Attributes:
      address: where the corpus' home page puts it.
      folder: where under the data directory it is unpacked.
      size, sha256: in bytes and in hexadecimal; None where the publisher's are not known.
      rows: the number of lines of the members that are counted.
    """

    address: str
    folder: str
    size: Optional[int] = None
    sha256: Optional[str] = None
    rows: Mapping[str, int] = {}

    @property
    def name(self) -> str:
        return self.address.rsplit("/", 1)[-1]


ARCHIVES = {
    "sst": (
        Archive(
            "https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip",
            "sst",
            789_539,
            "5c613a4f673fc74097d523a2c83f38e0cc462984d847b82c7aaf36b01cbbbfcc",
        ),
        Archive(
            "https://nlp.stanford.edu/~socherr/stanfordSentimentTreebank.zip",
            "sst",
            6_372_817,
            "3f5209483b46bbf129cacbbbe6ae02fe780407034f61cf6342b7833257c3f1db",
        ),
    ),
    "snli": (
        Archive(
            "https://nlp.stanford.edu/projects/snli/snli_1.0.zip",
            ".",  # its members lie in snli_1.0/
            94_550_081,
            "afb3d70a5af5d8de0d9d81e2637e0fb8c22d1235c2749d83125ca43dab0dbd3e",
        ),
    ),
    "glove.6B": (
        Archive(
            "https://nlp.stanford.edu/data/glove.6B.zip",
            "glove",
            rows={f"glove.6B.{dim}d.txt": 400_000 for dim in (50, 100, 200, 300)},
        ),
    ),
    "glove.840B": (
        Archive(
            "https://nlp.stanford.edu/data/glove.840B.300d.zip",
            "glove",
            rows={"glove.840B.300d.txt": 2_196_017},
        ),
    ),
}


def install(archive: Archive, data_dir: Path, base_url: Optional[str] = None) -> None:
    """Downloads `archive` unless it lies there, checks it, unpacks it.

    Args:
      base_url: another place than the official one that holds a file of the same name.

    Raises:
      UserError: the network, the bytes or a member of the archive is not as it should be. Nothing
        is unpacked then. A download with a wrong digest is removed, a file put by hand is kept.
    """
    path = Path(data_dir) / "archives" / archive.name
    url = f"{base_url.rstrip('/')}/{archive.name}" if base_url else archive.address
    if path.exists():
        digest = check(
            archive, path, f"replace or remove it (the official address is {archive.address})"
        )
    else:
        part = path.with_name(path.name + ".part")
        by_hand = f"place the official file by hand as {path}"
        fetch(url, part, f"{by_hand} and run the same command again")
        try:
            digest = check(
                archive, part, f"it came from {url} and was removed; try again, or {by_hand}"
            )
        except UserError:
            part.unlink()
            raise
        part.replace(path)
    unpack(path, Path(data_dir) / archive.folder, archive.rows)
    if not archive.sha256:  # recorded only now, so that a broken archive never becomes the norm
        write_atomically(_record(path), f"{digest}  {archive.name}\n")


def fetch(url: str, part: Path, remedy: str) -> None:
    """Downloads `url` into `part`, after the bytes that an earlier attempt left there.

    Raises:
      UserError: the server cannot be reached, or the connection broke; what came is kept.
    """
    part.parent.mkdir(parents=True, exist_ok=True)
    try:
        response, start, total = _open(url, part.stat().st_size if part.exists() else 0)
        if response is None:
            return
        with response, open(part, "r+b" if start else "wb") as file:
            file.seek(start)
            received = start + _copy(response, file, start, total)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise UserError(f"{url} cannot be fetched ({error}); {remedy}.") from None
    if total is not None and received != total:
        raise UserError(
            f"{url} stopped after {received:,} of {total:,} bytes; run the same command again "
            f"to continue, or {remedy}."
        )


def _open(url: str, start: int):
    """Asks for the bytes from `start` on.

    Returns:
      (response, first byte that it holds, size of the whole or None); the response is None when
      all bytes are there already. A server that knows no ranges starts at 0 again.
    """
    headers = {"Range": f"bytes={start}-"} if start else {}
    try:
        response = urllib.request.urlopen(
            urllib.request.Request(url, headers=headers), timeout=TIMEOUT
        )
    except urllib.error.HTTPError as error:
        error.close()  # it is an open response too
        if not start or error.code != 416:
            raise
        if error.headers.get("Content-Range") == f"bytes */{start}":
            return None, start, start
        return _open(url, 0)
    length = response.headers.get("Content-Length")
    if response.status != 206:
        return response, 0, int(length) if length else None
    span = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
    if not span or int(span[1]) != start:
        response.close()
        return _open(url, 0)
    return response, start, None if span[2] == "*" else int(span[2])


def _copy(response, file, start: int, total: Optional[int]) -> int:
    """Copies the body and shows the progress on standard error; returns the number of bytes."""
    received, shown = 0, 0.0
    interval = 0.5 if sys.stderr.isatty() else 10.0  # seconds
    end = "\r" if sys.stderr.isatty() else "\n"
    for block in iter(lambda: response.read(BLOCK), b""):
        file.write(block)
        received += len(block)
        if time.monotonic() - shown > interval:
            shown = time.monotonic()
            print(_progress(start + received, total), end=end, file=sys.stderr, flush=True)
    print(_progress(start + received, total), file=sys.stderr)
    return received


def _progress(received: int, total: Optional[int]) -> str:
    share = f" of {total / 1e6:.1f} MB ({received / total:.0%})" if total else " MB"
    return f"{received / 1e6:.1f}{share}"


def check(archive: Archive, path: Path, remedy: str) -> str:
    """Compares a file's digest with the official one, or with the one first seen; returns it.

    Raises:
      UserError: it differs, or the file is no zip archive.
    """
    digest, size = sha256(path), path.stat().st_size
    expected, wanted = _expected(archive, path)
    head = _describe(path)
    if expected and digest != expected:
        raise UserError(
            f"{path} has {size:,} bytes and sha256 {digest} instead of {wanted} {expected}"
            f"{head}; {remedy}."
        )
    if head:
        raise UserError(f"{path} ({size:,} bytes){head}; {remedy}.")
    return digest


def _expected(archive: Archive, path: Path) -> tuple[Optional[str], str]:
    """The digest to compare with (None when the file is seen for the first time), and its name."""
    if archive.sha256:
        return archive.sha256, f"the official {archive.size:,} bytes and"
    record = _record(path)
    if not record.exists():
        return None, ""
    _, line = next(read_lines(record), (1, ""))
    if not re.fullmatch(r"[0-9a-f]{64}  .*", line):
        raise UserError(f"{record}, line 1 is not a sha256 and a name; remove the file.")
    return line[:64], f"the one recorded in {record},"


def _record(path: Path) -> Path:
    """Where the digest of an archive is kept whose publisher names none."""
    name = path.name[: -len(".part")] if path.name.endswith(".part") else path.name
    return path.with_name(name + ".sha256")


def _describe(path: Path) -> str:
    """Says what a file is that is no zip archive, with its first bytes; "" for an archive."""
    with open(path, "rb") as file:
        head = file.read(60)
    if head.startswith(b"PK"):
        return ""
    pages = (b"<!doctype html", b"<html", b"<head", b"<?xml")
    kind = "an HTML page" if head.lstrip(b"\xef\xbb\xbf \r\n\t").lower().startswith(pages) else ""
    return f", is {kind or 'not a zip archive'} and begins with {head!r}"


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Installs one corpus; returns the exit status."""
    parser = argparse.ArgumentParser(prog="data_prep.download", description=__doc__)
    parser.add_argument("corpus", help=", ".join(ARCHIVES))
    parser.add_argument("--data_dir", type=Path, default=Path("data"))
    parser.add_argument("--base_url", help="a mirror that holds the files by their names")
    options = parser.parse_args(arguments)
    try:
        return exit_status(lambda: _install_corpus(options))
    except KeyboardInterrupt:
        print("Stopped; run the same command again to continue.", file=sys.stderr)
        return 130


def _install_corpus(options):
    if options.corpus not in ARCHIVES:
        raise UserError(f"{options.corpus} is unknown; known are {', '.join(ARCHIVES)}.")
    for archive in ARCHIVES[options.corpus]:
        install(archive, options.data_dir, options.base_url)


if __name__ == "__main__":
    sys.exit(main())
