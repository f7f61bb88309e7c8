"""Predictions: every line answered, in order, alike in every batch; whole files or none."""

import csv
import io
import json
import os
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.common.errors import UserError, explain
from disan_tf.serving.inference import attend as attend_module
from disan_tf.serving.inference import batches as batches_module
from disan_tf.serving.inference import predict as predict_module
from disan_tf.serving.inference.predict import heaviest, predict
from disan_tf.text import text_files
from tests.support.models.bundles import (
    CLASSES,
    NLI,
    SENTENCES,
    WORDS,
    make_pair_bundle,
    write_pairs,
)


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def probabilities(records):
    return np.array([[record["probabilities"][name] for name in CLASSES] for record in records])


def predict_file(bundle, source, target, **options):
    predict(bundle, source, target, **options)
    return read(target)


def test_each_line_has_the_models_answer(bundle, texts, tmp_path):
    counts = predict(bundle, texts, tmp_path / "out.jsonl")
    assert (counts.rows, counts.blank) == (len(SENTENCES), 2)
    records = read(tmp_path / "out.jsonl")
    assert [record["text"] for record in records] == SENTENCES
    records = [record for record in records if record["text"].strip()]
    words = [record["text"] for record in records]
    expected = [tf.nn.softmax(bundle.model(bundle.text_to_ids()([text])))[0] for text in words]
    np.testing.assert_allclose(probabilities(records), expected, rtol=0, atol=1e-6)
    assert [record["label"] for record in records] == [
        CLASSES[int(np.argmax(row))] for row in expected
    ]
    assert list(records[0]) == ["text", "label", "probabilities"]


def test_answers_keep_their_order_and_do_not_depend_on_the_batch(bundle, tmp_path, monkeypatch):
    draw = np.random.default_rng(3)
    sentences = [" ".join(draw.choice(WORDS, draw.integers(1, 40))) for _ in range(150)]
    (tmp_path / "in.txt").write_text("\n".join(sentences) + "\n", encoding="utf-8")
    predict(bundle, tmp_path / "in.txt", tmp_path / "one.jsonl", batch_size=1)
    predict(bundle, tmp_path / "in.txt", tmp_path / "many.jsonl", batch_size=64)
    monkeypatch.setattr(batches_module, "MAX_POSITIONS", 100)
    monkeypatch.setattr(text_files, "CHUNK_BYTES", 2000)
    predict(bundle, tmp_path / "in.txt", tmp_path / "chunks.jsonl", batch_size=64)
    one = read(tmp_path / "one.jsonl")
    for name in ("many", "chunks"):
        other = read(tmp_path / f"{name}.jsonl")
        assert [record["text"] for record in other] == sentences
        np.testing.assert_allclose(probabilities(other), probabilities(one), rtol=0, atol=1e-6)


def test_batches_hold_similar_lengths_and_few_positions(monkeypatch):
    monkeypatch.setattr(batches_module, "MAX_POSITIONS", 20)
    lengths = np.array([[3], [50], [1], [4], [10], [2], [3]])
    batches = [list(batch) for batch in batches_module.batches_of_similar_length(lengths, 3)]
    assert batches == [[2, 5, 0], [6], [3, 4], [1]]


def test_both_sentences_of_a_pair_take_positions(monkeypatch):
    monkeypatch.setattr(batches_module, "MAX_POSITIONS", 20)
    lengths = np.array([[3, 7], [3, 1], [3, 8], [2, 1]])
    batches = [list(batch) for batch in batches_module.batches_of_similar_length(lengths, 4)]
    assert batches == [[3], [2], [0, 1]]  # 2 * (3 + 8) are too many, 2 * (3 + 7) are not


def test_fields_are_carried_and_tokens_are_looked_up_as_they_are(bundle, tmp_path):
    inputs = [
        {"id": "x/1", "tokens": ["The", "film", "\\/"], "label": "gold"},
        {"text": "the film /", "extra": {"é": [1, None]}},
        {"tokens": ["the", "film", "/"]},
    ]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in inputs), encoding="utf-8")
    predict(bundle, path, tmp_path / "out.jsonl")
    records = read(tmp_path / "out.jsonl")
    assert records[0]["id"] == "x/1" and records[0]["tokens"] == inputs[0]["tokens"]
    assert records[0]["label"] == "gold" and records[0]["predicted_label"] in CLASSES
    assert records[1]["extra"] == inputs[1]["extra"] and records[1]["text"] == "the film /"
    first, second, third = probabilities(records)
    np.testing.assert_allclose(first, second, atol=1e-6)  # "/" in text is the token "\/"
    assert np.abs(second - third).max() > 1e-3  # as a token it is unknown


