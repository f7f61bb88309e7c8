"""Folders that other users can write to or replace."""

import grp
import os
import pwd

import pytest

from disan_tf.common.ownership import foreign_parent


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder below three others, outside the home folder."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    path = tmp_path / "a" / "b" / "c" / "cache"
    path.mkdir(parents=True, mode=0o700)
    return path


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("mode", [0o702, 0o722, 0o777])
def test_a_parent_that_others_can_write_is_named(folder, level, mode):
    assert foreign_parent(folder) is None
    folder.parents[level].chmod(mode)
    reason = f"can be written by others (mode {mode:04o})"
    assert foreign_parent(folder) == (folder.parents[level], reason)


@pytest.mark.parametrize("mode", [0o1777, 0o1772, 0o755])
def test_a_parent_that_is_sticky_or_only_read_by_others_is_accepted(folder, mode):
    folder.parent.chmod(mode)
    assert foreign_parent(folder) is None


def test_parents_above_the_home_folder_are_not_checked(folder, monkeypatch):
    folder.parents[1].chmod(0o777)
    assert foreign_parent(folder)[0] == folder.parents[1]
    monkeypatch.setenv("HOME", str(folder.parents[0]))
    assert foreign_parent(folder) is None
    monkeypatch.setenv("HOME", str(folder.parents[1]))
    assert foreign_parent(folder)[0] == folder.parents[1]


@pytest.mark.parametrize(
    ("name", "members", "is_fine"),
    [("me", [], True), ("me", ["me"], True), ("me", ["you"], False), ("staff", [], False)],
)
def test_a_group_may_write_if_it_is_the_users_own(folder, monkeypatch, name, members, is_fine):
    number = os.stat(folder).st_gid
    user = pwd.struct_passwd(("me", "x", os.geteuid(), number, "", "/", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: user)
    monkeypatch.setattr(grp, "getgrgid", lambda _: grp.struct_group((name, "x", number, members)))
    folder.parent.chmod(0o775)
    assert (foreign_parent(folder) is None) == is_fine


def test_a_user_without_an_entry_has_no_group(folder, monkeypatch):
    monkeypatch.setattr(pwd, "getpwuid", lambda number: {}[number])
    folder.parent.chmod(0o775)
    assert foreign_parent(folder)[0] == folder.parent
