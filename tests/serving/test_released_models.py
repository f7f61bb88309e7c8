"""Each released model answers what we asked it when it was released, as it did then."""

import json

import pytest

from disan_tf import modes
from disan_tf.installation import CHECKPOINTS
from disan_tf.serving.released import read_manifest

# name -> how many of its answers were right, and lines of ours with the labels that are
ASKED = {
    "demo": (
        3,
        [
            ("the plot is superb but the acting is awful .", "negative"),
            ("the film is not dull .", "positive"),
            ("the plot is awful , but the acting is superb .", "positive"),
        ],
    ),
    "disan_trec": (
        10,
        [
            ("Who wrote the play about the merchant ?", "HUM"),
            ("How many legs does a spider have ?", "NUM"),
            ("Where is the highest volcano of Italy ?", "LOC"),
            ("What does CPU stand for ?", "ABBR"),
            ("What is a kettle ?", "DESC"),
            ("When did the first train leave London ?", "NUM"),
            ("Which animal carries its house ?", "ENTY"),
            ("Why do cats purr at night ?", "DESC"),
            ("What city has the most bridges ?", "LOC"),
            ("How far is the moon from the earth ?", "NUM"),
        ],
    ),
    "disan_sst5": (
        7,
        [
            ("A warm , funny and moving film .", "very positive"),
            (
                "One of the best comedies of the decade , brilliant from start to end .",
                "very positive",
            ),
            ("A total disaster , the worst two hours of my life .", "very negative"),
            ("It is neither good nor bad .", "neutral"),
            ("The plot is thin , but the actors make it worth watching .", "positive"),
            ("Beautifully shot , but cold and far too long .", "negative"),
            ("An absolute masterpiece that nobody should miss .", "very positive"),
            ("The film runs for two hours .", "neutral"),
            ("Not bad at all .", "positive"),
            ("I have never been so bored .", "very negative"),
        ],
    ),
}


def test_every_released_model_is_asked():
    assert {*ASKED} == {*read_manifest(CHECKPOINTS / "manifest.tsv")}


@pytest.mark.parametrize("name", ASKED)
def test_a_released_model_answers_as_it_did(name, tmp_path):
    right, lines = ASKED[name]
    (tmp_path / "lines.txt").write_text("".join(f"{text}\n" for text, _ in lines))
    modes.predict(name, str(tmp_path / "lines.txt"), str(tmp_path / "answers.jsonl"))
    answers = map(json.loads, (tmp_path / "answers.jsonl").read_text().splitlines())
    labels = [answer["label"] for answer in answers]
    assert sum(label == gold for label, (_, gold) in zip(labels, lines)) == right
