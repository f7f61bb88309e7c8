"""Fetches the official archives and unpacks them into the layout that the readers expect.

Run as `python -m data_prep.download sst --data_dir=data`; `data_prep.download.archives` lists the
names. Archives are kept in `<data_dir>/archives`; an archive placed there by hand passes the same
checks. When the command is run again, a broken download continues where it stopped.
"""

import argparse
import http.client
import json
import re
import socket
import sys
import time
import urllib.error
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from data_prep.download.archives import ALTERNATIVES, ARCHIVES, Archive
from data_prep.download.unpack import one_line, unpack
from data_prep.download.web import MIN_BYTES, TIMEOUT, Watchdog, open_url
from disan_tf.common.atomic import sync_and_rename, write_atomically
from disan_tf.common.errors import UserError, exit_status
from disan_tf.common.files import read_lines, sha256
from disan_tf.common.paths import home_path

BLOCK = 1 << 20  # bytes read at a time
_SPAN = re.compile(r"bytes (\d{1,15})-\d{1,15}/(\d{1,15}|\*)")  # the part that a server sends
_BILM = {  # keys of a biLM's options, groups and datasets of its weights
    ".json": {"char_cnn", "lstm"},
    ".hdf5": {"CNN", "RNN_0", "RNN_1", "char_embed"},
}
# In Python 3.9, socket.timeout is no TimeoutError.
_NO_ANSWER = (ConnectionRefusedError, TimeoutError, socket.timeout)
_STALLED = f"fewer than {MIN_BYTES:,} bytes in {TIMEOUT} s"


class NoAnswer(UserError):
    """The error if a server refuses the connection, or sends no part of the file in time."""


def install(archive: Archive, data_dir: Path, base_url: Optional[str] = None) -> None:
    """Downloads `archive` unless it exists, checks it and unpacks it (or copies a single file).

    Args:
      base_url: a mirror that holds a file with the same name.

    Raises:
      UserError: the network fails, or the archive's bytes or members are wrong. In these cases
        nothing is unpacked. A download with a wrong digest is removed, a user's own file is kept.
    """
    path = _path(archive, data_dir)
    url = f"{base_url.rstrip('/')}/{archive.name}" if base_url else archive.address
    if path.exists():
        digest = check(
            archive, path, f"replace or remove it (the official address is {archive.address})"
        )
    else:
        part = path.with_name(path.name + ".part")
        by_hand = f"place the official file by hand as {path}"
        again = f"{by_hand} and run the same command again"
        url = _fetch(url, part, archive.most, again, try_https=not base_url)
        try:
            digest = check(
                archive, part, f"it came from {url} and was removed; try again, or {by_hand}"
            )
        except UserError:
            part.unlink()
            raise
        sync_and_rename(part, path)
    unpack(path, Path(data_dir) / archive.folder, archive.rows, archive.whole)
    if not archive.sha256:  # recorded only now, so that a broken archive never becomes the norm
        write_atomically(_record(path), f"{digest}  {archive.name}\n")
        print(
            f"{archive.name} has no official digest. Its sha256 is {digest}; {_record(path)} keeps "
            "it, and later downloads must have it.",
            file=sys.stderr,
        )


def _path(archive: Archive, data_dir: Path) -> Path:
    return Path(data_dir) / "archives" / archive.name


