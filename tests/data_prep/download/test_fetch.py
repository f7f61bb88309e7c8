"""data_prep/download/fetch.py: fetching from well-behaved and other servers."""

import contextlib
import hashlib
import re
from pathlib import Path

import pytest

from data_prep.download import fetch as download
from data_prep.download.fetch import install
from disan_tf.common.errors import UserError
from tests.support.corpora.downloads import (
    BYTES,
    MEMBERS,
    archive_file,
    files,
    message,
    pinned,
    place_by_hand,
    unpinned,
    zip_bytes,
)

CUT = 100  # bytes after which the interrupting server hangs up


def leave_part(tmp_path, data: bytes):
    part = tmp_path / "archives" / "small.zip.part"
    part.parent.mkdir(parents=True, exist_ok=True)
    part.write_bytes(data)
    return part


def test_an_archive_is_fetched_checked_and_unpacked_without_resource_forks(server, tmp_path):
    install(pinned(), tmp_path, server.url)
    assert files(tmp_path) == ["archives/small.zip", "sst/trees/dev.txt", "sst/trees/train.txt"]
    assert (tmp_path / "sst/trees/train.txt").read_text() == MEMBERS["trees/train.txt"]


def test_progress_goes_to_standard_error(server, tmp_path, capsys):
    install(pinned(), tmp_path, server.url)
    output = capsys.readouterr()
    assert "(100%)" in output.err and not output.out


def test_a_second_run_asks_the_server_nothing(server, tmp_path):
    install(pinned(), tmp_path, server.url)
    install(pinned(), tmp_path, server.url)
    assert server.asked == [None]


def test_an_archive_placed_by_hand_is_used_without_a_server(tmp_path):
    place_by_hand(tmp_path, BYTES)
    install(pinned(), tmp_path)
    assert (tmp_path / "sst/trees/train.txt").exists()


def test_a_wrong_archive_placed_by_hand_is_refused_and_kept(tmp_path):
    place_by_hand(tmp_path, BYTES + b"x")
    text = message(pinned(), tmp_path)
    assert "https://home.example/small.zip" in text
    assert files(tmp_path) == ["archives/small.zip"]


def test_an_interrupted_download_keeps_its_part_and_says_how_to_continue(server, tmp_path):
    server.cut = CUT
    text = message(pinned(), tmp_path, server.url)
    assert f"after {CUT:,} of {len(BYTES):,} bytes" in text and "again to continue" in text
    assert (tmp_path / "archives/small.zip.part").read_bytes() == BYTES[:CUT]
    assert not archive_file(tmp_path).exists()


def test_an_interrupted_download_continues_where_it_stopped(server, tmp_path):
    server.cut = CUT
    message(pinned(), tmp_path, server.url)
    server.cut = None
    install(pinned(), tmp_path, server.url)
    assert server.asked == [None, f"bytes={CUT}-"]
    assert archive_file(tmp_path).read_bytes() == BYTES


@pytest.mark.parametrize("ranges", ["no", "shifted"])
def test_a_server_without_proper_ranges_sends_everything_again(server, tmp_path, ranges):
    leave_part(tmp_path, b"wrong" * 10)  # would spoil the digest if it were kept
    server.ranges = ranges
    install(pinned(), tmp_path, server.url)
    assert archive_file(tmp_path).read_bytes() == BYTES


def test_a_part_that_is_complete_already_is_not_fetched_again(server, tmp_path):
    leave_part(tmp_path, BYTES)
    install(pinned(), tmp_path, server.url)
    assert server.asked == [f"bytes={len(BYTES)}-"]
    assert archive_file(tmp_path).read_bytes() == BYTES


def test_a_part_longer_than_the_archive_is_fetched_from_the_start(server, tmp_path):
    leave_part(tmp_path, BYTES + b"more")
    install(pinned(), tmp_path, server.url)
    assert server.asked == [f"bytes={len(BYTES) + 4}-", None]
    assert archive_file(tmp_path).read_bytes() == BYTES


