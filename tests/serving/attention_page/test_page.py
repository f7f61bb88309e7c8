"""The attention page as a file: what it holds, and what it says that it leaves out."""

import base64
import hashlib
import json
import re

import numpy as np
import pytest

from disan_tf.serving.attention_page import page
from disan_tf.serving.attention_page.page import as_data, quantise, write_page
from tests.support.errors import user_error
from tests.support.models.attention_files import disan, drcn, write_pair, write_sentence

TOKENS = ["the", "plot", "is", "</script><script>alert(1)</script>"]


def _content(folder):
    text = (folder / "index.html").read_text(encoding="utf-8")
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return text, json.loads(data)


def _values(tensor):
    """<float>[mean and features, ...] of a tensor of the page."""
    stored = np.frombuffer(base64.b64decode(tensor["values"]), np.uint8)
    parts = stored.reshape(len(tensor["high"]), *tensor["shape"])
    scale = np.array(tensor["high"]) / 255
    return parts * scale.reshape(-1, *[1] * len(tensor["shape"]))


@pytest.fixture
def written(tmp_path):
    """The folder, and what was attended to, of two sentences."""
    tensors = [disan(TOKENS), disan(TOKENS[:2])]
    write_sentence(tmp_path, 1, TOKENS, tensors[0], gold_label="negative")
    write_sentence(tmp_path, 2, TOKENS[:2], tensors[1], gold_label="-")  # no class
    write_page(tmp_path, "demo")
    return tmp_path, tensors


def test_means_and_features_are_those_of_the_tensors(written):
    folder, tensors = written
    _, content = _content(folder)
    for line, expected in zip(content["lines"], tensors):
        assert {tensor["name"] for tensor in line["tensors"]} == set(expected)
        for tensor in line["tensors"]:
            whole, found = expected[tensor["name"]], _values(tensor)
            features = content["features"][tensor["name"]]
            assert features == sorted(features) and len(features) == whole.shape[-1]
            wanted = [whole.mean(axis=-1), *np.moveaxis(whole[..., features], -1, 0)]
            np.testing.assert_allclose(found, wanted, atol=0.51 / 255 * whole.max())


def test_a_line_has_its_text_prediction_and_tokens(written):
    _, content = _content(written[0])
    first = content["lines"][0]
    assert (first["number"], first["prediction"]) == (1, "positive")
    assert first["text"] == [" ".join(TOKENS)]
    assert first["fields"] == [{"name": "sentence", "tokens": TOKENS}]
    assert first["probabilities"] == [["positive", 0.75], ["negative", 0.25]]
    assert (first["gold"], content["lines"][1]["gold"]) == ("negative", None)
    assert first["views"] == [{"name": "within the sentence", "tensors": [0, 1]}]


def test_the_policy_names_the_page_s_own_script_and_style_alone(written):
    text, _ = _content(written[0])
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.S)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in text
    assert "default-src 'none'" in text
    assert not re.search(r"\b(?:src|href)=|https?://(?!www\.w3\.org/2000/svg)", text)


def test_nothing_in_the_data_can_end_it():
    text = as_data({"a": "</script><!-- & \u2028\u2029"})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"a": "</script><!-- & \u2028\u2029"}


def test_small_weights_are_not_lost():
    found = quantise(np.array([0.0, 1e-9, 0.25, 0.5]), 0.5)
    assert found.tolist() == [0, 1, 128, 255]
    assert quantise(np.zeros(3), 0.0).tolist() == [0, 0, 0]


def test_features_that_vary_most_are_shown_where_there_is_no_room_for_all(tmp_path, monkeypatch):
    tensors = disan(TOKENS)
    for name in ("forward_attention", "backward_attention"):  # features 1 and 4 alone say much
        tensors[name][..., [0, 2, 3, 5]] = 0.1
    write_sentence(tmp_path, 1, TOKENS, tensors)
    monkeypatch.setattr(page, "MAX_FEATURES", 2)
    write_page(tmp_path, "demo")
    _, content = _content(tmp_path)
    assert content["features"]["forward_attention"] == [1, 4]
    assert content["features"]["forward_gate"] == [1, 4]  # the same, so that both can be compared
    assert "one of the 2 features that vary most" in content["about"]


def test_a_page_stays_below_its_limit_and_says_what_it_leaves_out(tmp_path, monkeypatch):
    for number in range(1, 31):
        tokens = [f"word{place}" for place in range(20)]
        write_sentence(tmp_path, number, tokens, disan(tokens, 20))
    for limit in (400_000, 80_000):
        monkeypatch.setattr(page, "MAX_BYTES", limit)
        write_page(tmp_path, "demo")
        text, content = _content(tmp_path)
        shown = len(content["lines"])
        assert limit / 2 < len(text.encode()) <= limit
        number = "30" if shown == 30 else f"{shown} of 30"
        assert content["about"].startswith(f"{number} lines. ")
        assert ("The other lines do not fit" in content["about"]) == (shown < 30)
    assert shown < 30


def test_each_function_and_layer_of_a_pair_is_a_view_of_both_sentences(tmp_path):
    pair = (["a", "b", "c"], ["d", "e"])
    write_pair(tmp_path, 1, pair, drcn(*pair, layers=2))
    write_page(tmp_path, "drcn")
    _, content = _content(tmp_path)
    (line,) = content["lines"]
    views = {
        view["name"]: [line["tensors"][index] for index in view["tensors"]]
        for view in line["views"]
    }
    assert list(views) == ["bilinear_1", "cosine_1", "bilinear_2", "cosine_2"]
    for tensors in views.values():
        assert [(each["field"], each["kind"], each["shape"]) for each in tensors] == [
            (0, "other", [3, 2]),
            (1, "other", [2, 3]),
        ]


def test_matrices_of_other_encoders_are_of_their_own_sentence(tmp_path):
    write_sentence(tmp_path, 1, TOKENS, {"links": disan(TOKENS)["forward_attention"]})
    write_page(tmp_path, "own")
    (tensor,) = _content(tmp_path)[1]["lines"][0]["tensors"]
    assert (tensor["kind"], tensor["shape"]) == ("own", [4, 4])


def test_scores_have_two_digits(tmp_path):
    pair = (["a"], ["b"])
    scored = {"score": 3.456, "probabilities": {"1": 0.5, "2": 0.5}, "label": "a relation"}
    write_pair(tmp_path, 1, pair, [disan(tokens) for tokens in pair])
    path = tmp_path / "00001.json"
    record = {**json.loads(path.read_text()), **scored}
    record["field_names"]["prediction"] = {"score": "score", "probabilities": "probabilities"}
    path.write_text(json.dumps(record))
    write_page(tmp_path, "sick")
    (line,) = _content(tmp_path)[1]["lines"]
    assert (line["prediction"], line["isScore"]) == ("3.46", True)


def test_a_file_of_an_earlier_version_is_refused(tmp_path):
    (tmp_path / "00001.json").write_text("{}")
    message = user_error(write_page, tmp_path, "demo")
    assert message == f"An earlier version wrote {tmp_path / '00001.json'}; run attend again."


def test_without_lines_there_is_no_page(tmp_path):
    write_page(tmp_path, "demo")
    assert not list(tmp_path.iterdir())
