"""Unpacks archives into folders: a whole archive or nothing, and nothing outside the folder."""

import errno
import filecmp
import lzma
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Optional

from disan_tf.common.atomic import open_atomically, scratch_folder, sync_and_rename
from disan_tf.common.errors import UserError

BLOCK = 1 << 20  # bytes read at a time

EXPANSION = 30  # an archive's largest expansion; text expands three- to sevenfold
ALLOWANCE = 1 << 20  # bytes that any archive may expand to

# Errors that `zipfile` raises on damaged archives.
ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    LookupError,
    ArithmeticError,
)

LineCounts = Mapping[str, Optional[int]]


def one_line(text) -> str:
    """Converts an external message, or a name, to a part of one line."""
    printable = "".join(character if character.isprintable() else " " for character in str(text))
    return " ".join(printable.split())[:200]


def unpack(path: Path, folder: Path, rows: LineCounts, whole: bool = True) -> None:
    """Unpacks a zip archive into `folder`, or copies a file of any other kind: all or nothing.

    Args:
      rows: required members, and their numbers of lines (None: any number).
      whole: whether to unpack the other members too.

    Raises:
      UserError: the archive is broken, lacks a member or a member's rows, holds a member twice or a
        member whose path would leave the folder, or expands out of proportion; or the folder has
        another file with the same name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with scratch_folder(folder / path.stem) as scratch:
        try:
            names = _write_members(path, scratch, rows, whole)
        except ZIP_ERRORS as error:
            is_full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            remedy = "free disk space" if is_full else "remove it"
            raise UserError(
                f"{path} cannot be unpacked ({one_line(error)}); {remedy} and run the same command "
                "again."
            ) from None
        for name in names:
            target = folder / name
            if target.exists() and not filecmp.cmp(scratch / name, target, shallow=False):
                raise UserError(
                    f"{folder / one_line(name)} differs from the one in {path}; move it away first."
                )
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            sync_and_rename(scratch / name, folder / name)


def _write_members(path: Path, folder: Path, rows: LineCounts, whole: bool) -> list[str]:
    """Writes the members, or the single file, into `folder`; returns their names."""
    if path.suffix != ".zip":
        with open(path, "rb") as source:
            _copy(source, path.name, folder, path, rows)
        return [path.name]
    with zipfile.ZipFile(path) as archive:
        names = _members(archive, path, rows, whole)
        for name in names:
            with archive.open(name) as source:
                _copy(source, name, folder, path, rows)
    return names


def _members(archive: zipfile.ZipFile, path: Path, rows: LineCounts, whole: bool) -> list[str]:
    """Returns the names of the members to unpack."""
    members = [info for info in archive.infolist() if not info.filename.startswith("__MACOSX/")]
    for info in members:
        _refuse_unsafe(info, path)
    names = [info.filename for info in members if not info.is_dir()]
    for name in rows:
        if name not in names:
            raise UserError(f"{path} has no member {name}; replace it with the official archive.")
    wanted = names if whole else list(rows)
    _refuse_doubled(set(wanted), names, path)
    refuse_bomb(members, path)
    return wanted


def _refuse_doubled(wanted: Collection[str], names: list[str], path: Path) -> None:
    places = Counter(map(PurePosixPath, names))  # a/b, a//b and ./a/b are one
    for name in wanted:
        if places[PurePosixPath(name)] > 1:
            raise UserError(
                f"{path} has the member {name!r} twice; replace it with the official archive."
            )


def refuse_bomb(members: Iterable[zipfile.ZipInfo], path: Path) -> None:
    """Raises UserError if members of an archive would expand out of proportion to its size."""
    size = sum(info.file_size for info in members)
    if size > EXPANSION * path.stat().st_size + ALLOWANCE:
        raise UserError(
            f"{path} would expand from {path.stat().st_size:,} to {size:,} bytes; replace it with "
            "the official archive."
        )


def _refuse_unsafe(info: zipfile.ZipInfo, path: Path) -> None:
    """Rejects links, devices, and every path that could leave the folder, on any system."""
    name = info.filename.replace("\\", "/")
    kind = stat.S_IFMT(info.external_attr >> 16)
    outside = name.startswith("/") or ":" in name or ".." in PurePosixPath(name).parts
    if outside or kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise UserError(
            f"{path}: the member {info.filename!r} is a link or leaves the folder, so nothing was "
            "unpacked; replace it with the official archive."
        )


def _copy(source: BinaryIO, name: str, folder: Path, path: Path, rows: LineCounts) -> None:
    """Copies one member and counts its lines."""
    count, last = 0, b"\n"
    with open_atomically(folder / name) as file:
        for block in iter(lambda: source.read(BLOCK), b""):
            file.write(block)
            count += block.count(b"\n")
            last = block[-1:]
    count += last != b"\n"
    if rows.get(name) not in (None, count):
        raise UserError(
            f"{path}: {name} has {count:,} rows instead of {rows[name]:,}; replace it with "
            "the official archive."
        )
