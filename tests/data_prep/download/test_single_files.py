"""data_prep/download/fetch.py and unpacking.py: files that are no archive."""

import hashlib

from data_prep.bilm_files import find
from data_prep.download import fetch as download
from data_prep.download.archives import Archive
from data_prep.download.fetch import install
from tests.support.corpora.downloads import files, message
from tests.support.runs.training import load_config

QUESTIONS = b"LOC:city Where is soup ?\nHUM:ind Who cooks caf\xe9 au lait ?\n"


def questions(data: bytes = QUESTIONS, **fields) -> Archive:
    digest = hashlib.sha256(data).hexdigest()
    return Archive("https://home.example/few.label", "trec", sha256=digest, **fields)


def serve_questions(server, data: bytes = QUESTIONS) -> str:
    server.name, server.body = "few.label", data
    return server.url


def test_a_file_that_is_no_archive_is_fetched_checked_and_copied(server, tmp_path):
    install(questions(), tmp_path, serve_questions(server))
    assert files(tmp_path) == ["archives/few.label", "trec/few.label"]
    assert (tmp_path / "trec/few.label").read_bytes() == QUESTIONS


def test_a_file_of_unknown_size_with_a_wrong_digest_is_refused(server, tmp_path):
    text = message(questions(), tmp_path, serve_questions(server, QUESTIONS + b"more\n"))
    assert f"instead of the official sha256 {hashlib.sha256(QUESTIONS).hexdigest()}" in text
    assert files(tmp_path) == []


def test_a_web_page_in_place_of_a_single_file_is_named(server, tmp_path):
    text = message(questions(), tmp_path, serve_questions(server, b"<html>Not found</html>"))
    assert "is an HTML page" in text and "zip archive" not in text


def test_the_rows_of_a_single_file_are_counted(tmp_path):
    (tmp_path / "archives").mkdir()
    (tmp_path / "archives/few.label").write_bytes(QUESTIONS)
    text = message(questions(rows={"few.label": 3}), tmp_path)
    assert "few.label has 2 rows instead of 3" in text
    assert files(tmp_path / "trec") == []


def test_another_single_file_of_the_same_name_is_not_overwritten(server, tmp_path):
    (tmp_path / "trec").mkdir()
    (tmp_path / "trec/few.label").write_text("LOC:city Mine ?\n")
    text = message(questions(), tmp_path, serve_questions(server))
    assert f"{tmp_path}/trec/few.label differs" in text


def test_the_pinned_digests_of_trec_are_those_of_the_real_files(real_data, tmp_path):
    (tmp_path / "archives").mkdir()
    for archive in download.ARCHIVES["trec"]:
        data = (real_data / archive.folder / archive.name).read_bytes()
        assert len(data) == archive.size
        (tmp_path / "archives" / archive.name).write_bytes(data)
        install(archive, tmp_path)
        assert (tmp_path / archive.folder / archive.name).read_bytes() == data


def test_the_official_bilm_comes_under_the_names_that_its_config_asks_for(server, tmp_path):
    for number, archive in enumerate(download.ARCHIVES["elmo"]):
        server.name, server.body = archive.name, f"file {number}".encode()
        install(archive, tmp_path, server.url)
    paths = find(tmp_path, load_config("elmo_disan_sst").data.bilm)
    assert [path.read_text() for path in paths] == ["file 0", "file 1"]


def test_the_digest_of_a_file_without_a_known_one_is_that_of_the_first_download(server, tmp_path):
    archive = download.ARCHIVES["elmo"][0]
    server.name, server.body = archive.name, b"{}"
    install(archive, tmp_path, server.url)
    path = tmp_path / "archives" / archive.name
    path.write_bytes(b"{} ")
    assert "instead of the one recorded in" in message(archive, tmp_path, server.url)
