"""Exports answer as the trained model does, in processes that lack our code or tensorflow-text."""

import json

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

from disan_tf.ops import portable
from disan_tf.runs.bundle import load_bundle
from disan_tf.serving.export import saved_model
from disan_tf.serving.export.saved_model import METADATA, export_saved_model, write_versions
from disan_tf.serving.inference.predict import make_prediction_step
from tests.support.models.bundles import CLASSES, SENTENCES, WORDS
from tests.support.models.exports import ask_both, decoded


@pytest.fixture(scope="module")
def answers(bundle, export, tmp_path_factory):
    """Of the model of text, and then of the model of ids."""
    ids = bundle.text_to_ids()(SENTENCES).numpy()
    arrays = {"none": np.zeros([0, 0], np.int32), "many": np.pad(ids, [[0, 0], [0, 3]])}
    of_ids = {name: {"ids": array} for name, array in arrays.items()}
    texts = [text.encode() for text in SENTENCES]
    of_text = {"many": texts, "none": np.array([], "S1")}
    of_text = {name: {"text": array} for name, array in of_text.items()}
    return ask_both(export, of_text, of_ids, tmp_path_factory.mktemp("answers"))


def saved_meta(path):
    (meta,) = SavedModel.FromString((path / "saved_model.pb").read_bytes()).meta_graphs
    return meta


def operations(path):
    graph = saved_meta(path).graph_def
    bodies = [graph.node, *(function.node_def for function in graph.library.function)]
    return {node.op for body in bodies for node in body}


def check_answers(answers, name, bundle, zeros=()):
    """Probabilities, classes and vectors of SENTENCES equal those of the trained model.

    `zeros` are the numbers of the sentences whose vectors are zero.
    """
    ids = bundle.text_to_ids()(SENTENCES)
    probabilities = tf.nn.softmax(bundle.model(ids)).numpy()
    found = answers[name, "serving_default"]
    np.testing.assert_allclose(found["probabilities"], probabilities, rtol=0, atol=1e-5)
    np.testing.assert_allclose(found["logits"], bundle.model(ids), rtol=0, atol=1e-5)
    unknown = np.all(ids.numpy() <= 1, axis=1).tolist()
    assert found["no_known_word"].tolist() == unknown and set(unknown) == {True, False}
    assert found["probabilities"].dtype == np.float32
    assert decoded(found["class"]) == [CLASSES[row.argmax()] for row in probabilities]
    assert decoded(found["class_names"]) == [CLASSES] * len(SENTENCES)
    vectors, expected = answers[name, "encode"]["vectors"], bundle.model.encode(ids).numpy()
    expected[[*zeros]] = 0
    np.testing.assert_allclose(vectors, expected, rtol=0, atol=1e-5)
    assert len(set(decoded(found["class"]))) > 2  # an untrained model that tells texts apart


def test_text_model_equals_the_trained_one_without_our_package(bundle, text_answers):
    blank = [number for number, text in enumerate(SENTENCES) if not text.strip()]
    check_answers(text_answers, "many", bundle, blank)


def test_ids_model_equals_the_trained_one_whatever_its_padding(bundle, ids_answers):
    check_answers(ids_answers, "many", bundle)


def test_an_empty_batch_has_an_empty_answer(text_answers, ids_answers):
    for answers in (text_answers, ids_answers):
        assert answers["none", "serving_default"]["probabilities"].shape == (0, len(CLASSES))
        assert answers["none", "serving_default"]["class"].shape == (0,)
        assert answers["none", "encode"]["vectors"].shape == (0, 32)
    assert text_answers["none", "attend"]["tokens"].shape == (0, 0)


def test_attend_gives_tokens_and_feature_means_with_nothing_after_the_end(bundle, text_answers):
    found = text_answers["many", "attend"]
    tokens = decoded(found.pop("tokens"))
    assert tokens[2][:6] == ["-LRB-", "A", "new", "story", "-RRB-", ""]
    assert tokens[1] == [""] * len(tokens[0])
    for index in (1, 2, 4):
        ids = bundle.text_to_ids()([SENTENCES[index]])
        length = ids.shape[1]
        expected = bundle.model.attend(ids)
        assert found.keys() == expected.keys()
        for name, tensor in expected.items():
            mean = tf.reduce_mean(tensor[0], axis=-1).numpy()
            row = found[name][index]
            inside = tuple(slice(length) for _ in mean.shape)
            np.testing.assert_allclose(row[inside], mean, atol=1e-5, err_msg=name)
            assert not np.any(row[length:]) and not np.any(row[:, length:] if mean.ndim > 1 else 0)


def test_the_ids_model_holds_no_text_ops(export):
    text, ids = map(operations, export)
    assert {"RegexSplitWithOffsets", "HashTableV2"} <= text
    text_ops = ("Regex", "StringLower", "Unicode", "HashTable", "LookupTable")
    assert not [name for name in ids if name.startswith(text_ops)]
    assert not [name for name in text | ids if name.startswith("Disan")]  # of this machine alone


