"""Predictions and attention tensors for models of sentence pairs."""

import json

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.cli import modes
from disan_tf.serving.attention_page.attention_files import read_lines
from disan_tf.serving.inference.attend import attend
from disan_tf.serving.inference.predict import Counts, predict
from tests.support.models.bundles import (
    NLI,
    PAIR_CLASSES,
    PAIRS,
    RELATEDNESS,
    attend_alone,
    write_pairs,
)


@pytest.fixture(scope="module")
def bundles(nli_bundle, sick_bundle):
    return {NLI: nli_bundle, RELATEDNESS: sick_bundle}


@pytest.fixture
def pairs(tmp_path):
    return write_pairs(tmp_path / "pairs.txt")


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def probabilities(records):
    return np.array([list(record["probabilities"].values()) for record in records])


def expected_probabilities(bundle):
    """One pair at a time, from the model itself."""
    text_to_ids = bundle.text_to_ids()
    outputs = [bundle.model(text_to_ids([a]), text_to_ids([b])) for a, b in PAIRS]
    return tf.nn.softmax(tf.concat(outputs, axis=0)).numpy()


def test_each_pair_has_the_models_label(bundles, pairs, tmp_path):
    predict(bundles[NLI], pairs, tmp_path / "out.jsonl")
    records = read(tmp_path / "out.jsonl")
    assert [(record["premise"], record["hypothesis"]) for record in records] == PAIRS
    expected = expected_probabilities(bundles[NLI])
    np.testing.assert_allclose(probabilities(records), expected, rtol=0, atol=1e-6)
    names = [PAIR_CLASSES[NLI][row.argmax()] for row in expected]
    assert [record["label"] for record in records] == names
    assert list(records[0]["probabilities"]) == PAIR_CLASSES[NLI]


def test_a_relatedness_model_answers_the_expected_point(bundles, pairs, tmp_path):
    predict(bundles[RELATEDNESS], pairs, tmp_path / "out.jsonl")
    records = read(tmp_path / "out.jsonl")
    expected = expected_probabilities(bundles[RELATEDNESS])
    np.testing.assert_allclose(probabilities(records), expected, rtol=0, atol=1e-6)
    scores = [record["score"] for record in records]
    np.testing.assert_allclose(scores, expected @ np.arange(1, 6), rtol=0, atol=1e-5)
    assert list(records[0]) == ["sentence_a", "sentence_b", "score", "probabilities"]


def test_gold_labels_are_kept_and_pairs_without_one_are_counted(bundles, tmp_path):
    labels = ["neutral", "-", "hidden", "entailment"]
    rows = [{"gold_label": label, "sentence1": "a film", "sentence2": "bad"} for label in labels]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    counts = predict(bundles[NLI], tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert counts == Counts(rows=4, gold=4, unlabeled=2, blank=0)
    records = read(tmp_path / "out.jsonl")
    assert [record["gold_label"] for record in records] == labels
    assert all(record["label"] in PAIR_CLASSES[NLI] for record in records)


def test_the_mode_tells_on_standard_error_how_many_have_no_gold_label(bundles, tmp_path, capsys):
    rows = "-\ta\tb\nneutral\ta\tb\n-\t\t\n"
    (tmp_path / "in.tsv").write_text(f"gold_label\tsentence1\tsentence2\n{rows}")
    output = tmp_path / "out.jsonl"
    modes.predict(bundles[NLI].directory, tmp_path / "in.tsv", output)
    printed = capsys.readouterr()
    assert printed.err == (
        f"2 predictions in {output}; 2 rows without a gold label\n"
        f"blank lines: 1 of 3 in {tmp_path / 'in.tsv'}; they are marked and get no prediction.\n"
    )
    assert printed.out == ""


@pytest.mark.parametrize("task", [NLI, RELATEDNESS])
def test_the_page_tells_the_columns_of_the_input_from_those_of_the_model(bundles, task, tmp_path):
    columns = {"sentence1": "a film", "sentence2": "bad", "num_tokens": "3", "tokens": "x"}
    columns |= {"label": "a relation", "predicted_score": "2", "field_names": "y"}
    table = "\t".join(columns) + "\n" + "\t".join(columns.values()) + "\n"
    (tmp_path / "in.tsv").write_text(table)
    modes.attend(bundles[task].directory, tmp_path / "in.tsv", tmp_path / "out")
    (line,) = read_lines(tmp_path / "out")
    assert (line.fields, line.texts) == (bundles[task].model.fields, ["a film", "bad"])
    assert line.tokens == [["a", "film"], ["bad"]]
    assert line.is_score == (task == RELATEDNESS)
    name = "score" if line.is_score else "predicted_label"
    prediction = line.record[name]
    assert line.prediction == (f"{prediction:.2f}" if line.is_score else prediction)
    assert line.gold is None


def test_attention_tensors_are_those_of_each_sentence(nli_bundle, pairs, tmp_path):
    bundle = nli_bundle
    assert attend(bundle, pairs, tmp_path / "out") == len(PAIRS)
    text_to_ids = bundle.text_to_ids()
    for number, pair in enumerate(PAIRS, start=1):
        description = json.loads((tmp_path / "out" / f"{number:05d}.json").read_text("utf-8"))
        found = dict(np.load(tmp_path / "out" / f"{number:05d}.npz"))
        for field, sentence in zip(bundle.model.fields, pair):
            assert description[field] == sentence
            ids = text_to_ids([sentence])
            assert len(description[f"{field}_tokens"]) == ids.shape[1]
            for tensor_name, tensor in attend_alone(bundle.model, ids).items():
                tensor_found = found.pop(f"{field}_{tensor_name}")
                np.testing.assert_allclose(tensor_found, tensor[0], rtol=0, atol=1e-5)
        assert not found
