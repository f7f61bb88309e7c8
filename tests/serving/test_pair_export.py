"""Exports of models of sentence pairs answer as the trained models do, without our package."""

import json

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.serving.export.saved_model import METADATA, export_saved_model
from tests.support.models.bundles import NLI, PAIR_CLASSES, PAIRS, attend_alone, make_pair_bundle
from tests.support.models.exports import ask_both, decoded

FIRST, SECOND = zip(*PAIRS)


@pytest.fixture(scope="module")
def answers(pair_bundle, pair_export, tmp_path_factory):
    """Of the model of text, and then of the model of ids."""
    first, second = ids(pair_bundle)
    names = [f"{field}_ids" for field in pair_bundle.model.fields]
    padded = np.pad(second, [[0, 0], [0, 4]])
    of_ids = {"many": dict(zip(names, (first, padded))), "alone": {"ids": first}}
    first, second = ([text.encode() for text in texts] for texts in (FIRST, SECOND))
    names = pair_bundle.model.fields
    of_text = {
        "many": {**dict(zip(names, (first, second))), "text": first},
        "none": dict.fromkeys(names, np.array([], "S1")),
    }
    return ask_both(pair_export, of_text, of_ids, tmp_path_factory.mktemp("answers"))


def ids(pair_bundle):
    """Both sentences of PAIRS, padded apart from each other."""
    return [pair_bundle.text_to_ids()(texts).numpy() for texts in (FIRST, SECOND)]


def expected_probabilities(pair_bundle):
    return tf.nn.softmax(pair_bundle.model(*ids(pair_bundle))).numpy()


def check_answer(found, pair_bundle):
    expected = expected_probabilities(pair_bundle)
    np.testing.assert_allclose(found["probabilities"], expected, rtol=0, atol=1e-6)
    if pair_bundle.config.task.name == "relatedness":
        assert found.keys() == {"score", "probabilities", "no_known_word"}
        assert found["score"].dtype == np.float32
        np.testing.assert_allclose(found["score"], expected @ np.arange(1, 6), rtol=0, atol=5e-6)
    else:
        assert decoded(found["class"]) == [PAIR_CLASSES[NLI][row.argmax()] for row in expected]
        assert decoded(found["class_names"]) == [PAIR_CLASSES[NLI]] * len(PAIRS)
    lacking = [not (first and second) for first, second in PAIRS]
    assert found["no_known_word"].tolist() == lacking


def test_the_text_model_answers_two_strings(pair_bundle, text_answers):
    check_answer(text_answers["many", "serving_default"], pair_bundle)


def test_the_ids_model_answers_two_arrays_whatever_their_padding(pair_bundle, ids_answers):
    check_answer(ids_answers["many", "serving_default"], pair_bundle)


def test_an_empty_batch_has_an_empty_answer(pair_bundle, text_answers):
    found = text_answers["none", "serving_default"]["probabilities"]
    assert found.shape == (0, len(pair_bundle.classes))


def test_one_sentence_is_encoded_alone(pair_bundle, text_answers, ids_answers):
    expected = pair_bundle.model.encode(ids(pair_bundle)[0])
    found = ids_answers["alone", "encode"]["vectors"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
    has_words = [[bool(text.strip())] for text in FIRST]
    found = text_answers["many", "encode"]["vectors"]
    np.testing.assert_allclose(found, tf.where(has_words, expected, 0.0), rtol=0, atol=1e-6)


def test_attend_gives_tokens_and_feature_means_of_both_sentences(pair_bundle, text_answers):
    found = dict(text_answers["many", "attend"])
    for field, numbers, texts in zip(pair_bundle.model.fields, ids(pair_bundle), (FIRST, SECOND)):
        tokens = decoded(found.pop(f"{field}_tokens"))
        expected = [token.decode() for token in pair_bundle.text_to_ids().tokens(texts)[3].numpy()]
        assert tokens[3] == expected + [""] * (numbers.shape[1] - len(expected))
        row = numbers[3:4, : len(expected)]
        for name, tensor in attend_alone(pair_bundle.model, row).items():
            mean = tf.reduce_mean(tensor[0], axis=-1).numpy()
            answer = found.pop(f"{field}_{name}")[3]
            inside = tuple(slice(size) for size in mean.shape)
            np.testing.assert_allclose(answer[inside], mean, rtol=0, atol=1e-6, err_msg=name)
            assert not np.any(answer[len(expected) :])
    assert not found


@pytest.mark.slow
@pytest.mark.parametrize(
    "encoder",
    [
        {"name": "multi_head", "heads": 3, "units": 4, "activation": "elu"},
        {"name": "bi_lstm", "units": 4, "activation": "relu"},
    ],
    ids=lambda encoder: encoder["name"],
)
def test_other_encoders_are_exported(encoder, tmp_path):
    other = make_pair_bundle(tmp_path / "model", NLI, encoder)
    model = tf.saved_model.load(str(export_saved_model(other.directory, tmp_path)[0]))
    texts = {"premise": tf.constant(FIRST), "hypothesis": tf.constant(SECOND)}
    check_answer(
        {name: each.numpy() for name, each in model.signatures["serving_default"](**texts).items()},
        other,
    )
    found = model.signatures["attend"](**texts)["hypothesis_source2token"]
    expected = attend_alone(other.model, ids(other)[1])["source2token"]
    real = ids(other)[1] != 0
    np.testing.assert_allclose(found[real], tf.reduce_mean(expected, axis=-1)[real], atol=1e-6)
    assert not np.any(found[~real])


def test_metadata_name_the_task_and_its_inputs_in_their_order(pair_bundle, pair_export):
    metadata = json.loads((pair_export[0] / METADATA).read_text(encoding="utf-8"))
    assert metadata["inputs"] == list(pair_bundle.model.fields)
    assert metadata["classes"] == pair_bundle.classes
    assert metadata["task"] == pair_bundle.config.task.name
    scored = metadata["task"] == "relatedness"
    assert metadata.get("score_range") == ([1.0, 5.0] if scored else None)