def test_a_file_that_exists_is_refused_before_the_input_is_read(bundle, tmp_path):
    (tmp_path / "out.jsonl").write_text("old")
    with pytest.raises(UserError, match=r"out\.jsonl exists already; name another file or delete"):
        predict(bundle, tmp_path / "absent.txt", tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == "old"


def test_a_file_that_appears_meanwhile_is_not_replaced(bundle, texts, tmp_path, monkeypatch):
    def answer_slowly(*_):
        (tmp_path / "out.jsonl").write_text("of another run")
        return [[value] * len(SENTENCES) for value in (np.ones(5), 0, False)]

    monkeypatch.setattr(predict_module, "compute", answer_slowly)
    with pytest.raises(UserError, match=r"out\.jsonl exists already"):
        predict(bundle, texts, tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == "of another run"


def test_a_lost_prediction_is_noticed(bundle, texts, tmp_path, monkeypatch):
    monkeypatch.setattr(predict_module, "compute", lambda *_: [[np.ones(5)], [0], [False]])
    with pytest.raises(RuntimeError, match=f"1 predictions for {len(SENTENCES)} rows"):
        predict(bundle, texts, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_a_pipe_gets_each_answer_before_the_next_question(bundle, monkeypatch):
    answers = io.BytesIO()

    class Dialogue:
        questions = [b"a film\n", b"boring\n", b""]

        def read1(self, _):
            line = self.questions.pop(0)
            answered = answers.getvalue().count(b"\n")
            assert answered == 2 - len(self.questions)
            return line

    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=Dialogue()))
    buffered = io.BufferedWriter(answers)
    monkeypatch.setattr("sys.stdout", SimpleNamespace(buffer=buffered, flush=lambda: None))
    assert predict(bundle, "-", "-").rows == 2


def test_a_device_is_written_to_and_not_replaced(bundle, texts, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        predict(bundle, texts, pipe)
        assert os.read(reader, 1 << 16).count(b"\n") == len(SENTENCES)
    finally:
        os.close(reader)
    assert not pipe.is_file() and pipe.exists()


def test_an_output_that_cannot_be_a_file_is_refused(bundle, texts, tmp_path):
    with pytest.raises(UserError, match="is a directory; name a file"):
        predict(bundle, texts, tmp_path)
    with pytest.raises(UserError, match="cannot be written"):
        predict(bundle, texts, texts / "out.jsonl")
    with pytest.raises(
        UserError, match=r"GZ: outputs are not compressed; use a name without \.GZ\.$"
    ):
        predict(bundle, texts, tmp_path / "out.csv.GZ")
    assert not (tmp_path / "out.csv.GZ").exists()


def read_table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_table_keeps_its_columns_and_gets_those_of_the_prediction(bundle, tmp_path):
    (tmp_path / "in.csv").write_text('id,text,label\n1,"a ""good"" film, new",x\n2,,y\n3,été,z\n')
    predict(bundle, tmp_path / "in.csv", tmp_path / "out.csv")
    predict(bundle, tmp_path / "in.csv", tmp_path / "out.jsonl")
    rows, expected = read_table(tmp_path / "out.csv"), read(tmp_path / "out.jsonl")
    own = ["id", "text", "label", "predicted_label"]
    named = (f"probability_{name}" for name in CLASSES)
    assert list(rows[0]) == [*own, *named, "no_known_word", "truncated"]
    assert [row["label"] for row in rows] == ["x", "y", "z"]
    assert rows[0]["text"] == 'a "good" film, new' and rows[2]["text"] == "été"
    assert rows[0]["predicted_label"] == expected[0]["predicted_label"]
    for name in CLASSES:
        assert float(rows[0][f"probability_{name}"]) == expected[0]["probabilities"][name]
        assert rows[1][f"probability_{name}"] == rows[1]["predicted_label"] == ""


def test_a_text_without_a_known_word_is_marked(bundle, tmp_path):
    (tmp_path / "in.txt").write_text("qwertyuiop zzzz\na zzzz\n\n")
    first, second, blank = predict_file(bundle, tmp_path / "in.txt", tmp_path / "out.jsonl")
    assert first["no_known_word"] is True and first["label"] in CLASSES
    assert "no_known_word" not in second and "no_known_word" not in blank
    predict(bundle, tmp_path / "in.txt", tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="") as file:
        assert [row["no_known_word"] for row in csv.DictReader(file)] == ["true", "", ""]


def test_the_most_probable_classes_come_first(bundle, tmp_path):
    (tmp_path / "in.txt").write_text("a good film\n\n")
    every, _ = predict_file(bundle, tmp_path / "in.txt", tmp_path / "all.jsonl")
    ranked = sorted(every["probabilities"].items(), key=lambda item: -item[1])
    first, blank = predict_file(bundle, tmp_path / "in.txt", tmp_path / "out.jsonl", top_k=2)
    assert list(first["probabilities"].items()) == ranked[:2]
    assert blank["probabilities"] == {} and blank["blank"]
    predict(bundle, tmp_path / "in.txt", tmp_path / "out.csv", top_k=9)
    with open(tmp_path / "out.csv", newline="") as file:
        row, blank = csv.DictReader(file)
    columns = [f"{title}_{k}" for k in range(1, 6) for title in ("class", "probability")]
    assert list(row) == ["text", "predicted_label", *columns, "no_known_word", "truncated"]
    assert (row["class_5"], float(row["probability_5"])) == ranked[4]
    assert row["class_1"] == row["predicted_label"] and set(blank.values()) == {""}


@pytest.mark.parametrize(
    "options, message",
    [
        ({"output_format": "tsv"}, "no output format 'tsv'; choose jsonl or csv"),
        ({"escape_formulas": True}, "--escape_formulas is for tables; .* ends with .csv"),
        ({"explain": True, "output_format": "csv"}, "leave --output_format=csv out"),
    ],
)
def test_options_that_do_not_fit_are_refused(bundle, texts, tmp_path, options, message):
    with pytest.raises(UserError, match=message):
        predict(bundle, texts, tmp_path / "out.jsonl", **options)


def test_no_field_of_the_input_is_replaced(bundle, tmp_path):
    path, old = tmp_path / "in.jsonl", {"label": "gold", "probabilities": 7, "blank": 0}
    path.write_text("".join(json.dumps({"text": "a film", **each}) + "\n" for each in (old, {})))
    counts = predict(bundle, path, tmp_path / "out.jsonl")
    first, second = read(tmp_path / "out.jsonl")
    assert list(first) == ["text", *old, "predicted_label", "predicted_probabilities"]
    assert first["label"] == "gold" and first["predicted_label"] == second["label"]
    assert first["predicted_probabilities"] == second["probabilities"]
    assert (counts.rows, counts.renamed) == (2, 1)


def test_no_two_columns_have_one_name(bundle, tmp_path):
    (tmp_path / "in.csv").write_text("text,predicted_label,probability_bad\na film,old,.1\n")
    predict(bundle, tmp_path / "in.csv", tmp_path / "out.csv")
    (row,) = read_table(tmp_path / "out.csv")
    own = {"text": "a film", "predicted_label": "old", "probability_bad": ".1"}
    assert own.items() <= row.items() and row["predicted_predicted_label"] in CLASSES
    header = (tmp_path / "out.csv").read_text().split("\n")[0].split(",")
    assert "predicted_probability_bad" in header and len(header) == len(set(header))


def test_a_table_of_json_lines_has_the_first_records_columns(bundle, tmp_path):
    lines = [{"text": "a", "n": 1}, {"text": "b"}, {"text": "c", "n": None, "more": 1}]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines[:2]))
    predict(bundle, path, tmp_path / "out.csv")
    assert [row["n"] for row in read_table(tmp_path / "out.csv")] == ["1", ""]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(UserError, match='line 3: the first record has no "more"'):
        predict(bundle, path, tmp_path / "new.csv")
    assert not (tmp_path / "new.csv").exists()


