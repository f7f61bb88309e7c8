"""Which folders other users can write to or replace, so that no code is loaded from them."""

import grp
import os
import pwd
import stat
from collections.abc import Collection
from pathlib import Path
from typing import Optional

OTHERS = stat.S_IWGRP | stat.S_IWOTH


def why_foreign(
    status: os.stat_result, owners: Optional[Collection[int]] = None, refused: int = OTHERS
) -> str:
    """Returns why another user can write a file or a folder; "" if nobody else can.

    Args:
      status: the status of the file or folder.
      owners: users who may own it; None = this user and root.
      refused: bits that its mode may not have.
    """
    if status.st_uid not in (owners or (os.geteuid(), 0)):
        return f"belongs to another user ({status.st_uid})"
    if status.st_mode & refused:
        return f"can be written by others (mode {stat.S_IMODE(status.st_mode):04o})"
    return ""


def foreign_parent(folder: Path) -> Optional[tuple[Path, str]]:
    """Returns the first parent by which another user can replace a folder, and why; or None.

    These are the rules of OpenSSH for the folders above a key: each parent must belong to this user
    or root, and nobody else may write to it; above the home folder nothing is checked. Two other
    kinds of parents are accepted. In a sticky folder, such as /tmp, nobody can rename what belongs
    to others. A group may write if this user is its only member, as with the umask 002.

    Args:
      folder: an existing folder, without symbolic links in its path.
    """
    for parent in folder.parents:
        status = parent.stat()
        refused = 0 if status.st_mode & stat.S_ISVTX else OTHERS
        if _is_private(status.st_gid):
            refused &= ~stat.S_IWGRP
        if reason := why_foreign(status, refused=refused):
            return parent, reason
        if parent == _home():
            break
    return None


def why_not_private(path: Path) -> str:
    """Returns which folder lets others write, make or replace `path`, and why; "" if none does."""
    existing = next(folder for folder in (path, *path.parents) if folder.exists())
    if reason := why_foreign(existing.stat()):
        return f"{existing} {reason}"
    return " ".join(map(str, foreign_parent(existing) or ()))


def _home() -> Optional[Path]:
    try:
        return Path.home().resolve()
    except RuntimeError:  # there is none
        return None


def _is_private(number: int) -> bool:
    """Returns whether a group is this user's private group, without other members."""
    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(number)
    except KeyError:
        return False
    is_own = user.pw_gid == number and user.pw_name == group.gr_name
    return is_own and {*group.gr_mem} <= {user.pw_name}