def test_no_dropout_counter_is_exported(export):
    for path in export:
        loaded = tf.train.load_checkpoint(str(path / "variables" / "variables"))
        types = loaded.get_variable_to_dtype_map()
        types.pop("_CHECKPOINTABLE_OBJECT_GRAPH")
        assert set(types.values()) == {tf.float32}


def test_an_export_is_the_next_version_and_the_only_one(export):
    folder = export[0].parents[1]
    assert {path.name for path in folder.iterdir()} == {"saved_model", "saved_model_ids"}
    assert [path.name for path in export] == ["7", "7"]
    assert [list(path.parent.iterdir()) for path in export] == [[path] for path in export]


def test_two_exports_at_once_both_stay(tmp_path):
    paths = [_write_one(tmp_path / "model", _write_folder)]

    def write(folder):  # while another process exports
        paths.append(_write_one(tmp_path / "model", _write_folder))
        _write_folder(folder)

    paths.append(_write_one(tmp_path / "model", write))
    assert [path.name for path in paths] == ["1", "2", "3"]
    assert [path.is_dir() for path in paths] == [False, True, True]
    _write_one(tmp_path / "model", _write_folder)
    assert [path.name for path in (tmp_path / "model").iterdir()] == ["4"]


@pytest.mark.parametrize("taken", ["text", "ids"])
def test_a_version_that_another_export_took_is_left_alone(taken, tmp_path, monkeypatch):
    _write_folder(tmp_path / taken / "1")
    monkeypatch.setattr(saved_model, "newest_version", lambda folder: None)  # it looked before
    assert _write_both(tmp_path) == [tmp_path / "text/2", tmp_path / "ids/2"]


@pytest.mark.parametrize("renamings", [0, 1])
def test_a_killed_export_leaves_the_older_pair_whole(renamings, tmp_path, monkeypatch):
    def replace(*paths):
        if len(renamed) == renamings:
            raise KeyboardInterrupt  # like a kill, it rolls nothing back
        renamed.append(paths)
        rename(*paths)

    rename, renamed = saved_model.sync_and_rename, []
    _write_both(tmp_path)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(saved_model, "sync_and_rename", replace)
        _write_both(tmp_path)
    common = set.intersection(*({path.name for path in it.iterdir()} for it in tmp_path.iterdir()))
    assert common == {"1"}
    _write_both(tmp_path)
    names = [[path.name for path in (tmp_path / it).iterdir()] for it in ("text", "ids")]
    assert names == [[str(2 + renamings)]] * 2


def test_both_models_are_written_before_one_is_renamed(tmp_path):
    def fail(folder):
        folder.mkdir()
        raise OSError("No space left on device")

    old = _write_both(tmp_path)
    with pytest.raises(OSError, match="No space"):
        write_versions({tmp_path / "text": _write_folder, tmp_path / "ids": fail})
    assert [*tmp_path.glob("*/*")] == old and all(path.is_dir() for path in old)


def _write_both(folder):
    return [*write_versions(dict.fromkeys([folder / "text", folder / "ids"], _write_folder))]


def _write_one(folder, write):
    (path,) = write_versions({folder: write})
    return path


def _write_folder(folder):
    folder.mkdir(parents=True)
    (folder / "saved_model.pb").write_text("")


def test_each_model_has_its_metadata(export):
    for path in export:
        metadata = json.loads((path / METADATA).read_text(encoding="utf-8"))
        assert metadata["classes"] == CLASSES
        assert metadata["vocabulary_size"] == len(WORDS)
        assert (metadata["config"], metadata["step"]) == ("disan_sst", 30)
        assert (metadata["task"], metadata["inputs"]) == ("classification", ["text"])


@pytest.mark.slow
def test_a_model_that_trained_in_bfloat16_is_exported_in_float32(mixed_bundle, tmp_path):
    assert mixed_bundle.info["config"]["dtype"] == "mixed_bfloat16"
    bundle = load_bundle(mixed_bundle.directory, dtype="float32")
    text, ids = (
        tf.saved_model.load(str(path))
        for path in export_saved_model(bundle.directory, tmp_path / "export")
    )
    inputs = bundle.text_to_ids()(SENTENCES)
    with portable():
        expected, *_ = make_prediction_step(bundle.model)(inputs)
    for model, argument in ((text, tf.constant(SENTENCES)), (ids, inputs)):
        found = model.signatures["serving_default"](argument)["probabilities"]
        assert found.dtype == tf.float32
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
        assert model.signatures["encode"](argument)["vectors"].dtype == tf.float32
    assert text.signatures["attend"](tf.constant(SENTENCES))["forward_gate"].dtype == tf.float32
