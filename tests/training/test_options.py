"""Class weights, the score that selects the model, and the steps of checkpoints."""

import numpy as np
import pytest
import tensorflow as tf
from sklearn.metrics import f1_score

from disan_tf.cli.loading import read_config
from disan_tf.common.errors import UserError
from disan_tf.input_pipeline import draw_examples
from disan_tf.models.classification import ClassScores
from disan_tf.runs.schedule import Schedule
from disan_tf.training.config import from_dict
from tests.support.runs.training import (
    corpus_of,
    load_config,
    make_loop,
    tiny_config,
    with_few_operations,
)


class _Corpus:
    """Labels 0, 0, 0, 1, and no example of the third class."""

    classes = ["bad", "good", "rare"]

    def split(self, name):
        assert name == "train"
        return type("Split", (), {"labels": np.array([0, 0, 0, 1])})


def weights(text, examples=0):
    config = tiny_config(examples=examples)
    config.train.class_weights = text
    return from_dict(config).train.weights_of_classes(_Corpus()).tolist()


def test_balanced_weights_give_each_class_that_occurs_the_same_sum():
    assert weights("balanced") == pytest.approx([4 / 9, 4 / 3, 4 / 3])


def test_balanced_weights_count_the_drawn_examples():
    drawn = np.bincount(_Corpus().split("train").labels[draw_examples(4, 3)], minlength=3)
    assert weights("balanced", 3) == pytest.approx((1 / np.maximum(drawn, 1)).tolist())


def test_numbers_have_the_order_of_the_classes():
    assert weights("1,2.5,.5") == [1.0, 2.5, 0.5]
    with pytest.raises(UserError, match="class_weights=1,2 must have 3 numbers, for bad, good, ra"):
        weights("1,2")


def test_weights_act_in_the_training_loss_alone():
    model = ClassScores()
    logits, labels = tf.constant([[0.0, 0.0], [0.0, 0.0]]), tf.constant([0, 1])
    model.batch_loss = lambda *batch: tf.reduce_mean(model.example_losses(*batch))
    assert float(model.training_loss(logits, labels)) == pytest.approx(np.log(2))
    model.class_weights = np.array([1.0, 5.0], np.float32)
    assert float(model.training_loss(logits, labels)) == pytest.approx(3 * np.log(2))
    assert float(model.batch_loss(logits, labels)) == pytest.approx(np.log(2))


def test_a_training_weights_its_classes_and_selects_by_macro_f1(tmp_path):
    config = with_few_operations(tiny_config(steps=4, evaluate_every=2))
    config.train.class_weights, config.train.criterion = "balanced", "macro_f1"
    corpus = corpus_of(config, tmp_path / "data")
    trainer = make_loop(config, corpus, tmp_path / "run")
    counts = np.bincount(corpus.split("train").labels)
    np.testing.assert_allclose(trainer.model.class_weights, counts.mean() / counts, rtol=1e-6)
    scores = trainer.scores.score_dev()
    predictions = trainer.scores.dev_outputs.argmax(axis=1)
    labels = corpus.split("dev").labels
    assert scores["macro_f1"] == pytest.approx(f1_score(labels, predictions, average="macro"))
    trainer.scores.score_dev = lambda: dev.pop(0)
    dev = [
        {"loss": 1.0, "accuracy": 0.9, "macro_f1": 0.5},
        {"loss": 1.0, "accuracy": 0.4, "macro_f1": 0.6},
    ]
    summary = trainer.run()
    assert (summary["criterion"], summary["best_step"]) == ("macro_f1", 4)
    assert summary["best_score"] == pytest.approx(0.6)


@pytest.mark.parametrize(
    "config, values, message",
    [
        ("own_table:tiny", {"class_weights": "balance"}, "class_weights=balance must be balanced"),
        ("own_table:tiny", {"class_weights": "1,0"}, "class_weights=1,0 must be balanced, or numb"),
        ("own_table:tiny", {"class_weights": "1_5,2"}, "class_weights=1_5,2 must be balanced, or "),
        ("own_table:tiny", {"class_weights": "1,1e9"}, "above 0 with commas between them, at most"),
        ("own_table:tiny", {"l2": 1e12}, "train.l2=1000000000000.0 must be at most 1,000,000."),
        ("own_table:tiny", {"learning_rate": 1e12}, "must be at most 1,000,000."),
        ("own_table:tiny", {"criterion": "f1"}, "criterion=f1 must be accuracy or macro_f1"),
        ("own_table:scores,tiny", {"criterion": "macro_f1"}, "macro_f1 must be pearson"),
        ("own_table:scores,tiny", {"class_weights": "balanced"}, "is for classes without hard"),
        ("resan_snli:tiny", {"class_weights": "balanced"}, "is for classes without hard attention"),
    ],
)
def test_wrong_options_are_refused(config, values, message):
    config = load_config(*config.split(":"))
    config.train.update(values)
    with pytest.raises(UserError, match=message):
        read_config(config)


def test_a_checkpoint_is_due_at_its_own_steps_and_at_evaluations():
    schedule = Schedule(9, evaluate_every=4, checkpoint_every=3, log_every=5, patience=0)
    assert [step for step in range(1, 10) if schedule.is_saved(step)] == [3, 4, 6, 8, 9]
    assert [step for step in range(1, 10) if schedule.is_logged(step)] == [3, 4, 5, 6, 8, 9]