def _fetch(url: str, part: Path, most: int, remedy: str, try_https: bool) -> str:
    """Fetches an address, over https if the server answers there; returns the address it used.

    Only a server that refuses the connection over https, or sends no part of the file in time, is
    asked over http. Every other failure is an error, such as a wrong certificate or a missing page:
    plain http must not bypass it.
    """
    plain = "http://"
    if try_https and url.startswith(plain):
        secure = "https://" + url[len(plain) :]
        try:
            fetch(secure, part, most, remedy)
            return secure
        except NoAnswer:
            print(
                f"{url} does not answer over https; over http, others on the way could change it.",
                file=sys.stderr,
            )
    fetch(url, part, most, remedy)
    return url


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def fetch(url: str, part: Path, most: int, remedy: str) -> None:
    """Downloads `url` into `part`, after the bytes that an earlier attempt left there.

    Args:
      most: bytes that the file may have; a longer file is removed.

    Raises:
      NoAnswer: the server refuses the connection, or sends no part of the file in time.
      UserError: the request fails otherwise, or the connection breaks; received bytes are kept. Or
        the file has more than `most` bytes, and is removed.
    """
    part.parent.mkdir(parents=True, exist_ok=True)
    watchdog, before, reason, has_no_answer = Watchdog(), _size(part), "", False
    try:
        with watchdog.awake():
            received, total = _receive(url, part, most, watchdog)
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason, received, total = one_line(error) or type(error).__name__, _size(part), None
        cause = getattr(error, "reason", error)  # a URLError wraps the connection's
        has_no_answer = isinstance(cause, _NO_ANSWER)
    if watchdog.has_barked:
        reason, has_no_answer = _STALLED, True
    if reason and received == before:
        kind = NoAnswer if has_no_answer else UserError
        raise kind(f"{url} cannot be fetched ({reason}); {remedy}.")
    if received > most:
        part.unlink()
        raise UserError(
            f"{url} sends more than the {most:,} bytes that the file may have, which were removed; "
            f"{remedy}."
        )
    if reason or total not in (None, received):
        of = "" if total is None else f" of {total:,}"
        because = f" ({reason})" if reason else ""
        raise UserError(
            f"{url} stopped after {received:,}{of} bytes{because}; run the same command again to "
            f"continue, or {remedy}."
        )


def _receive(url: str, part: Path, most: int, watchdog: Watchdog) -> tuple[int, Optional[int]]:
    """Appends the missing bytes to `part`, until it is too long.

    Returns:
      The number of bytes, and the expected number, None where the server does not say.
    """
    response, start, total = _open(url, _size(part), watchdog)
    if response is None:
        return start, total
    with response, open(part, "r+b" if start else "wb") as file:
        file.seek(start)
        if total is not None and total > most:
            return total, total
        return start + _copy(response, file, start, total, most, watchdog), total


def _open(url: str, start: int, watchdog: Watchdog):
    """Requests the bytes from `start` on.

    Returns:
      (response, its first byte, size of the whole or None); the response is None if no bytes are
      missing. A server that does not support ranges starts at 0 again.
    """
    headers = {"Range": f"bytes={start}-"} if start else {}
    try:
        response = open_url(url, headers, watchdog)
    except urllib.error.HTTPError as error:
        error.close()  # it is an open response too
        if not start or error.code != 416:
            raise
        if error.headers.get("Content-Range") == f"bytes */{start}":
            return None, start, start
        return _open(url, 0, watchdog)
    if response.status == 200:
        return response, 0, response.length
    if not start:
        response.close()
        raise ValueError(f"status {response.status}, but the whole file was asked for")
    span = _SPAN.fullmatch(response.headers.get("Content-Range", ""))
    if not span or int(span[1]) != start:
        response.close()
        return _open(url, 0, watchdog)
    return response, start, None if span[2] == "*" else int(span[2])


def _copy(response, file, start: int, total: Optional[int], most: int, watchdog: Watchdog) -> int:
    """Copies the body and prints the progress to standard error; returns the number of bytes.

    If the file has more than `most` bytes, the copy ends one byte after `most`.
    """
    received, last_print = 0, 0.0
    interval = 0.5 if sys.stderr.isatty() else 10.0  # seconds
    end = "\r" if sys.stderr.isatty() else "\n"
    while (size := min(BLOCK, most + 1 - start - received)) > 0:
        block = response.read1(size)
        if not block:
            break
        file.write(block)
        received += len(block)
        watchdog.count(len(block))
        if time.monotonic() - last_print > interval:
            last_print = time.monotonic()
            print(_progress(start + received, total), end=end, file=sys.stderr, flush=True)
    print(_progress(start + received, total), file=sys.stderr)
    return received


def _progress(received: int, total: Optional[int]) -> str:
    share = f" of {total / 1e6:.1f} MB ({received / total:.0%})" if total else " MB"
    return f"{received / 1e6:.1f}{share}"