def test_another_column_is_read_on_request(bundle, tmp_path):
    (tmp_path / "in.csv").write_text("text,body\n,boring\n")
    counts = predict(bundle, tmp_path / "in.csv", tmp_path / "out.jsonl", text_column=["body"])
    assert (counts.rows, counts.blank) == (1, 0)


@pytest.mark.parametrize(
    "name, content, own",
    [
        ("in.csv", "id,text\n", ["id", "text"]),
        ("in.txt", "", ["text"]),
    ],
)
def test_a_table_without_rows_has_its_header(bundle, tmp_path, name, content, own):
    (tmp_path / name).write_text(content)
    predict(bundle, tmp_path / name, tmp_path / "out.csv")
    named = (f"probability_{name}" for name in CLASSES)
    header = [*own, "predicted_label", *named, "no_known_word", "truncated"]
    assert (tmp_path / "out.csv").read_text() == ",".join(header) + "\n"


HOSTILE = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(1)", "\t=1", "＝1", 'a;=1,"b"']


def test_formulas_are_escaped_on_request_alone(bundle, tmp_path):
    rows = [{"text": text, "=name": -1} for text in HOSTILE]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    predict(bundle, tmp_path / "in.jsonl", tmp_path / "plain.csv")
    predict(bundle, tmp_path / "in.jsonl", tmp_path / "safe.csv", escape_formulas=True)
    plain, safe = (read_table(tmp_path / name) for name in ("plain.csv", "safe.csv"))
    assert [row["text"] for row in plain] == HOSTILE
    assert [row["text"] for row in safe] == [f"'{text}" for text in HOSTILE[:-1]] + HOSTILE[-1:]
    assert {row["'=name"] for row in safe} == {"-1"} == {row["=name"] for row in plain}
    lines = (tmp_path / "safe.csv").read_text().splitlines()
    assert all(line.startswith('"') and line.endswith('"') for line in lines)


