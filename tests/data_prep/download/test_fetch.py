"""data_prep/download/fetch.py: archives and single files, digests, the command."""

import hashlib
import io
import os
import re
import socket
import ssl
import subprocess
import sys
import urllib.error
from pathlib import Path

import h5py
import pytest

from data_prep.bilm_files import find
from data_prep.download import fetch as download
from data_prep.download.archives import Archive
from data_prep.download.fetch import install
from disan_tf.elmo.official_files import save_bilm
from tests.support.corpora.downloads import (
    BYTES,
    MEMBERS,
    archive_file,
    files,
    leave_part,
    message,
    pinned,
    place_by_hand,
    unpinned,
    zip_bytes,
)
from tests.support.models.bilm import small_bilm
from tests.support.runs.training import load_config

CUT = 100  # bytes after which the interrupting server hangs up


def test_an_archive_is_fetched_checked_and_unpacked_and_asked_for_once(server, tmp_path, capsys):
    install(pinned(), tmp_path, server.url)
    assert files(tmp_path) == ["archives/small.zip", "sst/trees/dev.txt", "sst/trees/train.txt"]
    assert (tmp_path / "sst/trees/train.txt").read_text() == MEMBERS["trees/train.txt"]
    output = capsys.readouterr()
    assert "(100%)" in output.err and not output.out
    install(pinned(), tmp_path, server.url)
    assert server.asked == [None]


def test_an_archive_placed_by_hand_is_used_if_it_is_right(tmp_path):
    place_by_hand(tmp_path, BYTES + b"x")
    assert "https://home.example/small.zip" in message(pinned(), tmp_path)
    assert files(tmp_path) == ["archives/small.zip"]
    place_by_hand(tmp_path, BYTES)
    install(pinned(), tmp_path)
    assert (tmp_path / "sst/trees/train.txt").exists()


def test_an_interrupted_download_keeps_its_part_and_continues_where_it_stopped(server, tmp_path):
    server.cut = CUT
    text = message(pinned(), tmp_path, server.url)
    assert f"after {CUT:,} of {len(BYTES):,} bytes" in text and "again to continue" in text
    assert (tmp_path / "archives/small.zip.part").read_bytes() == BYTES[:CUT]
    assert not archive_file(tmp_path).exists()
    server.cut = None
    install(pinned(), tmp_path, server.url)
    assert server.asked == [None, f"bytes={CUT}-"]
    assert archive_file(tmp_path).read_bytes() == BYTES


@pytest.mark.parametrize(
    "part, ranges, requests",
    [
        (b"wrong" * 10, "no", ["bytes=50-"]),  # would spoil the digest if it were kept
        (b"wrong" * 10, "shifted", ["bytes=50-", None]),
        (BYTES, "yes", [f"bytes={len(BYTES)}-"]),
        (BYTES + b"more", "yes", [f"bytes={len(BYTES) + 4}-", None]),
    ],
    ids=["wrong", "shifted", "whole", "too_long"],
)
def test_a_part_that_does_not_fit_is_fetched_from_the_start(
    server, tmp_path, part, ranges, requests
):
    leave_part(tmp_path, part)
    server.ranges = ranges
    install(pinned(), tmp_path, server.url)
    assert server.asked == requests
    assert archive_file(tmp_path).read_bytes() == BYTES


def _raise_over_https(error, monkeypatch):
    """Makes requests over https raise `error`; returns the list to which each adds its scheme."""

    def opened(url, *rest):
        asked.append(url.split(":")[0])
        if asked[-1] == "https":
            raise error
        return open_url(url, *rest)

    asked, open_url = [], download.open_url
    monkeypatch.setattr(download, "open_url", opened)
    return asked


