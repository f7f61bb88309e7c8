"""disan_tf/input_pipeline/corpus_format.py: what is opened is what was recorded."""

import json
import os

import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.input_pipeline import PreparedCorpus
from tests.support.corpora.manifests import save_array
from tests.support.corpora.two_examples import ARRAYS, refusal


@pytest.mark.parametrize(
    "name, array",
    [
        ("dev.sentence.ids", ARRAYS["dev.sentence.ids"].astype(np.int64)),
        ("dev.sentence.ids", ARRAYS["dev.sentence.ids"][::-1].reshape(2, 2)),
        ("embeddings", ARRAYS["embeddings"].astype(np.float64)),
        ("embeddings", ARRAYS["embeddings"].T),
        ("dev.label", np.array([2], np.int32)),
    ],
)
def test_an_array_that_is_not_the_recorded_one_is_refused(name, array, directory):
    np.save(directory / f"{name}.npy", array)
    message = refusal(directory)
    assert f"{directory}/{name}.npy cannot be read (it holds <" in message
    assert "which is not what was recorded" in message


@pytest.mark.parametrize("name", ["dev.sentence.ids", "dev.label", "embeddings"])
def test_an_array_of_another_kind_is_refused_though_it_is_recorded(name, directory):
    save_array(directory, name, ARRAYS[name].astype(np.float64))
    assert "it holds <f8>" in refusal(directory)


def test_an_array_that_was_not_recorded_is_refused(directory):
    manifest = json.loads((directory / "manifest.json").read_text())
    (directory / "manifest.json").write_text(json.dumps({**manifest, "files": {}}))
    assert "(the manifest does not record it)" in refusal(directory)
    for files in ({"dev.label.npy": 3}, {"dev.label.npy": {"bytes": "3"}}, [], None):
        (directory / "manifest.json").write_text(json.dumps({**manifest, "files": files}))
        assert f"{directory}/manifest.json: files" in refusal(directory)


def _flip(content, position):
    return content[:position] + bytes([content[position] ^ 0x55]) + content[position + 1 :]


def test_each_flipped_byte_of_a_header_is_refused_or_harmless(directory):
    path = directory / "dev.sentence.ids.npy"
    whole, expected = path.read_bytes(), ARRAYS["dev.sentence.ids"].tolist()
    for position in range(len(whole) - 4 * len(expected)):
        path.write_bytes(_flip(whole, position))
        try:
            split = PreparedCorpus(directory).split("dev")
        except UserError as error:
            assert str(error).startswith(f"{path} cannot be read (") and "\n" not in str(error)
        else:
            assert split.ids["sentence"].tolist() == expected


def test_a_header_that_claims_a_terabyte_allocates_nothing(directory):
    path = directory / "dev.sentence.ids.npy"
    path.write_bytes(path.read_bytes().replace(b"(4,), }".ljust(20), b"(40000000000000,), }"))
    assert f"{path} cannot be read (it is cut off or too long for <i4>[4000" in refusal(directory)


def test_a_folder_or_a_pipe_in_place_of_an_array_is_refused(directory):
    path = directory / "dev.label.npy"
    for make in (path.mkdir, lambda: os.mkfifo(path)):
        path.rmdir() if path.is_dir() else path.unlink()
        make()
        assert f"{path} cannot be read (it is not a file)" in refusal(directory)


def test_a_vocabulary_of_another_size_is_refused(directory):
    path = directory / "vocabulary.txt"
    path.write_text(path.read_text() + "more\n")
    assert f"{path} has " in refusal(directory)
