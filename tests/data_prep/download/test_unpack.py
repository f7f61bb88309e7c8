"""data_prep/download/unpack.py: which members of an archive are written, and which are refused."""

import io
import shutil
import zipfile

import pytest

from data_prep.download import fetch as download
from data_prep.download.fetch import install
from data_prep.download.unpack import unpack
from disan_tf.common.errors import UserError
from tests.support.corpora.downloads import (
    BYTES,
    MEMBERS,
    files,
    message,
    pinned,
    place_by_hand,
    unpinned,
    zip_bytes,
)


def test_a_counted_member_needs_all_its_rows(tmp_path):
    place_by_hand(tmp_path, BYTES)
    for rows, reason in (
        ({"trees/train.txt": 41}, "trees/train.txt has 40 rows instead of 41"),
        ({"trees/gone.txt": 1}, "no member trees/gone.txt"),
        ({"trees/gone.txt": None}, "no member trees/gone.txt"),
    ):
        assert reason in message(unpinned(rows=rows, whole=False), tmp_path)
        assert files(tmp_path) == ["archives/small.zip"]
    place_by_hand(tmp_path, zip_bytes({"v.txt": "a 1\nb 2"}))
    install(unpinned(rows={"v.txt": 2}), tmp_path)
    assert (tmp_path / "sst/v.txt").read_text() == "a 1\nb 2"


@pytest.mark.parametrize(
    "name", ["/evil.txt", "../evil.txt", "trees/../../evil.txt", "..\\evil.txt", "C:\\evil.txt"]
)
def test_a_member_that_leaves_the_folder_is_refused_by_name(tmp_path, name):
    data = zip_bytes({**MEMBERS, name: "evil"})
    place_by_hand(tmp_path, data)
    assert repr(name) in message(pinned(data), tmp_path)
    assert files(tmp_path) == ["archives/small.zip"]
    assert not (tmp_path.parent / "evil.txt").exists()


def test_a_symbolic_link_is_refused_by_name(tmp_path):
    link = zipfile.ZipInfo("trees/link")
    link.external_attr = 0o120777 << 16
    data = zip_bytes({**MEMBERS, link: "/etc"})
    place_by_hand(tmp_path, data)
    assert "'trees/link'" in message(pinned(data), tmp_path)
    assert files(tmp_path) == ["archives/small.zip"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["trees/dev.txt", "trees//dev.txt", "./trees/dev.txt"])
def test_a_member_that_is_there_twice_is_refused(tmp_path, name):
    buffer = io.BytesIO(BYTES)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(name, "other")
    data = buffer.getvalue()
    place_by_hand(tmp_path, data)
    text = message(pinned(data), tmp_path)
    assert "has the member" in text and "twice; replace it" in text
    assert files(tmp_path) == ["archives/small.zip"]


def test_a_bomb_is_refused(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("trees/train.txt", b"0" * (20 << 20))
    place_by_hand(tmp_path, buffer.getvalue())
    text = message(unpinned(), tmp_path)
    assert "small.zip would expand from" in text and "to 20,971,520 bytes" in text
    assert files(tmp_path) == ["archives/small.zip"]


def test_a_file_that_is_a_folder_too_is_refused(tmp_path):
    data = zip_bytes({"trees": "a file", "trees/dev.txt": "in a folder"})
    place_by_hand(tmp_path, data)
    assert "small.zip cannot be unpacked (" in message(pinned(data), tmp_path)


def test_an_archive_with_a_hole_anywhere_is_one_line_or_whole(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in MEMBERS.items():
            archive.writestr(name, text)
        extra = zipfile.ZipInfo("trees/\u00e9.txt")
        extra.extra = b"\x01\x00\x08\x00" + b"\x00" * 8
        archive.writestr(extra, "text")
    whole = buffer.getvalue()
    for start in range(0, len(whole), 17):
        for fill in (b"\x00" * 8, b"\xff" * 2):
            data = (whole[:start] + fill + whole[start + len(fill) :])[: len(whole)]
            shutil.rmtree(tmp_path / "sst", ignore_errors=True)
            path = tmp_path / "small.zip"
            path.write_bytes(data)
            try:
                unpack(path, tmp_path / "sst", {})
            except UserError as error:
                assert "\n" not in str(error)
                assert files(tmp_path / "sst") == []


def test_another_file_of_the_same_name_is_not_overwritten(tmp_path):
    place_by_hand(tmp_path, BYTES)
    mine = tmp_path / "sst/trees/train.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("(4 mine)\n")
    assert f"{mine} differs" in message(pinned(), tmp_path)
    assert mine.read_text() == "(4 mine)\n"
    assert files(tmp_path) == ["archives/small.zip", "sst/trees/train.txt"]


def test_the_members_of_an_archive_may_bring_their_own_folder(tmp_path):
    data = zip_bytes({"snli_1.0/snli_1.0_dev.jsonl": "{}\n", "snli_1.0/Icon\r": ""})
    place_by_hand(tmp_path, data)
    install(pinned(data)._replace(folder=download.ARCHIVES["snli"][0].folder), tmp_path)
    assert "snli_1.0/snli_1.0_dev.jsonl" in files(tmp_path)


def test_archives_of_one_folder_may_each_have_a_readme(tmp_path):
    for name in ("first", "second"):
        data = zip_bytes({"readme.txt": f"the {name}", f"{name}.txt": "soup\n"})
        place_by_hand(tmp_path, data)
        install(pinned(data, rows={f"{name}.txt": 1}, whole=False), tmp_path)
    assert files(tmp_path / "sst") == ["first.txt", "second.txt"]


def test_the_other_edition_of_sick_is_refused_by_its_rows(tmp_path):
    archive = download.ARCHIVES["sick"][0]
    path = tmp_path / "archives" / archive.name
    path.parent.mkdir()
    path.write_bytes(zip_bytes({"SICK_train.txt": "a row\n" * 4440, "readme.txt": "other"}))
    assert "SICK_train.txt has 4,440 rows instead of 4,501" in message(archive, tmp_path)
    assert files(tmp_path / "sick") == []