@pytest.mark.parametrize(
    "error",
    [
        urllib.error.URLError(ConnectionRefusedError()),
        urllib.error.URLError(socket.timeout()),
        socket.timeout(),
    ],
)
def test_http_is_used_where_https_does_not_answer_and_said(
    error, server, tmp_path, capsys, monkeypatch
):
    asked = _raise_over_https(error, monkeypatch)
    install(pinned()._replace(address=f"{server.url}small.zip"), tmp_path)
    assert archive_file(tmp_path).read_bytes() == BYTES and asked == ["https", "http"]
    assert f"{server.url}small.zip does not answer over https" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error",
    [
        urllib.error.URLError(ssl.SSLCertVerificationError("expired")),
        urllib.error.HTTPError("https://a.example", 404, "Not Found", {}, io.BytesIO()),
        ValueError("it redirects from https to 'http://b.example/x'"),
    ],
)
def test_http_is_not_used_where_https_answers(error, server, tmp_path, monkeypatch):
    asked = _raise_over_https(error, monkeypatch)
    text = message(pinned()._replace(address=f"{server.url}small.zip"), tmp_path)
    assert "https://127.0.0.1" in text and asked == ["https"]


def test_an_error_without_a_text_is_no_success(tmp_path, monkeypatch):
    def receive(url, part, *_):
        part.write_bytes(BYTES[:9])
        raise ConnectionResetError

    monkeypatch.setattr(download, "_receive", receive)
    assert "stopped after 9 bytes (ConnectionResetError)" in message(unpinned(), tmp_path)


@pytest.mark.parametrize(
    "sent, error, asked",
    [(0, "", "https, http"), (9, "stopped after 9 bytes (timed out)", "https")],
)
def test_https_comes_first_and_is_not_given_up_once_it_has_sent_bytes(
    tmp_path, monkeypatch, sent, error, asked
):
    def receive(url, part, *_):
        schemes.append(url.split(":")[0])
        part.write_bytes(BYTES[:sent] if url.startswith("https") else BYTES)
        if url.startswith("https"):
            raise socket.timeout("timed out")
        return len(BYTES), None

    schemes = []
    monkeypatch.setattr(download, "_receive", receive)
    archive = pinned()._replace(address="http://home.example/small.zip")
    if error:
        assert error in message(archive, tmp_path)
    else:
        install(archive, tmp_path)
    assert ", ".join(schemes) == asked
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


def test_a_digest_that_is_first_seen_is_recorded_and_a_later_difference_refused(
    server, tmp_path, capsys
):
    install(unpinned(), tmp_path, server.url)
    digest = hashlib.sha256(BYTES).hexdigest()
    assert (tmp_path / "archives/small.zip.sha256").read_text() == f"{digest}  small.zip\n"
    assert f"no official digest. Its sha256 is {digest};" in capsys.readouterr().err
    archive_file(tmp_path).unlink()
    server.body = zip_bytes({**MEMBERS, "trees/test.txt": "(2 so)\n"})
    text = message(unpinned(), tmp_path, server.url)
    assert digest in text and "small.zip.sha256" in text
    assert not (tmp_path / "sst/trees/test.txt").exists()


def test_a_damaged_digest_record_is_named(tmp_path):
    place_by_hand(tmp_path, BYTES)
    archive_file(tmp_path).with_name("small.zip.sha256").write_text("abc\n")
    assert "small.zip.sha256, line 1" in message(unpinned(), tmp_path)


def test_a_truncated_archive_without_a_length_is_refused_and_not_recorded(server, tmp_path):
    server.has_length, server.cut = False, len(BYTES) - 30
    assert "cannot be unpacked" in message(unpinned(), tmp_path, server.url)
    assert files(tmp_path) == ["archives/small.zip"]


def test_a_server_that_fails_or_is_not_there_is_one_sentence_with_the_hand_path(server, tmp_path):
    text = message(pinned(), tmp_path, server.url + "nowhere")
    assert f"{server.url}nowhere/small.zip cannot be fetched" in text and "404" in text
    assert f"by hand as {archive_file(tmp_path)}" in text and files(tmp_path) == []
    server.http.shutdown()
    server.http.server_close()
    assert f"{server.url}small.zip cannot be fetched" in message(pinned(), tmp_path, server.url)


