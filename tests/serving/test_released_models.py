"""Each released model answers what we asked it when it was released, as it did then."""

import pytest

from disan_tf.common.installation import CHECKPOINTS
from disan_tf.serving.presets import read_manifest

pytestmark = pytest.mark.usefixtures("eagerly")  # nine models are not traced

FILM_LINES = [
    ("A warm , funny and moving film .", "very positive"),
    ("One of the best comedies of the decade , brilliant from start to end .", "very positive"),
    ("A total disaster , the worst two hours of my life .", "very negative"),
    ("It is neither good nor bad .", "neutral"),
    ("The plot is thin , but the actors make it worth watching .", "positive"),
    ("Beautifully shot , but cold and far too long .", "negative"),
]

CAPTION_LINES = [
    ("A dog is running across a field\tA dog runs through the grass", 4.3),
    ("A man is playing a guitar\tA man is playing a musical instrument", 4.4),
    ("A woman is slicing an onion\tA boy is riding a bicycle", 1.2),
    ("Two children are playing in the snow\tThere are no children playing in the snow", 3.6),
    ("A cat is sleeping on a sofa\tA cat is lying on a couch", 4.4),
    ("A plane is landing\tA man is washing his car", 1.1),
]

# name -> how many of its answers were right, and lines of ours with the labels that are; a score is
# right that is less than 1 away from ours
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
        6,
        [
            ("Who wrote the play about the merchant ?", "HUM"),
            ("How many legs does a spider have ?", "NUM"),
            ("Where is the highest volcano of Italy ?", "LOC"),
            ("What does CPU stand for ?", "ABBR"),
            ("What is a kettle ?", "DESC"),
            ("When did the first train leave London ?", "NUM"),
        ],
    ),
    "disan_subj": (
        5,
        [
            ("a slow , tender and very funny film that never loses its way .", "subjective"),
            ("her brother is arrested and she has three days to find the letter .", "objective"),
            ("the jokes are old and the ending is worse .", "subjective"),
            ("a young doctor moves to a village where nobody trusts him .", "objective"),
            ("it is hard to care about anyone in this noisy mess .", "subjective"),
            ("two brothers inherit a farm from an uncle they never met .", "objective"),
        ],
    ),
    "disan_sst5": (5, FILM_LINES),
    "dsa_sst5": (4, FILM_LINES),
    "disan_sst2": (
        4,
        [(text, label.split()[-1]) for text, label in FILM_LINES if label != "neutral"],
    ),
    "resan_sick": (5, CAPTION_LINES),
    "disan_sick": (6, CAPTION_LINES),
    "disan_snli": (
        6,
        [
            ("A man plays the guitar on a stage .\tA man makes music .", "entailment"),
            ("A man plays the guitar on a stage .\tA man is asleep .", "contradiction"),
            ("A man plays the guitar on a stage .\tThe man is famous .", "neutral"),
            ("Two girls run along the beach .\tTwo girls are outside .", "entailment"),
            ("Two girls run along the beach .\tThe girls are sisters .", "neutral"),
            ("Two girls run along the beach .\tTwo girls sit in a car .", "contradiction"),
        ],
    ),
}


def test_every_released_model_is_asked():
    assert {*ASKED} == {*read_manifest(CHECKPOINTS / "manifest.tsv")}


@pytest.mark.parametrize("name", ASKED)
def test_a_released_model_answers_as_it_did(name, loaded):
    right, lines = ASKED[name]
    texts = [tuple(text.split("\t")) if "\t" in text else text for text, _ in lines]
    answers = loaded(name).predict(texts)
    assert sum(_is_right(answer, gold) for answer, (_, gold) in zip(answers, lines)) == right


def _is_right(answer, gold):
    return answer["label"] == gold if isinstance(gold, str) else abs(answer["score"] - gold) < 1