def test_http_is_used_where_https_does_not_answer_and_said(server, tmp_path, capsys):
    archive = pinned()._replace(address=f"{server.url}small.zip")
    install(archive, tmp_path)
    assert archive_file(tmp_path).read_bytes() == BYTES
    assert f"{server.url}small.zip does not answer by https" in capsys.readouterr().err


@pytest.mark.parametrize("sent, fetched", [(0, ["https", "http"]), (9, ["https"])])
def test_https_comes_first_and_is_not_given_up_once_it_has_sent_bytes(
    tmp_path, monkeypatch, sent, fetched
):
    def fetch(url, part, *_):
        asked.append(url.split(":")[0])
        part.parent.mkdir(exist_ok=True)
        part.write_bytes(BYTES[:sent] if url.startswith("https") else BYTES)
        if url.startswith("https"):
            raise UserError("it broke")

    asked = []
    monkeypatch.setattr(download, "fetch", fetch)
    archive = pinned()._replace(address="http://home.example/small.zip")
    with contextlib.suppress(UserError):
        install(archive, tmp_path)
    assert asked == fetched
    assert archive_file(tmp_path).exists() == (sent == 0)


def test_corrupted_bytes_are_refused_with_both_digests_and_the_size(server, tmp_path):
    server.body = BYTES[:-1] + b"x"
    text = message(pinned(), tmp_path, server.url)
    for expected in (BYTES, server.body):
        assert hashlib.sha256(expected).hexdigest() in text
    assert f"{len(BYTES):,} bytes" in text and server.url in text
    assert files(tmp_path) == []


@pytest.mark.parametrize("archive", [pinned(), unpinned()], ids=["pinned", "unpinned"])
def test_a_web_page_is_named_and_quoted_and_the_hand_path_given(server, tmp_path, archive):
    server.body = b"\n<!DOCTYPE html><html><body>Please log in</body></html>"
    text = message(archive, tmp_path, server.url)
    assert "an HTML page" in text and "<!DOCTYPE html>" in text
    assert f"place the official file by hand as {archive_file(tmp_path)}" in text
    assert files(tmp_path) == []


def test_other_bytes_than_an_archive_are_quoted(server, tmp_path):
    server.body = b'{"error": "quota"}'
    text = message(unpinned(), tmp_path, server.url)
    assert "not a zip archive" in text and '{"error": "quota"}' in text


def test_a_digest_that_is_first_seen_is_recorded_and_said(server, tmp_path, capsys):
    install(unpinned(), tmp_path, server.url)
    record = (tmp_path / "archives/small.zip.sha256").read_text()
    assert record == f"{hashlib.sha256(BYTES).hexdigest()}  small.zip\n"
    said = capsys.readouterr().err
    assert f"no official digest. Its sha256 is {hashlib.sha256(BYTES).hexdigest()};" in said


def test_a_later_difference_from_the_recorded_digest_is_refused(server, tmp_path):
    install(unpinned(), tmp_path, server.url)
    archive_file(tmp_path).unlink()
    server.body = zip_bytes({**MEMBERS, "trees/test.txt": "(2 so)\n"})
    text = message(unpinned(), tmp_path, server.url)
    assert hashlib.sha256(BYTES).hexdigest() in text and "small.zip.sha256" in text
    assert not (tmp_path / "sst/trees/test.txt").exists()


def test_a_damaged_digest_record_is_named(tmp_path):
    place_by_hand(tmp_path, BYTES)
    archive_file(tmp_path).with_name("small.zip.sha256").write_text("abc\n")
    assert "small.zip.sha256, line 1" in message(unpinned(), tmp_path)


def test_a_truncated_archive_without_a_length_is_refused_and_not_recorded(server, tmp_path):
    server.has_length, server.cut = False, len(BYTES) - 30
    assert "cannot be unpacked" in message(unpinned(), tmp_path, server.url)
    assert files(tmp_path) == ["archives/small.zip"]


