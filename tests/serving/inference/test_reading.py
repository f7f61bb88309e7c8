"""Long texts are truncated, and a small share of known words gets a warning."""

import csv
import json

import numpy as np
import pytest

from disan_tf.serving.inference.encode import encode
from disan_tf.serving.inference.model import LoadedModel
from disan_tf.serving.inference.predict import predict
from disan_tf.serving.inference.reading import Reading

LONG = "a good film . it is new . a bad plot"  # eleven tokens
FOREIGN = ["\u8fd9\u90e8\u7535\u5f71\u5f88\u597d", "\u0641\u064a\u0644\u0645 \u062c\u064a\u062f"]


@pytest.fixture
def with_vectors(quick_bundle):
    """The bundle as one with pretrained vectors."""
    data = quick_bundle.config.data
    with data.unlocked():
        data.vectors = "glove"
    yield quick_bundle
    with data.unlocked():
        data.vectors = ""


def predictions(bundle, tmp_path, *lines, **options):
    (tmp_path / "in.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    counts = predict(bundle, tmp_path / "in.txt", tmp_path / "out.jsonl", **options)
    rows = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "out.jsonl").unlink()
    return counts, list(map(json.loads, rows))


def test_a_long_text_is_truncated_marked_and_counted(quick_bundle, tmp_path):
    short = " ".join(LONG.split()[:4])
    counts, rows = predictions(quick_bundle, tmp_path, LONG, short, "", max_tokens=4)
    assert [row.get("truncated") for row in rows] == [True, None, None]
    assert rows[0]["probabilities"] == pytest.approx(rows[1]["probabilities"], abs=1e-6)
    message = "1 record truncated to the first 4 tokens of a text; divide long texts into parts."
    assert counts.remarks == (message,)
    counts, rows = predictions(quick_bundle, tmp_path, LONG, short)
    assert counts.remarks == () and not any("truncated" in row for row in rows)


def test_a_table_marks_a_truncated_text(quick_bundle, tmp_path):
    (tmp_path / "in.txt").write_text(f"{LONG}\ngood\n\n")
    predict(quick_bundle, tmp_path / "in.txt", tmp_path / "out.csv", max_tokens=4)
    with open(tmp_path / "out.csv", newline="") as file:
        assert [row["truncated"] for row in csv.DictReader(file)] == ["true", "", ""]


def test_vectors_are_those_of_the_first_tokens(quick_bundle, tmp_path):
    (tmp_path / "in.txt").write_text(f"{LONG}\na good film .\n")
    outcome = encode(quick_bundle, tmp_path / "in.txt", tmp_path / "out.npy", max_tokens=4)
    first, second = np.load(tmp_path / "out.npy")
    np.testing.assert_allclose(first, second, atol=1e-6)
    assert outcome.remarks[0].startswith("1 record truncated")


@pytest.mark.parametrize("is_default", [True, False])
def test_a_loaded_model_truncates_and_warns_once(quick_bundle, is_default, monkeypatch):
    if is_default:
        monkeypatch.setattr("disan_tf.serving.inference.model.LONGEST", 4)
    model = LoadedModel(quick_bundle)
    if not is_default:
        model.max_tokens = 4
    with pytest.warns(UserWarning, match="^1 record truncated to the first 4 tokens") as warned:
        (found,) = model.predict([LONG])
    assert found["truncated"] is True and warned[0].filename == __file__
    expected = model.predict_proba(["a good film ."])
    np.testing.assert_allclose(model.predict_proba([LONG]), expected, atol=1e-6)
    np.testing.assert_allclose(model.encode(LONG), model.encode("a good film ."), atol=1e-6)


@pytest.mark.parametrize("method", ["preprocess", "attend"])
def test_every_method_of_a_loaded_model_reads_the_first_tokens(quick_bundle, method):
    read = {
        "preprocess": lambda model, text: model.preprocess([text])["sentence"].numpy().tolist(),
        "attend": lambda model, text: model.attend(text)["tokens"],
    }[method]
    model = LoadedModel(quick_bundle)
    whole, expected = read(model, LONG), read(model, "a good film .")
    assert whole != expected
    model.max_tokens = 4
    with pytest.warns(UserWarning, match="^1 record truncated to the first 4 tokens") as warned:
        assert read(model, LONG) == expected
    assert warned[0].filename == __file__


@pytest.mark.parametrize("value", [0, -1, 2.5, None, True])
def test_a_limit_that_is_no_positive_whole_number_is_refused(value, quick_bundle):
    model = LoadedModel(quick_bundle)
    with pytest.raises(ValueError, match=f"^max_tokens={value} must be a whole number of at least"):
        model.max_tokens = value
    assert model.max_tokens == 10_000


@pytest.mark.parametrize("lines", [FOREIGN, [FOREIGN[0], "a", *FOREIGN], ["a qqq www", ""]])
def test_few_known_words_are_told_with_their_share(lines, with_vectors, tmp_path):
    counts, _ = predictions(with_vectors, tmp_path, *lines)
    known = sum(line.split().count("a") for line in lines)
    share = known / sum(len(line.split()) for line in lines)
    start = f"only {share:.1%} of the words are in the vocabulary of the model; choose a model"
    assert counts.remarks[0].startswith(start)
    with pytest.warns(UserWarning, match="^only .* of the words"):
        model = LoadedModel(with_vectors)
        model.predict(lines)
    model.predict(lines)  # once


def test_enough_known_words_are_no_remark(with_vectors, quick_bundle, tmp_path):
    assert predictions(with_vectors, tmp_path, "a qqq", "", "")[0].remarks == ()
    found = Reading(quick_bundle)
    found._has_vectors = False
    assert found.remarks() == {}
