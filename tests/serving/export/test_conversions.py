"""TFLite and ONNX: a file that answers as the SavedModel does, or a sentence why there is none."""

import dataclasses
import json
import runpy
import shutil

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.serving.export import client, export_model
from disan_tf.serving.export.export_model import export_converted
from tests.support.models.bundles import (
    CLASSES,
    RELATEDNESS,
    SENTENCES,
    WORDS,
    make_pair_bundle,
    split_of,
)

KINDS = ["tflite", pytest.param("onnx", marks=pytest.mark.slow)]


def _need(kind):
    if kind == "onnx":
        for package in ("tf2onnx", "onnxruntime"):
            pytest.importorskip(package, reason=f"{package} is missing")


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    _need(request.param)
    return request.param


@pytest.fixture(scope="module")
def folder(kind, bundle, tmp_path_factory):
    """That of a converted model of single sentences, which reads eight tokens."""
    output, dev = tmp_path_factory.mktemp(kind), split_of(bundle, SENTENCES)
    (path,) = export_converted(kind, bundle.directory, output, 8, dev)
    return path


@pytest.fixture(scope="module")
def predict(kind, folder):
    """Ids <int32>[batch, length] -> arrays by name, as the runtime alone gives them."""
    run = client.LOADERS[kind](folder / f"model.{kind}")
    return lambda ids: run({"ids": ids})


def test_probabilities_and_vectors_are_those_of_the_trained_model(bundle, predict):
    ids = bundle.text_to_ids()(SENTENCES[2:4])
    found = predict(ids.numpy())
    np.testing.assert_allclose(
        found["probabilities"], tf.nn.softmax(bundle.model(ids)), rtol=0, atol=1e-5
    )
    np.testing.assert_allclose(found["vectors"], bundle.model.encode(ids), rtol=0, atol=1e-5)


def test_tokens_beyond_the_limit_are_cut_and_told(bundle, predict):
    ids = np.ones([2, 12], np.int32)
    ids[1, 8:] = 0
    found = predict(ids)
    assert found["truncated"].tolist() == [True, False]
    np.testing.assert_allclose(found["probabilities"][0], found["probabilities"][1], atol=1e-6)


def test_the_metadata_say_how_far_it_was_checked(folder):
    metadata = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
    assert metadata["classes"] == CLASSES and metadata["max_tokens"] == 8
    assert metadata["checked_lengths"] == [1, 60]
    assert 0 <= metadata["largest_difference"] < 1e-5
    assert (folder / "vocabulary.txt").read_text(encoding="utf-8").split() == WORDS


def test_the_metadata_compare_it_with_predict_on_the_development_set(bundle, folder):
    metadata = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
    ids = bundle.text_to_ids()(SENTENCES)
    assert ids.shape[1] > 8  # so that predict reads more tokens
    whole, cut = (tf.nn.softmax(bundle.model(tokens)).numpy() for tokens in (ids, ids[:, :8]))
    compared = metadata["compared_with_predict"]
    assert compared.pop("largest_difference") == pytest.approx(np.abs(whole - cut).max(), abs=1e-5)
    different = int(np.sum(whole.argmax(axis=1) != cut.argmax(axis=1)))
    assert compared == {"split": "dev", "examples": 7, "different_labels": different}


def test_the_client_predicts_many_texts_as_one(bundle, folder):
    client = runpy.run_path(str(folder / "client.py"))["Client"](folder)
    texts = [*SENTENCES, *SENTENCES[::-1]]
    for batch_size in (3, 32):
        found = client.predict([[text] for text in texts], batch_size)
        for text, outputs in zip(texts, found):
            assert {*outputs} == {*client(text)}
            for name, output in client(text).items():
                np.testing.assert_allclose(output, outputs[name], rtol=0, atol=1e-5)
    ids = bundle.text_to_ids()(texts)[:, :8]
    probabilities = np.stack([outputs["probabilities"] for outputs in found])
    expected = tf.nn.softmax(bundle.model(ids))
    np.testing.assert_allclose(probabilities, expected, rtol=0, atol=1e-5)


def test_the_client_marks_truncated_texts(folder):
    texts = [" ".join(["film"] * tokens) for tokens in (7, 8, 9, 50)]
    found = client.Client(folder).predict([[text] for text in texts])
    assert [bool(outputs["truncated"]) for outputs in found] == [False, False, True, True]
    np.testing.assert_allclose(found[1]["probabilities"], found[3]["probabilities"], atol=1e-6)
    outputs = client.Client(folder)(" ".join(["qwertyuiop"] * 8 + ["film"]))
    assert outputs["truncated"] and outputs["no_known_word"]  # of the tokens that are read