def test_a_full_disk_names_the_output(bundle, texts):
    with pytest.raises(OSError) as caught:
        predict(bundle, texts, "/dev/full")
    assert explain(caught.value) == (
        "/dev/full: No space left on device; free some space, or choose another folder."
    )


def _weights(bundle, text):
    """Tokens and their mean source2token weights, of one sentence alone."""
    lookup = bundle.text_to_ids()
    (tokens,) = [[token.decode() for token in row] for row in lookup.tokens([text]).to_list()]
    return tokens, bundle.model.attend(lookup([text]))["source2token"][0].numpy().mean(axis=-1)


def test_the_heaviest_five_come_first_and_name_their_places():
    weights = np.array([0.1, 0.3, 0.05, 0.2, 0.3, 0.05, 9.0])
    found = heaviest(["a", "b", "c", "d", "e", "f"], weights)
    assert "".join(each["token"] for each in found) == "bedac"
    assert [each["position"] for each in found] == [1, 4, 3, 0, 2]
    assert [each["weight"] for each in found] == [0.3, 0.3, 0.2, 0.1, 0.05]


def test_each_line_has_the_weights_of_its_sentence_alone(bundle, texts, tmp_path, monkeypatch):
    monkeypatch.setattr(predict_module, "MAX_PAIRS", 30)  # several batches
    answers = predict_file(bundle, texts, tmp_path / "out.jsonl", explain=True)
    assert [answer["text"] for answer in answers] == SENTENCES
    for text, answer in zip(SENTENCES, answers):
        if not text.strip():
            assert answer["blank"] and "explanation" not in answer
            continue
        tokens, weights = _weights(bundle, text)
        assert len(answer["explanation"]) == min(5, len(tokens))
        for named in answer["explanation"]:
            assert named["token"] == tokens[named["position"]]
            assert named["weight"] == pytest.approx(weights[named["position"]], rel=1e-3)
        named = {each["position"] for each in answer["explanation"]}
        rest = [weight for place, weight in enumerate(weights) if place not in named]
        assert (
            max(rest, default=0.0) <= min(each["weight"] for each in answer["explanation"]) + 1e-4
        )


def test_a_text_too_long_to_be_explained_is_refused_with_its_line(bundle, tmp_path, monkeypatch):
    monkeypatch.setattr(attend_module, "free_memory", lambda: 10**8)
    (tmp_path / "in.txt").write_text("a film\n\n" + "a film " * 4000 + "\n")
    message = (
        r"in\.txt, line 3: the text has 8,000 tokens, and attention tensors of up to [\d,]+ tokens"
    )
    with pytest.raises(UserError, match=message):
        predict(bundle, tmp_path / "in.txt", tmp_path / "out.jsonl", explain=True)
    predict(bundle, tmp_path / "in.txt", tmp_path / "out.jsonl", explain=True, max_tokens=9)


def test_both_sentences_of_a_pair_are_explained(nli_bundle, tmp_path):
    pairs = write_pairs(tmp_path / "pairs.txt", [("the film is good", "a story")])
    (answer,) = predict_file(nli_bundle, pairs, tmp_path / "out.jsonl", explain=True)
    words = sorted(each["token"] for each in answer["premise_explanation"])
    assert words == ["film", "good", "is", "the"]
    assert {each["token"] for each in answer["hypothesis_explanation"]} == {"a", "story"}
    assert sum(each["weight"] for each in answer["premise_explanation"]) == pytest.approx(
        1, abs=1e-3
    )


def test_a_model_without_source2token_is_refused(tmp_path):
    bundle = make_pair_bundle(tmp_path / NLI, NLI, {"name": "additive", "units": 4})
    with pytest.raises(UserError, match="needs source2token attention, which additive in"):
        predict(bundle, write_pairs(tmp_path / "pairs.txt"), tmp_path / "out", explain=True)