# The command


def run(name, tmp_path, server):
    return download.main([name, f"--data_dir={tmp_path}", f"--base_url={server.url}"])


def test_the_command_exits_with_two_and_one_line_for_an_unknown_corpus(tmp_path, capsys):
    assert download.main(["glove.7B", f"--data_dir={tmp_path}"]) == 2
    error = capsys.readouterr().err
    assert error == f"glove.7B is unknown; known are {', '.join(download.ARCHIVES)}.\n"


def _other_layout():
    return pinned()._replace(address="https://home.example/other.zip")


@pytest.mark.parametrize(
    "corpus, archives, status, requests",
    [
        ("sst", (pinned(), _other_layout()), 0, 1),  # the first whole archive is enough
        ("trec", (pinned(), _other_layout()), 2, 2),  # they are parts, which are all needed
        ("sst", (_other_layout(),), 2, 1),
    ],
)
def test_the_command_installs_the_archives_of_a_corpus(
    server, tmp_path, monkeypatch, capsys, corpus, archives, status, requests
):
    monkeypatch.setitem(download.ARCHIVES, corpus, archives)
    assert run(corpus, tmp_path, server) == status and len(server.asked) == requests
    assert (tmp_path / "sst/trees/dev.txt").exists() == (archives[0] == pinned())
    sentences = [line for line in capsys.readouterr().err.splitlines() if "other.zip" in line]
    assert len(sentences) == (status == 2)