def test_the_client_beside_it_tokenises_and_predicts(bundle, folder, capsys):
    client = runpy.run_path(str(folder / "client.py"))  # a file by itself, as on another machine
    texts = [SENTENCES[2], "It isn't (really) A Film!", "It is\u200e a fi\u00adlm"]
    client["main"]([*texts, "qwertyuiop", " ", "\u200e"])
    probabilities = tf.nn.softmax(bundle.model(bundle.text_to_ids()([*texts, "qwertyuiop"])[:, :8]))
    named = [f"{CLASSES[row.argmax()]} ({row.max():.3f})" for row in probabilities.numpy()]
    named[-1] = named[-1].replace(")", ", no known word)")
    rows = zip([*named, "blank", "blank"], [*texts, "qwertyuiop", " ", "\u200e"])
    assert capsys.readouterr().out == "".join(f"{row}: {text}\n" for row, text in rows)


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("model.*", None, "model.onnx is missing; give --model"),
        ("model.*", "x", "is damaged or of an older version"),
        ("metadata.json", "{}", "is damaged or of an older version"),
        ("vocabulary.txt", "a\n", "vocabulary.txt has 1 words"),
    ],
)
def test_a_damaged_folder_is_refused(name, content, message, folder, tmp_path, capsys):
    copy = shutil.copytree(folder, tmp_path / "model")
    (path,) = copy.glob(name)
    path.write_text(content) if content else path.unlink()
    with pytest.raises(SystemExit, match="2"):
        client.main([f"--model={copy}", "a film"])
    assert message in capsys.readouterr().err


def test_tflite_needs_builtin_operators_alone(kind, folder):
    if kind == "tflite":
        interpreter = tf.lite.Interpreter(str(folder / "model.tflite"))
        names = {operator["op_name"] for operator in interpreter._get_ops_details()}
        assert {"FULLY_CONNECTED", "BATCH_MATMUL"} & names
        assert not [name for name in names if name.startswith(("Flex", "CUSTOM"))]


@pytest.mark.slow
def test_pairs_are_converted_too(pair_bundle, kind, tmp_path):
    (path,) = export_converted(kind, pair_bundle.directory, tmp_path)
    metadata = json.loads((path / "metadata.json").read_text(encoding="utf-8"))
    assert metadata["largest_difference"] < 1e-5


@pytest.mark.parametrize(
    "encoder",
    [
        {"name": "dsa", "units": 5, "first_units": 3, "dense_units": 2, "compressed_units": 5},
        {"name": "resan", "units": 4, "unselected": "drop"},
        pytest.param({"name": "hierarchical_cnn", "units": 5}, marks=pytest.mark.slow),
        pytest.param({"name": "multi_window_cnn", "units": 6}, marks=pytest.mark.slow),
    ],
    ids=lambda encoder: encoder["name"],
)
def test_every_encoder_without_a_loop_is_converted(encoder, kind, tmp_path):
    _converts(kind, encoder, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "encoder",
    [
        {"name": "bi_gru", "units": 3},
        {"name": "bi_lstm", "units": 3},
        {"name": "pooled_bi_lstm", "units": 3},
        {"name": "resan", "units": 4, "sampling": "iterative"},
    ],
    ids=lambda encoder: encoder["name"],
)
def test_encoders_with_loops_become_onnx(encoder, tmp_path):
    _need("onnx")
    _converts("onnx", encoder, tmp_path)


def _converts(kind, encoder, folder):
    bundle = make_pair_bundle(folder / "made", RELATEDNESS, encoder)
    (path,) = export_converted(kind, bundle.directory, folder)  # which compares the outputs
    assert (path / f"model.{kind}").is_file()


def test_a_model_that_answers_differently_is_refused(bundle, tmp_path, monkeypatch):
    monkeypatch.setattr(export_model, "_difference", lambda *_: 0.25)
    with pytest.raises(UserError, match="has other outputs as tflite, by 0.2"):
        export_converted("tflite", bundle.directory, tmp_path)
    assert not list((tmp_path / "tflite").glob("*"))


def test_without_the_packages_of_onnx_it_is_said_how_to_install_them(bundle, tmp_path, monkeypatch):
    def fail(name):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(export_model.importlib, "import_module", fail)
    with pytest.raises(UserError, match="pip install tf2onnx onnxruntime"):
        export_converted("onnx", bundle.directory, tmp_path)


def test_what_a_converter_refuses_is_one_sentence(bundle, tmp_path, monkeypatch):
    def refuse(*_):
        raise RuntimeError("loc: error: 'tf.Where' op is neither a custom op nor a flex op\nmore")

    monkeypatch.setattr(tf.lite.TFLiteConverter, "from_concrete_functions", refuse)
    with pytest.raises(UserError, match=r"encoder disan, .* become tflite \(it lacks Where\); exp"):
        export_converted("tflite", bundle.directory, tmp_path)


def test_models_that_read_more_than_ids_are_refused(bundle, tmp_path, monkeypatch):
    config = bundle.config.copy_and_resolve_references()
    with config.unlocked():
        config.embedding.name = "elmo"
    loaded = dataclasses.replace(bundle, config=config)
    monkeypatch.setattr(export_model, "load_bundle", lambda *_, **__: loaded)
    with pytest.raises(UserError, match="cannot become onnx, since .*biLM reads"):
        export_converted("onnx", bundle.directory, tmp_path)
