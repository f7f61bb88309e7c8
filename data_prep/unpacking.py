"""Zip archives -> folders: all of an archive or nothing, and nothing outside the folder."""

import filecmp
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from disan_tf.errors import UserError

BLOCK = 1 << 20  # bytes read at a time


def unpack(path: Path, folder: Path, rows: Mapping[str, int]) -> None:
    """Unpacks a zip archive into `folder`: all of its files, or none.

    Args:
      rows: members that must be there, and their numbers of lines.

    Raises:
      UserError: the archive is broken, lacks a member or rows of it, holds a member whose path
        would leave the folder, or another file of the same name lies there already.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".unpacking-") as temporary:
        try:
            with zipfile.ZipFile(path) as archive:
                names = _extract(archive, path, Path(temporary), rows)
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError) as error:
            raise UserError(
                f"{path} cannot be unpacked ({error}); remove it and run the same command again."
            ) from None
        for name in names:
            target = folder / name
            if target.exists() and not filecmp.cmp(Path(temporary) / name, target, shallow=False):
                raise UserError(f"{target} differs from the one in {path}; move it away first.")
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(temporary) / name).replace(folder / name)


def _extract(
    archive: zipfile.ZipFile, path: Path, folder: Path, rows: Mapping[str, int]
) -> list[str]:
    """Writes the members into `folder` and counts their rows; returns their names."""
    members = [info for info in archive.infolist() if not info.filename.startswith("__MACOSX/")]
    for info in members:
        _refuse_unsafe(info, path)
    names = [info.filename for info in members if not info.is_dir()]
    for name in rows:
        if name not in names:
            raise UserError(f"{path} has no member {name}; replace it by the official archive.")
    for name in names:
        count = _extract_member(archive, name, folder / name)
        if count != rows.get(name, count):
            raise UserError(
                f"{path}: {name} has {count:,} rows instead of {rows[name]:,}; replace it by the "
                "official archive."
            )
    return names


def _refuse_unsafe(info: zipfile.ZipInfo, path: Path) -> None:
    """Refuses links, devices, and every path that could leave the folder, on any system."""
    name = info.filename.replace("\\", "/")
    kind = stat.S_IFMT(info.external_attr >> 16)
    outside = name.startswith("/") or ":" in name or ".." in PurePosixPath(name).parts
    if outside or kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise UserError(
            f"{path}: the member {info.filename!r} is a link or leaves the folder, so nothing was "
            "unpacked; replace it by the official archive."
        )


def _extract_member(archive: zipfile.ZipFile, name: str, target: Path) -> int:
    """Copies one member to `target` and returns its number of lines."""
    target.parent.mkdir(parents=True, exist_ok=True)
    count, last = 0, b"\n"
    with archive.open(name) as source, open(target, "wb") as file:
        for block in iter(lambda: source.read(BLOCK), b""):
            file.write(block)
            count += block.count(b"\n")
            last = block[-1:]
    return count + (last != b"\n")
