"""Pictures of attention and of confusions, as they go to TensorBoard."""

from types import SimpleNamespace

import numpy as np
import pytest

from disan_tf.common import plots
from disan_tf.models.factory import build_model
from disan_tf.training.monitoring.pictures import (
    AttentionPicture,
    AttentionPictures,
    ConfusionPicture,
    choose_examples,
    sides,
)
from tests.support.runs.training import corpus_of, tiny_config, with_few_operations

TOKENS = ["a", "$b$", "<script>"]
BRIGHTEST, GREY = (253, 231, 55), (217, 217, 217)  # of cividis; a cell without a weight
FORWARD = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.2, 0.8, 0.0]], np.float32)


def _tensors(source2token=(0.2, 0.3, 0.5)):
    return {"forward_attention": FORWARD, "source2token": np.array(source2token, np.float32)}


def _has(picture, colour):
    return np.any(np.all(picture == np.asarray(colour, np.uint8), axis=-1))


def test_the_largest_weight_of_a_choice_scales_a_heat_map():
    assert plots.contested(FORWARD) == pytest.approx(0.8)
    assert plots.contested(FORWARD[:2]) == 0.0  # no head has a choice


def test_a_later_evaluation_changes_the_cells_alone():
    picture = AttentionPicture(_tensors(), {"sentence": TOKENS})
    one, same, other = picture(_tensors()), picture(_tensors()), picture(_tensors((0.5, 0.3, 0.2)))
    np.testing.assert_array_equal(one, same)
    changed = np.argwhere(np.any(one != other, axis=-1))
    assert len(changed) and changed[:, 0].min() > len(one) / 2  # the lower half has the strips
    upper, lower = np.split(one, 2)
    assert _has(upper, BRIGHTEST) and _has(upper, GREY)
    choice = picture({**_tensors(), "forward_attention": FORWARD * np.float32([[0], [0], [1]])})
    assert _has(np.split(choice, 2)[0], BRIGHTEST)  # 0.8 is the largest weight
    assert _has(lower, BRIGHTEST)


def test_the_sides_of_a_tensor_are_of_one_sentence_or_of_two():
    tokens = {"premise": ["a", "b"], "hypothesis": ["c"]}
    assert sides("premise_forward_attention", tokens) == (["a", "b"], ["a", "b"])
    assert sides("hypothesis_cosine_1", tokens) == (["c"], ["a", "b"])
    assert sides("forward_attention", {"sentence": TOKENS}) == (TOKENS, TOKENS)


def test_examples_are_short_where_there_are_short_ones():
    lengths = np.array([4, 90, 8, 3, 31, 30, 7, 9, 2, 5])
    chosen = choose_examples(lengths)
    assert len(set(chosen)) == 5 and lengths[chosen].max() <= 30
    np.testing.assert_array_equal(choose_examples(np.array([40, 50])), [0, 1])


def test_the_same_dev_examples_are_drawn_each_time(tmp_path):
    config = with_few_operations(tiny_config())
    corpus = corpus_of(config, tmp_path)
    draw = AttentionPictures(build_model(config, corpus.words, 5), corpus)
    first, second = dict(draw()), dict(draw())
    assert list(first) == [f"attention/{number}" for number in range(1, 6)]
    for name, picture in first.items():
        np.testing.assert_array_equal(picture, second[name])


def test_confusions_are_those_of_the_last_evaluation():
    model = SimpleNamespace(
        predictions=lambda outputs: SimpleNamespace(numpy=lambda: outputs.argmax(axis=-1))
    )
    trainer = SimpleNamespace(
        model=model,
        dev=SimpleNamespace(labels=np.array([0, 0, 1])),
        corpus=SimpleNamespace(classes=["bad", "good"]),
        scores=SimpleNamespace(dev_outputs=np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])),
    )
    draw = ConfusionPicture(trainer)
    ((name, sure),) = draw()
    trainer.scores.dev_outputs = trainer.scores.dev_outputs[::-1]
    ((_, unsure),) = draw()
    assert name == "confusion" and np.any(sure != unsure)
    assert _has(sure, BRIGHTEST)
