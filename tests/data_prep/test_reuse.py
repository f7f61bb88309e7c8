"""data_prep/reuse.py: what is prepared already, and what must be prepared again."""

import os

import numpy as np

from data_prep.prepare import prepare
from disan_tf.common.files import read_json, write_json
from disan_tf.input_pipeline.format import FORMAT
from tests.support.corpora import nli
from tests.support.corpora.tiny_trees import VECTORS, options


def written_at(folder):
    return (folder / "embeddings.npy").stat().st_ino


def test_a_second_run_reuses_the_directory(data_dir, prepared_dir):
    first = prepare(options(), data_dir, prepared_dir)
    before = written_at(first)
    assert prepare(options(), data_dir, prepared_dir) == first
    assert written_at(first) == before


def test_a_corpus_of_an_older_format_is_prepared_anew(data_dir, prepared_dir):
    folder = prepare(options(), data_dir, prepared_dir)
    manifest = read_json(folder / "manifest.json", "")
    write_json(folder / "manifest.json", {**manifest, "format": FORMAT - 1, "inputs": None})
    assert prepare(options(), data_dir, prepared_dir) == folder
    assert read_json(folder / "manifest.json", "") == manifest


def test_touched_but_equal_inputs_are_reused(data_dir, prepared_dir):
    first = prepare(options(), data_dir, prepared_dir)
    before = written_at(first)
    os.utime(data_dir / "glove/tiny.txt", ns=(1, 1))
    assert written_at(prepare(options(), data_dir, prepared_dir)) == before


def test_changed_inputs_are_prepared_anew(data_dir, prepared_dir):
    first = prepare(options(), data_dir, prepared_dir)
    path = data_dir / "glove/tiny.txt"
    path.write_text(VECTORS.replace("soup 1", "soup 9"), encoding="utf-8")
    os.utime(path, ns=(1, 1))
    assert prepare(options(), data_dir, prepared_dir) == first
    assert np.load(first / "embeddings.npy")[1].tolist() == [9, 2]
    assert os.listdir(prepared_dir) == [first.name]


def test_a_file_that_would_be_read_now_and_was_not_is_read(tmp_path, prepared_dir):
    nli.write_columns(tmp_path, dev=[nli.row(pairID="columns")])
    first = prepare(nli.options(), tmp_path, prepared_dir)
    nli.write(tmp_path, dev=[nli.row(pairID="json")])
    assert prepare(nli.options(), tmp_path, prepared_dir) == first
    assert np.load(first / "dev.example_id.npy").tolist() == [b"json"]


def test_other_options_have_another_directory(data_dir, prepared_dir):
    first = prepare(options(), data_dir, prepared_dir)
    second = prepare(options(seed=6), data_dir, prepared_dir)
    assert first != second
    assert first.name.startswith("sst-") and len(first.name) == len("sst-") + 12


def test_two_preparations_have_the_same_bytes(data_dir, tmp_path):
    first, second = (prepare(options(), data_dir, tmp_path / name) for name in ("a", "b"))
    assert first.name == second.name
    for path in first.iterdir():
        assert path.read_bytes() == (second / path.name).read_bytes(), path.name
