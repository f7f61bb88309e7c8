"""disan_tf/cli/doctor.py: which data there is, and whether prepared files are unchanged."""

import json
from pathlib import Path

import pytest

from data_prep.corpora import sst_original
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


def _data(folder, *names):
    """Writes files with one byte; returns the report's lines on the data."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    lines = diagnose(folder).splitlines()
    return [line.strip() for line in lines[lines.index(f"data in {folder}:") + 1 :]]


ORIGINAL = [f"stanfordSentimentTreebank/{name}.txt" for name in sst_original.NAMES]


@pytest.mark.parametrize(
    "name, files",
    [
        ("sst", ["sst/trees/train.txt", "sst/trees/dev.txt", "sst/trees/test.txt"]),
        ("sst", ["sst/trainDevTestTrees_PTB.zip"]),
        ("sst", ["archives/trainDevTestTrees_PTB.zip"]),
        ("sst", ORIGINAL),
        ("sst", [f"sst/{name}" for name in ORIGINAL]),
        ("sick", ["sick/SICK.txt"]),
        ("snli", [f"snli_1.0/snli_1.0_{part}.txt" for part in ("train", "dev", "test")]),
        ("cr", ["polarity/data/customerr/custrev.neg", "polarity/data/customerr/custrev.pos"]),
        ("mpqa", ["polarity/mpqa.all"]),
    ],
)
def test_every_layout_that_a_reader_reads_is_a_corpus(name, files, tmp_path):
    found = _data(tmp_path, *files)
    assert [line for line in found if line.startswith("corpus ")] == [
        f"corpus {name}: {', '.join(files)}"
    ]


@pytest.mark.parametrize(
    "file, message",
    [
        ("sick/readme.txt", "SICK is not in {} (there is no sick/SICK_train.txt, no "),
        ("sick/SICK_train.txt", "SICK is not in {} (there is no sick/SICK_trial.txt, no "),
        (ORIGINAL[0], f"SST is not in {{}} (there is no {ORIGINAL[1]}, no "),
        ("polarity/custrev.neg", "CR is not in {} (there is no polarity/custrev.all and no "),
    ],
)
def test_an_incomplete_corpus_is_absent_with_the_missing_files(file, message, tmp_path):
    found = _data(tmp_path, file)
    assert any(line.startswith(message.format(tmp_path)) for line in found)
    assert not any(line.startswith("corpus ") for line in found)


def test_vectors_and_biLMs_are_listed_also_compressed_and_incomplete_ones(tmp_path):
    found = _data(
        tmp_path, "glove/a.txt.gz", "glove/b.txt", "glove/c.txt.zip", "elmo/own_options.json"
    )
    assert [line for line in found if line.startswith("vectors")] == [
        "vectors glove/a.txt.gz: 1 byte",
        "vectors glove/b.txt: 1 byte",
    ]
    assert found[-1].startswith(f"{tmp_path / 'elmo/own_weights.hdf5'} is missing")
    assert _data(tmp_path, "elmo/own_weights.hdf5")[-1] == "biLM elmo/own: 1 byte"


def test_without_vectors_and_biLMs_the_commands_that_fetch_them_are_named(tmp_path):
    assert _data(tmp_path)[-2:] == [
        "vectors: none (python -m data_prep.download glove.6B)",
        "biLM: none (python -m data_prep.download elmo)",
    ]


@pytest.mark.parametrize("origin", ["shipped", "compiled"])
def test_it_says_which_library_runs(origin, tmp_path, monkeypatch):
    library = runtime.Library(None, origin, Path("a.so"))
    monkeypatch.setattr(runtime, "unavailable", lambda: "")
    monkeypatch.setattr(runtime, "library", lambda: library)
    assert f"operations: native, {origin} (a.so)" in diagnose(tmp_path).splitlines()


def test_it_says_why_operations_are_portable(tmp_path, monkeypatch):
    monkeypatch.setattr(runtime, "unavailable", lambda: "there is no compiler g++")
    assert "operations: portable (there is no compiler g++)" in diagnose(tmp_path).splitlines()
