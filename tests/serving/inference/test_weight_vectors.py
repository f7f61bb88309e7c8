"""Dynamic weight vectors of many sentences in two dimensions."""

import json

import numpy as np
import pytest

from disan_tf.serving.inference.attend import WeightVectors, principal_components

RANDOM = np.random.default_rng(3)


def test_coordinates_are_those_of_the_covariance_s_eigenvectors():
    vectors = RANDOM.normal(size=(50, 6)) * np.arange(1, 7)
    coordinates, explained = principal_components(vectors)
    values, axes = np.linalg.eigh(np.cov(vectors.T))
    expected = (vectors - vectors.mean(axis=0)) @ axes[:, [-1, -2]]
    np.testing.assert_allclose(np.abs(coordinates), np.abs(expected), atol=1e-9)
    np.testing.assert_allclose(explained, values[[-1, -2]] / values.sum())


def test_the_largest_entry_of_an_axis_is_positive():
    line = np.outer([-2.0, 0.0, 2.0], [1.0, -3.0])
    coordinates, explained = principal_components(line)
    assert coordinates[0, 0] > 0.0 > coordinates[2, 0]
    assert explained[0] == pytest.approx(1.0)


@pytest.mark.parametrize("vectors", [np.ones((1, 4)), np.ones((3, 1)), np.ones((5, 4))])
def test_axes_that_do_not_exist_are_zero(vectors):
    coordinates, explained = principal_components(vectors)
    np.testing.assert_array_equal(coordinates, np.zeros((len(vectors), 2)))
    np.testing.assert_array_equal(explained, [0.0, 0.0])


def _tensors(field="", iterations=2):
    return {f"{field}weight_vectors": RANDOM.normal(size=(iterations, 3, 4)).astype(np.float32)}


def test_the_vectors_before_the_last_iteration_are_written(tmp_path):
    collected, tensors = WeightVectors(), [_tensors() for _ in range(6)]
    for line, each in enumerate(tensors, 1):
        collected.add(line, each)
    collected.write(tmp_path)
    with np.load(tmp_path / "weight_vectors.npz") as arrays:
        expected = np.stack([each["weight_vectors"][0] for each in tensors])
        np.testing.assert_array_equal(arrays["vectors"], expected)
        second, share = principal_components(expected[:, 1])
        np.testing.assert_array_equal(arrays["coordinates"][:, 1], second)
        np.testing.assert_array_equal(arrays["explained"][1], share)


def test_the_sentences_of_a_pair_are_told_apart(tmp_path):
    collected = WeightVectors()
    collected.add(1, {**_tensors("premise_"), **_tensors("hypothesis_")})
    collected.write(tmp_path)
    record = json.loads((tmp_path / "weight_vectors.json").read_text(encoding="utf-8"))
    assert [(each["line"], each["field"]) for each in record["sentences"]] == [
        (1, "premise"),
        (1, "hypothesis"),
    ]
    assert np.shape([each["coordinates"] for each in record["sentences"]]) == (2, 3, 2)


def test_one_iteration_has_its_own_vectors(tmp_path):
    collected, tensors = WeightVectors(), _tensors(iterations=1)
    collected.add(1, tensors)
    collected.write(tmp_path)
    with np.load(tmp_path / "weight_vectors.npz") as arrays:
        np.testing.assert_array_equal(arrays["vectors"][0], tensors["weight_vectors"][0])


def test_without_weight_vectors_nothing_is_written(tmp_path):
    collected = WeightVectors()
    collected.add(1, {"source2token": np.ones((3, 4), np.float32)})
    collected.write(tmp_path)
    assert not list(tmp_path.iterdir())