def test_an_address_that_answers_an_error_is_named_with_the_hand_path(server, tmp_path):
    text = message(pinned(), tmp_path, server.url + "nowhere")
    assert f"{server.url}nowhere/small.zip cannot be fetched" in text and "404" in text
    assert f"by hand as {archive_file(tmp_path)}" in text
    assert files(tmp_path) == []


def test_a_server_that_is_not_there_is_one_sentence(server, tmp_path):
    server.http.shutdown()
    server.http.server_close()
    text = message(pinned(), tmp_path, server.url)
    assert f"{server.url}small.zip cannot be fetched" in text
    assert f"by hand as {archive_file(tmp_path)}" in text


def test_the_command_exits_with_two_and_one_line_for_an_unknown_corpus(tmp_path, capsys):
    assert download.main(["glove.7B", f"--data_dir={tmp_path}"]) == 2
    error = capsys.readouterr().err
    assert error == f"glove.7B is unknown; known are {', '.join(download.ARCHIVES)}.\n"


def test_the_command_installs_every_archive_of_a_corpus(server, tmp_path, monkeypatch):
    monkeypatch.setitem(download.ARCHIVES, "sst", (pinned(),))
    status = download.main(["sst", f"--data_dir={tmp_path}", f"--base_url={server.url}"])
    assert status == 0 and (tmp_path / "sst/trees/dev.txt").exists()


def _other_layout():
    return pinned()._replace(address="https://home.example/other.zip")


def test_the_first_whole_archive_of_sst_is_enough(server, tmp_path, monkeypatch):
    monkeypatch.setitem(download.ARCHIVES, "sst", (pinned(), _other_layout()))
    status = download.main(["sst", f"--data_dir={tmp_path}", f"--base_url={server.url}"])
    assert status == 0 and server.asked == [None]
    assert not (tmp_path / "archives" / "other.zip").exists()


@pytest.mark.parametrize("by_hand", [False, True])
def test_the_second_archive_of_sst_is_enough_too(by_hand, server, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(download.ARCHIVES, "sst", (_other_layout(), pinned()))
    if by_hand:
        place_by_hand(tmp_path, BYTES)
    status = download.main(["sst", f"--data_dir={tmp_path}", f"--base_url={server.url}"])
    assert status == 0 and (tmp_path / "sst/trees/dev.txt").exists()
    told = "small.zip is enough; another archive, which is not needed, failed: "
    failed = told in capsys.readouterr().err
    assert failed is not by_hand and len(server.asked) == (0 if by_hand else 2)


def test_archives_that_are_parts_are_all_needed(server, tmp_path, monkeypatch):
    monkeypatch.setitem(download.ARCHIVES, "trec", (pinned(), _other_layout()))
    assert download.main(["trec", f"--data_dir={tmp_path}", f"--base_url={server.url}"]) == 2


def test_the_command_exits_with_two_when_the_network_fails(server, tmp_path, capsys):
    status = download.main(["sst", f"--data_dir={tmp_path}", f"--base_url={server.url}"])
    assert status == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_every_archive_of_a_corpus_has_a_pinned_digest_or_members_that_must_be_there():
    for name, archives in download.ARCHIVES.items():
        for archive in archives:
            known = archive.sha256 or archive.rows
            assert known or name == "elmo"  # single files of unknown digests: the first is recorded
            assert not (archive.sha256 and archive.rows)


def test_the_page_on_security_names_the_corpora_without_an_official_digest():
    page = (Path(__file__).parents[3] / "SECURITY.md").read_text(encoding="utf-8")
    start = page.index("Downloads are compared with official digests")
    named = re.findall(r"`([\w.]+)`", page[start : page.index("Their\nfirst", start)])
    assert named == [
        name
        for name, archives in download.ARCHIVES.items()
        if not all(archive.sha256 for archive in archives)
    ]


def test_every_archive_has_a_name_of_its_own_where_archives_lie():
    names = [archive.name for archives in download.ARCHIVES.values() for archive in archives]
    assert len(set(names)) == len(names)