def check(archive: Archive, path: Path, remedy: str) -> str:
    """Compares a file's digest with the official or the recorded one; returns it.

    Raises:
      UserError: the digest differs, or the content does not fit the name: it is a web page, not a
        zip archive, or damaged JSON or HDF5.
    """
    digest, size = sha256(path), path.stat().st_size
    expected, wanted = _expected(archive, path)
    head = _describe(path, archive.name)
    if expected and digest != expected:
        raise UserError(
            f"{path} has {size:,} bytes and sha256 {digest} instead of {wanted} {expected}"
            f"{head}; {remedy}."
        )
    if head:
        raise UserError(f"{path} has {size:,} bytes{head}; {remedy}.")
    return digest


def _expected(archive: Archive, path: Path) -> tuple[Optional[str], str]:
    """Returns the digest to compare with (None if there is none), and its description."""
    if archive.sha256:
        size = f"{archive.size:,} bytes and" if archive.size else "sha256"
        return archive.sha256, f"the official {size}"
    record = _record(path)
    if not record.exists():
        return None, ""
    _, line = next(read_lines(record), (1, ""))
    if not re.fullmatch(r"[0-9a-f]{64}  .*", line):
        raise UserError(f"{record}, line 1 is not a sha256 and a name; remove the file.")
    return line[:64], f"the one recorded in {record},"


def _record(path: Path) -> Path:
    """Returns the path of an archive's recorded digest, for archives without an official one."""
    name = path.name[: -len(".part")] if path.name.endswith(".part") else path.name
    return path.with_name(name + ".sha256")


def _describe(path: Path, name: str) -> str:
    """Says why the content does not fit the name, as the end of a sentence; "" if it fits."""
    with open(path, "rb") as file:
        head = file.read(60)
    pages = (b"<!doctype html", b"<html", b"<head", b"<?xml")
    if head.lstrip(b"\xef\xbb\xbf \r\n\t").lower().startswith(pages):
        return f", is an HTML page and begins with {head!r}"
    if name.endswith(".zip") and not head.startswith(b"PK"):
        return f", is not a zip archive and begins with {head!r}"
    damage = _damage(path, name)
    return f", is damaged or incomplete ({damage})" if damage else ""


def _damage(path: Path, name: str) -> str:
    """Describes the damage to a biLM's options or weights; "" if there is none."""
    try:
        if name.endswith(".json"):
            found = json.loads(path.read_bytes())
            missing = _BILM[".json"].difference(found if isinstance(found, dict) else ())
        elif name.endswith(".hdf5"):
            import h5py  # after disan_tf, which turns HDF5's file locks off

            with h5py.File(path, "r") as file:
                missing = _BILM[".hdf5"].difference(file)
        else:
            return ""
    except (OSError, RuntimeError, ValueError, RecursionError) as error:
        return one_line(error)
    return f"it lacks {', '.join(sorted(missing))}" if missing else ""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Installs one corpus; returns the exit status."""
    parser = argparse.ArgumentParser(prog="data_prep.download", description=__doc__)
    parser.add_argument("corpus", help=", ".join(ARCHIVES))
    parser.add_argument("--data_dir", type=home_path, default=Path("data"))
    parser.add_argument("--base_url", help="address of a mirror with files of the same names")
    options = parser.parse_args(arguments)
    try:
        return exit_status(lambda: _install_corpus(options))
    except KeyboardInterrupt:
        print("Stopped; run the same command again to continue.", file=sys.stderr)
        return 130


def _install_corpus(options):
    if options.corpus not in ARCHIVES:
        raise UserError(f"{options.corpus} is unknown; known are {', '.join(ARCHIVES)}.")
    archives = ARCHIVES[options.corpus]
    if options.corpus in ALTERNATIVES:
        _install_any(archives, options.data_dir, options.base_url)
        return
    for archive in archives:
        install(archive, options.data_dir, options.base_url)


def _install_any(archives: Sequence[Archive], data_dir: Path, base_url: Optional[str]) -> None:
    """Installs the first archive that can be installed; files that are there come first.

    Raises:
      UserError, OSError: none can be installed; the first archive's error is raised.
    """
    errors = []
    for archive in sorted(archives, key=lambda one: not _path(one, data_dir).exists()):
        try:
            install(archive, data_dir, base_url)
        except (UserError, OSError) as error:
            errors.append(error)
            continue
        for error in errors:
            print(
                f"{archive.name} is enough; another archive, which is not needed, failed: {error}",
                file=sys.stderr,
            )
        return
    raise errors[0]
