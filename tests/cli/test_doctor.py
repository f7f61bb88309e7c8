"""disan_tf/cli/doctor.py: whether what was prepared still has the bytes that were written."""

import json
from pathlib import Path

import pytest

from data_prep.prepare import prepare
from disan_tf.cli.doctor import diagnose
from disan_tf.elmo.cache import cache_layers
from disan_tf.elmo.official_files import load_bilm
from disan_tf.ops.native import runtime
from tests.support.corpora import tiny_trees
from tests.support.corpora.elmo import elmo_corpus
from tests.support.corpora.tiny_trees import options


@pytest.fixture
def corpus(tmp_path):
    return prepare(options(), tiny_trees.write(tmp_path / "data"), tmp_path / "prepared")


def _verdicts(prepared_dir):
    lines = diagnose(prepared_dir / "none", prepared_dir).splitlines()
    return lines[lines.index(f"prepared in {prepared_dir}:") + 1 :]


def _flip_last_byte(path):
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def test_a_whole_corpus_is_called_so(corpus):
    files = len(list(corpus.iterdir())) - 1  # without the manifest
    assert _verdicts(corpus.parent) == [
        f"  {corpus.name}: {files} files match their recorded digests"
    ]


@pytest.mark.parametrize("name", ["embeddings.npy", "vocabulary.txt"])
def test_a_changed_byte_of_a_corpus_is_named_with_the_remedy(corpus, name):
    _flip_last_byte(corpus / name)
    verdict = f"{corpus.name}: {name} changed since it was written; delete {corpus}"
    assert _verdicts(corpus.parent) == [f"  {verdict}"]


def test_a_missing_file_is_named(corpus):
    (corpus / "dev.label.npy").unlink()
    assert "dev.label.npy changed" in _verdicts(corpus.parent)[0]


@pytest.mark.parametrize("content", ["{", '{"files": {"a": 1}}'])
def test_a_damaged_manifest_is_a_line(corpus, content):
    (corpus / "manifest.json").write_text(content)
    (verdict,) = _verdicts(corpus.parent)
    assert verdict.startswith(f"  {corpus.name}: ") and "as they were" not in verdict


def test_names_in_a_manifest_steer_no_terminal(corpus):
    path = corpus / "manifest.json"
    manifest = json.loads(path.read_text())
    records = {"\x1b[31m\nforged": next(iter(manifest["files"].values()))}
    path.write_text(json.dumps({**manifest, "files": records}))
    (verdict,) = _verdicts(corpus.parent)
    assert verdict.startswith(f"  {corpus.name}: \\x1b[31m\\nforged changed since it was written")


def test_the_cached_layers_of_a_biLM_are_compared_too(tmp_path):
    corpus = elmo_corpus(tmp_path)
    layers = cache_layers(corpus, load_bilm(*corpus.bilm))
    assert all("match their recorded digests" in line for line in _verdicts(tmp_path / "prepared"))
    _flip_last_byte(layers.folder / "layers.npy")
    (verdict,) = [line for line in _verdicts(tmp_path / "prepared") if "elmo-" in line]
    assert f"layers.npy changed since it was written; delete {layers.folder}" in verdict


@pytest.mark.parametrize("origin", ["shipped", "compiled"])
def test_it_says_which_library_runs(origin, tmp_path, monkeypatch):
    library = runtime.Library(None, origin, Path("a.so"))
    monkeypatch.setattr(runtime, "unavailable", lambda: "")
    monkeypatch.setattr(runtime, "library", lambda: library)
    assert f"operations: native, {origin} (a.so)" in diagnose(tmp_path).splitlines()


def test_it_says_why_operations_are_portable(tmp_path, monkeypatch):
    monkeypatch.setattr(runtime, "unavailable", lambda: "there is no compiler g++")
    assert "operations: portable (there is no compiler g++)" in diagnose(tmp_path).splitlines()
