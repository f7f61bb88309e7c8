"""The words that `predict --explain` names."""

import json

import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.serving.inference import predict as predict_module
from disan_tf.serving.inference.predict import heaviest, predict
from tests.support.models.bundles import NLI, SENTENCES, make_pair_bundle, write_pairs


def _predict(bundle, path, folder, **options):
    predict(bundle, path, folder / "out.jsonl", **options)
    lines = (folder / "out.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _texts(folder):
    path = folder / "in.txt"
    path.write_text("".join(text + "\n" for text in SENTENCES), encoding="utf-8")
    return path


def _weights(bundle, text):
    """Tokens and their mean source2token weights, of one sentence alone."""
    lookup = bundle.text_to_ids()
    (tokens,) = [[token.decode() for token in row] for row in lookup.tokens([text]).to_list()]
    return tokens, bundle.model.attend(lookup([text]))["source2token"][0].numpy().mean(axis=-1)


def test_the_heaviest_five_come_first_and_name_their_places():
    weights = np.array([0.1, 0.3, 0.05, 0.2, 0.3, 0.05, 9.0])
    found = heaviest(["a", "b", "c", "d", "e", "f"], weights)
    assert [(each["token"], each["position"]) for each in found] == [
        ("b", 1),
        ("e", 4),
        ("d", 3),
        ("a", 0),
        ("c", 2),
    ]
    assert [each["weight"] for each in found] == [0.3, 0.3, 0.2, 0.1, 0.05]


def test_each_line_has_the_weights_of_its_sentence_alone(bundle, tmp_path, monkeypatch):
    monkeypatch.setattr(predict_module, "MAX_PAIRS", 30)  # several batches
    answers = _predict(bundle, _texts(tmp_path), tmp_path, explain=True)
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


def test_both_sentences_of_a_pair_are_explained(nli_bundle, tmp_path):
    pairs = write_pairs(tmp_path / "pairs.txt", [("the film is good", "a story")])
    (answer,) = _predict(nli_bundle, pairs, tmp_path, explain=True)
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


def test_a_submission_has_no_place_for_it(bundle, tmp_path):
    with pytest.raises(UserError, match="leave --output_format=kaggle out"):
        predict(bundle, "-", tmp_path / "out", None, "kaggle", explain=True)
