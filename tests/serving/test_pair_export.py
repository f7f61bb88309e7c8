"""Exports of models of sentence pairs answer as the trained models do."""

import json

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the tokenizer's operations)

from disan_tf.serving.export.saved_model import METADATA, export_saved_model
from disan_tf.serving.export.signatures import methods_of
from tests.support.models.bundles import NLI, PAIR_CLASSES, PAIRS, attend_alone, make_pair_bundle
from tests.support.models.exports import decoded

FIRST, SECOND = zip(*PAIRS)


@pytest.fixture(scope="module")
def answers(pair_bundle, pair_export):
    """Of the model of text, and then of the model of ids."""
    first, second = ids(pair_bundle)
    names = [f"{field}_ids" for field in pair_bundle.model.fields]
    padded = np.pad(second, [[0, 0], [0, 4]])
    of_ids = {"many": dict(zip(names, (first, padded))), "alone": {"ids": first}}
    names = pair_bundle.model.fields
    of_text = {"many": {**dict(zip(names, (FIRST, SECOND))), "text": FIRST}}
    return [ask(*pair) for pair in zip(pair_export, (of_text, of_ids))]


def ask(path, questions):
    """{(name, signature): answers} for the signatures whose inputs are among a question's."""
    return {
        (name, key): {output: tensor.numpy() for output, tensor in answer.items()}
        for key, signature in tf.saved_model.load(str(path)).signatures.items()
        for wanted in [signature.structured_input_signature[1].keys()]
        for name, inputs in questions.items()
        if wanted <= inputs.keys()
        for answer in [signature(**{it: tf.constant(inputs[it]) for it in wanted})]
    }


def ids(pair_bundle):
    """Both sentences of PAIRS, padded apart from each other."""
    return [pair_bundle.text_to_ids()(texts).numpy() for texts in (FIRST, SECOND)]


def check_answer(found, pair_bundle):
    expected = tf.nn.softmax(pair_bundle.model(*ids(pair_bundle))).numpy()
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


def test_a_score_is_the_mean_of_its_grades(sick_bundle):
    logits = np.random.default_rng(1).normal(size=[2, 5]).astype(np.float32)
    outputs = tf.concat([logits, [[0.0], [1.0]]], axis=1)
    found = methods_of(sick_bundle)["serving_default"].describe(outputs)
    probabilities = tf.nn.softmax(logits).numpy()
    np.testing.assert_allclose(found["probabilities"], probabilities, atol=1e-6)
    np.testing.assert_allclose(found["score"], probabilities @ np.arange(1, 6), atol=5e-6)
    assert found["no_known_word"].numpy().tolist() == [False, True]


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


def test_metadata_name_the_task_and_its_inputs_in_their_order(pair_bundle, pair_export):
    metadata = json.loads((pair_export[0] / METADATA).read_text(encoding="utf-8"))
    assert metadata["inputs"] == list(pair_bundle.model.fields)
    assert metadata["classes"] == pair_bundle.classes
    assert metadata["task"] == pair_bundle.config.task.name
    scored = metadata["task"] == "relatedness"
    assert metadata.get("score_range") == ([1.0, 5.0] if scored else None)


@pytest.mark.slow
def test_an_export_with_hard_attention_chooses_greedily_and_names_what_it_chose(tmp_path):
    bundle = make_pair_bundle(tmp_path, "resan_snli")
    path, _ = export_saved_model(bundle.directory, tmp_path / "export")
    signatures = tf.saved_model.load(str(path)).signatures
    texts = {"premise": tf.constant(FIRST), "hypothesis": tf.constant(SECOND)}
    selections = bundle.model.select(*ids(bundle), how="greedy")
    expected = tf.nn.softmax(bundle.model(*ids(bundle), selections=selections))
    found = signatures["serving_default"](**texts)["probabilities"]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    found = signatures["attend"](**texts)
    for field, chosen in zip(texts, selections):
        for kind, choice in (("heads", chosen.heads[0]), ("dependents", chosen.dependents[0])):
            np.testing.assert_array_equal(found[f"{field}_selected_{kind}"], choice)
            assert np.count_nonzero(choice) > 0