@pytest.mark.parametrize("by_hand", [False, True])
def test_the_second_archive_of_sst_is_enough_too(by_hand, server, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(download.ARCHIVES, "sst", (_other_layout(), pinned()))
    if by_hand:
        place_by_hand(tmp_path, BYTES)
    assert run("sst", tmp_path, server) == 0 and (tmp_path / "sst/trees/dev.txt").exists()
    told = "small.zip is enough; another archive, which is not needed, failed: "
    failed = told in capsys.readouterr().err
    assert failed is not by_hand and len(server.asked) == (0 if by_hand else 2)


def test_every_archive_has_a_name_a_bound_and_a_pinned_digest_or_members_that_must_be_there():
    names = [archive.name for archives in download.ARCHIVES.values() for archive in archives]
    assert len(set(names)) == len(names)
    for name, archives in download.ARCHIVES.items():
        for archive in archives:
            assert 0 < archive.most <= 2_500_000_000 and archive.size in (None, archive.most)
            known = archive.sha256 or archive.rows
            assert known or name == "elmo"  # single files of unknown digests: the first is recorded
            assert not (archive.sha256 and archive.rows)


def test_the_page_on_security_names_the_corpora_without_an_official_digest_or_https():
    page = (Path(__file__).parents[3] / "SECURITY.md").read_text(encoding="utf-8")
    without, plain = re.search(
        r"The publishers of (.*?)give none.*?, only(.*?)may come over", page, re.DOTALL
    ).groups()
    assert re.findall(r"`([\w.]+)`", plain) == [
        name
        for name, archives in download.ARCHIVES.items()
        if any(archive.address.startswith("http:") for archive in archives)
    ]
    assert re.findall(r"`([\w.]+)`", without) == [
        name
        for name, archives in download.ARCHIVES.items()
        if not all(archive.sha256 for archive in archives)
    ]


# Files that are no archive

QUESTIONS = b"LOC:city Where is soup ?\nHUM:ind Who cooks caf\xe9 au lait ?\n"


def questions(**fields) -> Archive:
    digest = hashlib.sha256(QUESTIONS).hexdigest()
    return Archive("https://home.example/few.label", "trec", sha256=digest, **fields)


def test_a_file_that_is_no_archive_is_fetched_checked_and_copied(server, tmp_path):
    server.name, server.body = "few.label", QUESTIONS
    install(questions(), tmp_path, server.url)
    assert files(tmp_path) == ["archives/few.label", "trec/few.label"]
    assert (tmp_path / "trec/few.label").read_bytes() == QUESTIONS
    (tmp_path / "trec/few.label").write_text("LOC:city Mine ?\n")
    assert f"{tmp_path}/trec/few.label differs" in message(questions(), tmp_path)


@pytest.mark.parametrize(
    "body, sentence",
    [
        (QUESTIONS + b"more\n", "instead of the official sha256 "),
        (b"<html>Not found</html>", "is an HTML page"),
        (QUESTIONS, "few.label has 2 rows instead of 3"),
    ],
)
def test_a_single_file_with_other_content_is_refused(server, tmp_path, body, sentence):
    server.name, server.body = "few.label", body
    text = message(questions(rows={"few.label": 3}), tmp_path, server.url)
    assert sentence in text and "zip archive" not in text
    assert not (tmp_path / "trec/few.label").exists()


def test_the_pinned_digests_of_trec_are_those_of_the_real_files(real_data, tmp_path):
    (tmp_path / "archives").mkdir()
    for archive in download.ARCHIVES["trec"]:
        data = (real_data / archive.folder / archive.name).read_bytes()
        assert len(data) == archive.size
        (tmp_path / "archives" / archive.name).write_bytes(data)
        install(archive, tmp_path)
        assert (tmp_path / archive.folder / archive.name).read_bytes() == data


@pytest.fixture
def bilm(tmp_path):
    """The contents of a biLM's two files, in the order of the archives."""
    paths = tmp_path / "options.json", tmp_path / "weights.hdf5"
    save_bilm(small_bilm(), *paths)
    return [path.read_bytes() for path in paths]


def test_the_official_bilm_comes_under_the_names_that_its_config_asks_for(server, tmp_path, bilm):
    for archive, body in zip(download.ARCHIVES["elmo"], bilm):
        server.name, server.body = archive.name, body
        install(archive, tmp_path, server.url)
    paths = find(tmp_path, load_config("elmo_disan_sst").data.bilm)
    assert [path.read_bytes() for path in paths] == bilm
    path = tmp_path / "archives" / archive.name
    path.write_bytes(b"changed")  # of which the digest is known since the first download
    assert "instead of the one recorded in" in message(archive, tmp_path, server.url)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("missing", [2, 500])
def test_a_bilm_that_is_cut_without_a_length_is_removed_and_not_recorded(
    server, tmp_path, bilm, number, missing
):
    archive = download.ARCHIVES["elmo"][number]
    server.name, server.body, server.has_length = archive.name, bilm[number][:-missing], False
    assert "is damaged or incomplete" in message(archive, tmp_path, server.url)
    assert not [*(tmp_path / "archives").iterdir()]
    server.body = bilm[number]
    install(archive, tmp_path, server.url)


@pytest.mark.parametrize(
    "number, missing", [(0, "char_cnn, lstm"), (1, "CNN, RNN_0, RNN_1, char_embed")]
)
def test_a_file_of_another_model_is_refused(server, tmp_path, number, missing):
    content = io.BytesIO()
    if number == 0:
        content.write(b'{"message": "try later"}')
    else:
        with h5py.File(content, "w") as file:
            file["kernel"] = [1.0]
    archive = download.ARCHIVES["elmo"][number]
    server.name, server.body = archive.name, content.getvalue()
    text = message(archive, tmp_path, server.url)
    assert f" bytes, is damaged or incomplete (it lacks {missing}); it came from" in text


def test_the_command_turns_the_locks_of_hdf5_off_before_h5py_is_imported():
    code = (
        "import os, sys, data_prep.download.fetch; assert 'h5py' not in sys.modules; "
        "assert os.environ['HDF5_USE_FILE_LOCKING'] == 'FALSE'"
    )
    environment = {k: v for k, v in os.environ.items() if k != "HDF5_USE_FILE_LOCKING"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
