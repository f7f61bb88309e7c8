"""Characters and match flags of prepared pairs: read, padded beside the ids, or refused."""

from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.input_pipeline import PreparedCorpus, make_dataset
from disan_tf.input_pipeline.corpus import WordFeatures
from tests.support.corpora.manifests import save_array
from tests.support.corpora.pairs import (
    FIELDS,
    draw_features,
    make_feature_corpus,
    make_pair_corpus,
    pair_split,
)


def split_with_features():
    split = pair_split([[2, 3, 4], [5], [6, 7]], [[8], [9, 2], [3]])
    spellings = np.array([[0, 0], [10, 11], [20, 0], [30, 31]], np.uint8)
    spelling = {"premise": [1, 2, 3, 0, 1, 2], "hypothesis": [3, 1, 0, 2]}
    match = {"premise": [1, 0, 1, 0, 0, 1], "hypothesis": [1, 1, 0, 1]}
    arrays = (
        {field: np.array(rows[field], kind) for field in FIELDS}
        for rows, kind in ((spelling, np.int32), (match, np.uint8))
    )
    return replace(split, features=WordFeatures(spellings, *arrays))


def test_characters_and_flags_are_padded_as_the_ids_are():
    (batch,) = make_dataset(split_with_features(), np.array([[2, 0, 1]]))
    assert {name: value.dtype for name, value in batch.items() if "_" in name} == {
        f"{field}_{name}": tf.int32 for field in FIELDS for name in ("characters", "match")
    }
    assert batch["premise"].numpy().tolist() == [[6, 7, 0], [2, 3, 4], [5, 0, 0]]
    assert batch["premise_characters"].numpy().tolist() == [
        [[10, 11], [20, 0], [0, 0]],
        [[10, 11], [20, 0], [30, 31]],
        [[0, 0], [0, 0], [0, 0]],
    ]
    assert batch["premise_match"].numpy().tolist() == [[0, 1, 0], [1, 0, 1], [0, 0, 0]]
    assert batch["hypothesis_characters"].numpy().tolist() == [
        [[20, 0], [0, 0]],
        [[30, 31], [0, 0]],
        [[10, 11], [0, 0]],
    ]
    assert batch["hypothesis_match"].numpy().tolist() == [[1, 0], [1, 0], [1, 0]]


def test_a_part_of_a_split_has_the_batches_of_its_rows():
    split = replace(split_with_features(), genres=np.array([b"x", b"y", b"z"]))
    rows = np.array([2, 0])
    (expected,), (part,) = (
        make_dataset(*of) for of in ((split, rows[None]), (split.take(rows), np.array([[0, 1]])))
    )
    assert sorted(part) == sorted(expected)
    assert split.take(rows).genres.tolist() == [b"z", b"x"]
    for name in sorted(set(part) - {"index"}):
        np.testing.assert_array_equal(part[name], expected[name])


def test_features_of_a_corpus_are_read_from_the_disk(tmp_path):
    corpus = make_feature_corpus(tmp_path / "pairs")
    features = corpus.split("dev").features
    expected = draw_features(make_pair_corpus(tmp_path / "plain").split("dev"), 6)
    assert corpus.word_features
    np.testing.assert_array_equal(features.spellings, expected.spellings)
    for field in FIELDS:
        for actual, drawn in zip(features[1:], expected[1:]):
            assert isinstance(actual[field], np.memmap)
            np.testing.assert_array_equal(actual[field], drawn[field])


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("dev.premise.spelling", lambda array: array[1:]),
        ("dev.premise.match", lambda array: array[1:]),
        ("dev.hypothesis.match", lambda array: np.append(array, array[:1])),
    ],
)
def test_files_that_disagree_are_refused(tmp_path, name, damage):
    folder = make_feature_corpus(tmp_path / "pairs").directory
    save_array(folder, name, damage(np.load(folder / f"{name}.npy")))
    with pytest.raises(UserError, match="the dev split's files disagree"):
        PreparedCorpus(folder).split("dev")


@pytest.mark.parametrize(
    ("name", "damage", "limits"),
    [
        ("spellings", lambda array: array[:3], "0 to 2"),  # fewer rows than are named
        ("spellings", lambda array: array + 96, "0 to 95"),
        ("dev.hypothesis.spelling", lambda array: -array, "0 to 12"),
        ("dev.premise.match", lambda array: array + 1, "0 to 1"),
    ],
)
def test_features_out_of_range_are_refused(tmp_path, name, damage, limits):
    folder = make_feature_corpus(tmp_path / "pairs").directory
    save_array(folder, name, damage(np.load(folder / f"{name}.npy")))
    with pytest.raises(UserError, match=rf"\.npy holds numbers from -?\d+ to \d+, not {limits};"):
        PreparedCorpus(folder).split("dev")
