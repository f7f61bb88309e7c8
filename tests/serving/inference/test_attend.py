"""Attention tensors of lines of text, as .npz and JSON."""

import json
import re

import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.serving.attention_page.attention_files import read_lines
from disan_tf.serving.inference.attend import WeightVectors, attend, principal_components
from disan_tf.serving.inference.predict import predict
from tests.support.models.bundles import CLASSES, SENTENCES

UNITS = 16


@pytest.fixture(scope="module")
def folder(bundle, texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("attend") / "out"
    assert attend(bundle, texts, folder) == len(SENTENCES)
    return folder


def load(folder, number):
    description = json.loads((folder / f"{number:05d}.json").read_text(encoding="utf-8"))
    return description, dict(np.load(folder / f"{number:05d}.npz", allow_pickle=False))


def test_tensors_are_trimmed_to_the_sentence(folder):
    assert len(list(folder.iterdir())) == 2 * len(SENTENCES)
    for number in range(1, len(SENTENCES) + 1):
        description, tensors = load(folder, number)
        length = len(description["tokens"])
        assert {name: tensor.shape for name, tensor in tensors.items()} == {
            "forward_attention": (length, length, UNITS),
            "backward_attention": (length, length, UNITS),
            "forward_gate": (length, UNITS),
            "backward_gate": (length, UNITS),
            "source2token": (length, 2 * UNITS),
        }
        assert {tensor.dtype for tensor in tensors.values()} == {np.dtype(np.float32)}


def test_tensors_are_those_of_the_model_in_any_batch(bundle, folder):
    attended = bundle.model.attend(bundle.text_to_ids()(SENTENCES))
    for number in range(1, len(SENTENCES) + 1):
        for name, tensor in load(folder, number)[1].items():
            inside = tuple(slice(size) for size in tensor.shape[:-1])
            expected = attended[name][number - 1].numpy()[inside]
            np.testing.assert_allclose(tensor, expected, rtol=0, atol=1e-5, err_msg=name)
            mean = load(folder, number)[0][f"{name}_mean"]
            np.testing.assert_allclose(mean, tensor.mean(axis=-1).round(6), rtol=0, atol=1.1e-6)


def test_axes_are_head_dependent_feature(folder):
    description, tensors = load(folder, 5)
    forward, backward = tensors["forward_attention"], tensors["backward_attention"]
    np.testing.assert_allclose(forward[1:].sum(axis=1), 1.0, atol=1e-5)  # over the dependents
    assert not np.any(np.triu(forward.sum(axis=-1)))  # a head looks at earlier tokens only
    assert not np.any(np.tril(backward.sum(axis=-1)))
    np.testing.assert_allclose(tensors["source2token"].sum(axis=0), 1.0, atol=1e-5)
    assert description["axes"] == {
        "forward_attention": ["head", "dependent", "feature"],
        "backward_attention": ["head", "dependent", "feature"],
        "forward_gate": ["token", "feature"],
        "backward_gate": ["token", "feature"],
        "source2token": ["token", "feature"],
    }


def test_json_names_text_tokens_and_the_prediction(bundle, texts, folder, tmp_path):
    predict(bundle, texts, tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        description, expected = load(folder, number)[0], json.loads(line)
        assert description["text"] == expected["text"]
        if "blank" in expected:  # which `predict` gives no label
            continue
        assert description["label"] == expected["label"]
        found = [
            [each["probabilities"][name] for name in CLASSES] for each in (description, expected)
        ]
        np.testing.assert_allclose(*found, atol=1e-6)
    assert load(folder, 3)[0]["tokens"] == ["-LRB-", "A", "new", "story", "-RRB-"]


def test_an_empty_line_is_one_token_that_attends_to_nothing(folder):
    description, tensors = load(folder, 2)
    assert description["text"] == "" and description["tokens"] == [""]
    assert not np.any(tensors["forward_attention"])
    # TensorFlow's softmax of one entry is 0.99999994 on processors without AVX-512.
    np.testing.assert_allclose(tensors["source2token"], 1.0, rtol=0, atol=1e-6)


@pytest.mark.parametrize("text", ["", ' "text": null,'])
def test_fields_and_tokens_of_json_objects_are_kept(text, bundle, tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text(f'{{"id": 3,{text} "tokens": ["a", "isn\'t"]}}\n', encoding="utf-8")
    attend(bundle, path, tmp_path / "out")
    description, tensors = load(tmp_path / "out", 1)
    assert description["id"] == 3 and description["tokens"] == ["a", "isn't"]
    assert description["text"] == "a isn't"
    assert len(tensors["source2token"]) == 2


def test_the_prediction_replaces_no_field_of_the_input(bundle, tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "a film", "label": "gold"}\n', encoding="utf-8")
    attend(bundle, path, tmp_path / "out")
    description, _ = load(tmp_path / "out", 1)
    assert description["label"] == "gold" and description["predicted_label"] in CLASSES
    (line,) = read_lines(tmp_path / "out")
    assert line.prediction == description["predicted_label"] and not line.is_score
    assert line.probabilities == description["probabilities"]


@pytest.mark.parametrize("header", ["review,text,predicted_label", "tokens,id,predicted_label"])
def test_predictions_of_an_earlier_run_are_no_predictions(bundle, tmp_path, header):
    path = tmp_path / "in.csv"
    path.write_text(f"{header}\nbad,a film,earlier\n", encoding="utf-8")
    attend(bundle, path, tmp_path / "out", text_column=[header.split(",")[0]])
    (line,) = read_lines(tmp_path / "out")
    assert line.record["predicted_label"] == "earlier"
    assert line.prediction == line.record["label"] in CLASSES and line.gold is None
    assert (line.texts, line.tokens) == (["bad"], [["bad"]])


def test_an_empty_folder_is_filled_and_no_lines_leave_it_empty(bundle, tmp_path):
    (tmp_path / "in.txt").touch()
    (tmp_path / "out").mkdir()
    assert attend(bundle, tmp_path / "in.txt", tmp_path / "out") == 0
    assert list((tmp_path / "out").iterdir()) == []


def test_a_folder_that_holds_something_is_refused(bundle, texts, folder, tmp_path):
    with pytest.raises(UserError, match="out is not empty"):
        attend(bundle, texts, folder)
    with pytest.raises(UserError, match=r"texts\.txt is not a directory"):
        attend(bundle, texts, texts)


def test_an_error_leaves_nothing(bundle, tmp_path):
    (tmp_path / "in.txt").write_bytes(b"a film\n\xff\n")
    with pytest.raises(UserError, match="line 2"):
        attend(bundle, tmp_path / "in.txt", tmp_path / "out" / "a")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_text_too_long_for_the_memory_is_refused_with_its_line(
    bundle, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("disan_tf.serving.inference.attend.free_memory", lambda: 10**8)
    path = tmp_path / "in.txt"
    path.write_text("a film\n\n" + "a film " * 10_000 + "\n", encoding="utf-8")
    message = (
        r"in.txt, line 3: the text has 20,000 tokens, and attention tensors of up to (\d+) tokens"
    )
    with pytest.raises(UserError, match=message):
        attend(bundle, path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    told = r"attention tensors of up to [\d,]+ tokens fit into the 0.1 GB of free memory\n"
    assert re.fullmatch(told, capsys.readouterr().err)


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


@pytest.mark.parametrize("iterations", [1, 2])
def test_the_vectors_before_the_last_iteration_are_written(iterations, tmp_path):
    collected, tensors = WeightVectors(), [_tensors(iterations=iterations) for _ in range(6)]
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


def test_without_weight_vectors_nothing_is_written(tmp_path):
    collected = WeightVectors()
    collected.add(1, {"source2token": np.ones((3, 4), np.float32)})
    collected.write(tmp_path)
    assert not list(tmp_path.iterdir())
