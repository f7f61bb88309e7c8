"""data_prep/bilm_files.py: a biLM's official files in a prepared corpus, and bad files."""

import hashlib
import os
import shutil

import numpy as np
import pytest

from data_prep.prepare import prepare
from disan_tf.common.files import read_json
from disan_tf.elmo.official_files import save_bilm
from disan_tf.input_pipeline import PreparedCorpus
from tests.support.corpora import tiny_trees
from tests.support.errors import user_error
from tests.support.models.bilm import official_ids, small_bilm
from tests.support.runs.training import load_config

FILES = ("small_options.json", "small_weights.hdf5")
COPIES = ("bilm_options.json", "bilm_weights.hdf5")
TOKENS = ["This", "Soup", "is", "fine", "Cold", "soup", "tea", "Tea", "okra", "gruel"]
LENGTH = 6


def options(**changed):
    data = load_config("elmo_disan_sst", "tiny").data
    data.update({"bilm": "elmo/small", **changed})
    return data


@pytest.fixture(scope="module")
def bilm_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bilm")
    save_bilm(small_bilm(word_length=LENGTH), *(folder / name for name in FILES))
    return folder


@pytest.fixture
def data_dir(bilm_dir, tmp_path):
    data_dir = tiny_trees.write(tmp_path / "data")
    shutil.copytree(bilm_dir, data_dir / "elmo")
    return data_dir


def contents(folder, names):
    return [(folder / name).read_bytes() for name in names]


def test_a_prepared_corpus_has_the_files_of_its_biLM(data_dir, prepared_dir):
    corpus = PreparedCorpus(prepare(options(), data_dir, prepared_dir))
    assert corpus.bilm == tuple(corpus.directory / name for name in COPIES)
    assert contents(corpus.directory, COPIES) == contents(data_dir / "elmo", FILES)
    for copied, file, is_link in zip(COPIES, FILES, (False, True)):
        path = data_dir / "elmo" / file
        assert os.path.samefile(corpus.directory / copied, path) == is_link
    manifest = read_json(corpus.directory / "manifest.json", "")
    assert manifest["bilm"] == {"name": "elmo/small"}
    assert manifest["word_bytes"] == {"word_length": LENGTH, "spellings": len(TOKENS)}
    for name, content in zip(FILES, contents(data_dir / "elmo", FILES)):
        recorded = manifest["inputs"][f"elmo/{name}"]
        assert recorded["sha256"] == hashlib.sha256(content).hexdigest()
    spellings, features = np.load(corpus.directory / "spellings.npy"), corpus.split("dev").features
    assert spellings.dtype == np.uint16 and not spellings[0].any()
    expected = {tuple(official_ids(token, LENGTH)) for token in TOKENS}
    assert {tuple(row) for row in spellings[1:]} == expected and len(spellings) == 1 + len(TOKENS)
    rows = spellings[features.spelling["sentence"]].tolist()
    assert rows == [official_ids(token, LENGTH) for token in ("Cold", "tea")]
    assert features.match is None


def test_without_a_biLM_there_are_no_files_and_no_characters(data_dir, prepared_dir):
    corpus = PreparedCorpus(prepare(options(bilm=""), data_dir, prepared_dir))
    assert corpus.bilm is None and corpus.split("train").features is None
    names = {path.name for path in corpus.directory.iterdir()}
    assert not any("bilm" in name or "spelling" in name for name in names)


@pytest.mark.parametrize("store", ["../store", "{}/store"])
def test_weights_behind_a_symbolic_link_are_there_themselves(
    data_dir, prepared_dir, store, monkeypatch
):
    (data_dir / "store").mkdir()
    for name in FILES:
        (data_dir / "elmo" / name).rename(data_dir / "store" / name)
        (data_dir / "elmo" / name).symlink_to(f"{store.format(data_dir)}/{name}")
    corpus = PreparedCorpus(prepare(options(), data_dir, prepared_dir))
    assert not any(path.is_symlink() for path in corpus.bilm)
    assert contents(corpus.directory, COPIES) == contents(data_dir / "store", FILES)
    # Where links are impossible, which is another OSError, the weights are copied.
    monkeypatch.setattr(os, "link", lambda *paths: (data_dir / "absent").stat())
    folder = prepare(options(), data_dir, prepared_dir.with_name("copied"))
    assert contents(folder, COPIES) == contents(data_dir / "store", FILES)
    assert not os.path.samefile(folder / COPIES[1], data_dir / "store" / FILES[1])


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("ending", [None, b"", b"more"])
def test_changed_weights_are_prepared_again(data_dir, prepared_dir, ending, in_place):
    folder, path = prepare(options(), data_dir, prepared_dir), data_dir / "elmo" / FILES[1]
    written = (folder / "manifest.json").stat()
    content = path.read_bytes()
    changed = content if ending is None else content[::-1] + ending
    if not in_place:
        path.unlink()  # the link in the prepared corpus stays as it was
    path.write_bytes(changed)
    assert prepare(options(), data_dir, prepared_dir) == folder
    assert (folder / COPIES[1]).read_bytes() == changed
    recorded = read_json(folder / "manifest.json", "")["inputs"][f"elmo/{FILES[1]}"]
    assert recorded["sha256"] == hashlib.sha256(changed).hexdigest()
    is_reused = os.path.samestat((folder / "manifest.json").stat(), written)
    assert is_reused == (ending is None)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "is missing; --config.data.bilm=elmo/small "),
        ("{", "is not readable JSON"),
        ("[]", "the file must be an object"),
        ("{}", "has no char_cnn.max_characters_per_token"),
        ('{"char_cnn": {"filters": []}}', "has no char_cnn.max_characters_per_token"),
        ('{"char_cnn": {"max_characters_per_token": null}}', "has no char_cnn.max_characters"),
        ('{"char_cnn": {"max_characters_per_token": 2}}', "max_characters_per_token is 2 and"),
        ('{"char_cnn": {"max_characters_per_token": 1001}}', "a whole number from 3 to 1,000;"),
    ],
)
def test_missing_files_and_options_without_the_length_of_words_are_named(
    data_dir, prepared_dir, content, fault
):
    path = data_dir / "elmo" / FILES[0 if content else 1]
    path.unlink()
    if content:
        path.write_text(content)
    message = user_error(prepare, options(), data_dir, prepared_dir)
    assert message.startswith(str(path)) and fault in message and message.endswith(".")
    assert not prepared_dir.exists() or list(prepared_dir.iterdir()) == []
